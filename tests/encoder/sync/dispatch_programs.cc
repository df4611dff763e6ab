#include "tests/encoder/sync/dispatch_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"

namespace interlock {

Program program_of(const std::vector<TestDispatch>& dispatches, uint64_t memory_bytes) {
  uint32_t memory_count = 1;
  ProgramDraft draft;
  for (const TestDispatch& dispatch : dispatches) {
    for (const Access& access : dispatch.accesses) {
      memory_count = std::max(memory_count, access.memory.index + 1);
    }
  }
  for (uint32_t m = 0; m < memory_count; ++m) {
    draft.items.push_back(MemoryDraft{fmt::format("m{}", m), memory_bytes, false});
  }
  for (const TestDispatch& dispatch : dispatches) {
    DispatchDraft item;
    item.kernel = "D";
    for (const Access& access : dispatch.accesses) {
      item.operands.push_back({access.mode, fmt::format("m{}", access.memory.index), access.range});
    }
    if (dispatch.atomic_op != AtomicOp::kNone) {
      item.attributes.emplace_back("atomic", std::string(word_of(dispatch.atomic_op)));
    }
    draft.items.push_back(std::move(item));
  }
  Result<Program> program = build(draft);
  INTERLOCK_CHECK(program.has_value());
  return *std::move(program);
}

}  // namespace interlock
