// Sources of answers for tests: all sequences of answers in turn, or a share of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/check.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

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

// All sequences of answers in turn where tests try all; else `share` of them at random, the same in
// each run. What one in n programs would show is then missed in e^(-share / n) of all seeds.
class ShareOfChoices final : public Choice {
 public:
  explicit ShareOfChoices(int share, uint64_t seed = 1) : share_(share), some_(seed) {}

  // Moves on to the next sequence; false when all, or the share, have been tried.
  bool advance() { return is_of_all_ ? all_.advance() : ++tried_ < share_; }

 private:
  uint64_t answer(uint64_t n) override { return is_of_all_ ? all_.below(n) : some_.below(n); }

  bool is_of_all_ = tries_all();
  int share_;
  int tried_ = 0;
  ExhaustiveChoice all_;
  SeededChoice some_;
};

}  // namespace interlock
