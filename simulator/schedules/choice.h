// Choice: the only source of randomness. Everything that varies asks below(n), so that a run can be
// driven by a seed, by a fuzzer's bytes or by a saved list, and reproduces exactly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

// Draws from bytes, for fuzzers; zero once they are spent.
class ByteChoice final : public Choice {
 public:
  explicit ByteChoice(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint64_t below(uint64_t n) override;

 private:
  std::span<const uint8_t> bytes_;
};

// Enumerates every sequence of answers, depth first: run the body, then advance() until it says
// false. The body must ask the same questions after the same answers.
class ExhaustiveChoice final : public Choice {
 public:
  uint64_t below(uint64_t n) override;

  // Moves on to the next sequence; false when all have been tried.
  bool advance();

 private:
  struct Answer {
    uint64_t value;
    uint64_t bound;
  };
  std::vector<Answer> answers_;
  size_t next_ = 0;
};

}  // namespace interlock
