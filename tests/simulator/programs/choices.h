// A source of answers for tests: all sequences of answers in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/check.h"
#include "simulator/schedules/choice.h"

namespace interlock {

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
