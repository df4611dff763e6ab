// Choice: the only source of randomness. Everything that varies asks below(n), so that a run can be
// driven by a seed, by a fuzzer's bytes or through all answers, and reproduces exactly.
#pragma once

#include <cstdint>

namespace interlock {

class Choice {
 public:
  virtual ~Choice() = default;

  // Returns a number in [0, n). Requires: n > 0.
  virtual uint64_t below(uint64_t n) = 0;

  // True in `numerator` of `denominator` cases.
  bool chance(uint64_t numerator, uint64_t denominator) { return below(denominator) < numerator; }
};

// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): the stream of a seed is the same everywhere.
class SeededChoice final : public Choice {
 public:
  explicit SeededChoice(uint64_t seed) : state_(seed) {}
  uint64_t below(uint64_t n) override;

 private:
  uint64_t state_;
};

}  // namespace interlock
