// The basic idea is a random linear extension: what must keep its order are the conflicts on
// ordinary bytes, and on scratch bytes, which were placed after reordering, only a reader after
// those who wrote what it sees. Atomics of one operation do not conflict.
#include "fuzz/generate/program_order.h"

#include <cstdint>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "simulator/hazards/hazards.h"

namespace interlock {
namespace {

// An atomic sees what it adds to; on ordinary bytes that shows in those who read them.
bool sees_old_bytes(const Dispatch& dispatch, const Access& access) {
  return access.reads_plainly() || access.is_atomic() ||
         (dispatch.is_partial && access.writes_plainly());
}

// `second` is issued after `first`; true iff it must also be after it in program order.
bool depends(const Program& program, const Dispatch& second, const Dispatch& first) {
  for (const Access& a : program.accesses_of(first)) {
    for (const Access& b : program.accesses_of(second)) {
      if (a.memory != b.memory || !share_a_byte(a.range, b.range)) continue;
      if (!conflict_kinds(a, first.atomic_op, b, second.atomic_op).any()) continue;
      const bool is_scratch = program.memory(a.memory).is_scratch;
      if (!is_scratch || (!a.only_reads() && sees_old_bytes(second, b))) return true;
    }
  }
  return false;
}

}  // namespace

void give_program_order(ProgramDraft& draft, Choice& choice) {
  const auto program = build(draft);
  INTERLOCK_CHECK(program.has_value());
  const std::vector<Dispatch>& dispatches = program->dispatches;
  const bool ignores_some = choice.below(5) == 4;
  std::vector<std::vector<size_t>> followers(dispatches.size());
  std::vector<uint32_t> waits_for(dispatches.size(), 0);
  for (size_t second = 0; second < dispatches.size(); ++second) {
    for (size_t first = 0; first < second; ++first) {
      if (!depends(*program, dispatches[second], dispatches[first])) continue;
      if (ignores_some && choice.below(4) == 3) continue;
      followers[first].push_back(second);
      ++waits_for[second];
    }
  }
  std::vector<size_t> ready;
  for (size_t d = 0; d < dispatches.size(); ++d) {
    if (waits_for[d] == 0) ready.push_back(d);
  }
  std::vector<uint64_t> order(dispatches.size());
  uint64_t next_order = 0;
  while (!ready.empty()) {
    const size_t drawn = choice.below(ready.size());
    const size_t dispatch = ready[drawn];
    ready[drawn] = ready.back();
    ready.pop_back();
    order[dispatch] = next_order++;
    for (const size_t follower : followers[dispatch]) {
      if (--waits_for[follower] == 0) ready.push_back(follower);
    }
  }
  size_t position = 0;
  for (ItemDraft& item : draft.items) {
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) dispatch->order = order[position++];
  }
}

}  // namespace interlock
