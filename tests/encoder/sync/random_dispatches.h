// Small random lists of dispatches, made so that ranges often meet at single bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/encoder/sync/obvious_checks.h"

namespace interlock {

// splitmix64 (Steele, Lea and Flood, 2014): the same numbers everywhere.
class TestRandom {
 public:
  explicit TestRandom(uint64_t seed) : state_(seed) {}

  // A number in [0, n). Requires: n > 0.
  uint64_t below(uint64_t n) { return next() % n; }

 private:
  uint64_t next();

  uint64_t state_;
};

struct RandomDispatchesOptions {
  int max_dispatches = 8;
  int max_accesses = 4;
  int memories = 2;
  uint64_t memory_bytes = 12;
  bool has_atomics = true;
};

std::vector<TestDispatch> random_dispatches(TestRandom& random,
                                            const RandomDispatchesOptions& options = {});

}  // namespace interlock
