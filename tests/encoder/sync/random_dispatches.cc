#include "tests/encoder/sync/random_dispatches.h"

#include <algorithm>

#include "encoder/program/hash.h"

namespace interlock {

uint64_t TestRandom::next() {
  state_ += kGolden64;
  return scrambled(state_);
}

std::vector<TestDispatch> random_dispatches(TestRandom& random,
                                            const RandomDispatchesOptions& options) {
  std::vector<TestDispatch> dispatches(1 + random.below(options.max_dispatches));
  for (TestDispatch& dispatch : dispatches) {
    const uint64_t access_count = random.below(options.max_accesses + 1);
    for (uint64_t i = 0; i < access_count; ++i) {
      Access access;
      access.memory = MemoryId(random.below(options.memories));
      const uint64_t a = random.below(options.memory_bytes + 1);
      const uint64_t b = random.below(options.memory_bytes + 1);
      access.range = {std::min(a, b), std::max(a, b)};
      // Half of them reads: otherwise nearly every pair conflicts.
      const uint64_t mode = random.below(options.has_atomics ? 8 : 7);
      access.mode = mode < 4   ? AccessMode::kRead
                    : mode < 6 ? AccessMode::kWrite
                    : mode < 7 ? AccessMode::kUpdate
                               : AccessMode::kAtomic;
      if (access.is_atomic() && dispatch.atomic_op == AtomicOp::kNone) {
        dispatch.atomic_op = random.below(2) == 0 ? AtomicOp::kAdd : AtomicOp::kMax;
      }
      dispatch.accesses.push_back(access);
    }
    // Text has reads first, then writes, updates and atomics.
    std::stable_sort(dispatch.accesses.begin(), dispatch.accesses.end(),
                     [](const Access& a, const Access& b) { return a.mode < b.mode; });
  }
  return dispatches;
}

}  // namespace interlock
