// Choice: the only source of randomness. Everything that varies asks below(n), so that a run can be
// driven by a seed, by a fuzzer's bytes or through all answers, and reproduces exactly.
#pragma once

#include <cstdint>

#include "encoder/program/check.h"
#include "encoder/program/hash.h"

namespace interlock {

// Programs ask hundreds of times: what a seed answers is worked out where it is asked, and any
// other source is one call away.
class Choice {
 public:
  Choice() = default;
  virtual ~Choice() = default;

  // Returns a number in [0, n). Requires: n > 0.
  uint64_t below(uint64_t n) { return is_seeded_ ? next_below(n) : answer(n); }

  // True in `numerator` of `denominator` cases.
  bool chance(uint64_t numerator, uint64_t denominator) { return below(denominator) < numerator; }

 protected:
  explicit Choice(uint64_t seed) : is_seeded_(true), state_(seed) {}

  // splitmix64 (Steele, Lea, Flood, OOPSLA 2014): the stream of a seed is the same everywhere.
  uint64_t next_below(uint64_t n) {
    INTERLOCK_CHECK(n > 0);
    state_ += kGolden64;
    const uint64_t drawn = scrambled(state_);
    // Most choices are among a power of two, and a division is most of what a choice costs.
    if ((n & (n - 1)) == 0) return drawn & (n - 1);
    // The remainder favours small answers by at most n / 2^64, which no test can notice.
    return drawn % n;
  }

 private:
  // As below().
  virtual uint64_t answer(uint64_t n) = 0;

  bool is_seeded_ = false;
  uint64_t state_ = 0;
};

// The stream of a seed.
class SeededChoice final : public Choice {
 public:
  explicit SeededChoice(uint64_t seed) : Choice(seed) {}

 private:
  uint64_t answer(uint64_t n) override { return next_below(n); }
};

}  // namespace interlock
