#include "encoder/replay/pytorch_replay.h"

#include <map>
#include <string>
#include <utility>
#include <variant>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/replay/first_accumulations.h"

namespace interlock {
namespace {

enum class FirstGradient : uint8_t { kAdopted, kCopied };

ItemDraft first_gradient(const DispatchDraft& dispatch, FirstGradient first) {
  const std::string& gradient = dispatch.operands[0].name;
  const std::string& sum = dispatch.operands[1].name;
  if (first == FirstGradient::kAdopted) {
    return LifetimeDraft{dispatch.label, LifetimeKind::kAdopt, sum, gradient};
  }
  return DispatchDraft{.label = dispatch.label,
                       .kernel = "copy",
                       .operands = {{AccessMode::kRead, gradient}, {AccessMode::kWrite, sum}}};
}

Result<Program> replayed(const Program& program, FirstGradient first) {
  ProgramDraft draft = draft_of(program);
  std::map<std::string, TensorDraft*> tensors;
  for (ItemDraft& item : draft.items) {
    if (auto* const tensor = std::get_if<TensorDraft>(&item)) tensors.emplace(tensor->name, tensor);
  }
  for (const size_t position : first_accumulations(draft)) {
    ItemDraft& item = draft.items[position];
    const DispatchDraft dispatch = std::get<DispatchDraft>(item);
    tensors.at(dispatch.operands[1].name)->initial = {};
    item = first_gradient(dispatch, first);
  }
  return build(without_evidence(std::move(draft)));
}

}  // namespace

Result<Program> replay_pytorch_181723(const Program& program) {
  return replayed(program, FirstGradient::kAdopted);
}

Result<Program> replay_pytorch(const Program& program) {
  return replayed(program, FirstGradient::kCopied);
}

}  // namespace interlock
