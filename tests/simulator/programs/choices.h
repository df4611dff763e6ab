// Sources of answers for tests: a fuzzer's bytes, and all sequences of answers in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/check.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Draws from bytes, for fuzzers; zero once they are spent.
class ByteChoice final : public Choice {
 public:
  explicit ByteChoice(std::span<const uint8_t> bytes) : bytes_(bytes) {}

 private:
  uint64_t answer(uint64_t n) override;

  std::span<const uint8_t> bytes_;
};

// Enumerates every sequence of answers, depth first: run the body, then advance() until it says
// false. The body must ask the same questions after the same answers.
class ExhaustiveChoice final : public Choice {
 public:
  // Moves on to the next sequence; false when all have been tried.
  bool advance();

 private:
  uint64_t answer(uint64_t n) override;

  struct Answer {
    uint64_t value;
    uint64_t bound;
  };
  std::vector<Answer> answers_;
  size_t next_ = 0;
};

// Takes as few bytes as `n` needs, so that a fuzzer's one-byte mutation changes one answer.
inline uint64_t ByteChoice::answer(uint64_t n) {
  INTERLOCK_CHECK(n > 0);
  uint64_t value = 0;
  int shift_bits = 0;
  for (uint64_t largest = n - 1; largest > 0 && !bytes_.empty(); largest >>= 8) {
    value |= static_cast<uint64_t>(bytes_.front()) << shift_bits;
    shift_bits += 8;
    bytes_ = bytes_.subspan(1);
  }
  return value % n;
}

inline uint64_t ExhaustiveChoice::answer(uint64_t n) {
  INTERLOCK_CHECK(n > 0);
  if (next_ == answers_.size()) answers_.push_back({0, n});
  const Answer& answer = answers_[next_++];
  INTERLOCK_CHECK(answer.bound == n);
  return answer.value;
}

inline bool ExhaustiveChoice::advance() {
  INTERLOCK_CHECK(next_ == answers_.size());
  next_ = 0;
  while (!answers_.empty() && answers_.back().value + 1 == answers_.back().bound) {
    answers_.pop_back();
  }
  if (answers_.empty()) return false;
  ++answers_.back().value;
  return true;
}

}  // namespace interlock
