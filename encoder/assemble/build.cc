#include "encoder/assemble/build.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "encoder/backward/backward.h"
#include "encoder/build/program_builder.h"
#include "encoder/program/registry.h"

namespace interlock {
namespace {

std::optional<std::string> backward_name_error(std::string_view mode) {
  if (find_backward(mode) != nullptr) return std::nullopt;
  return fmt::format("there is {} `interlock list backwards` names them.",
                     no_entry_text(backward_registry(), "backward pass", mode));
}

constexpr BackwardSource kBackwards = {&backward_name_error, &write_backward};

}  // namespace

ProgramBuilder new_builder(const Limits& limits) { return ProgramBuilder(limits, &kBackwards); }

Result<Program> build(const ProgramDraft& draft, const Limits& limits) {
  ProgramBuilder builder = new_builder(limits);
  builder.reserve_for(counts_of(draft));
  for (const ItemDraft& item : draft.items) {
    if (auto added = builder.add(item); !added) {
      return added.error();
    }
  }
  return builder.finish();
}

}  // namespace interlock
