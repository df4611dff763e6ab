// The idea: a source of answers is a stream of numbers reduced to [0, n). What differs is only
// where the stream comes from.
#include "simulator/schedules/choice.h"

#include "encoder/program/check.h"
#include "encoder/program/hash.h"

namespace interlock {

uint64_t SeededChoice::below(uint64_t n) {
  INTERLOCK_CHECK(n > 0);
  state_ += kGolden64;
  // The remainder favours small answers by at most n / 2^64, which no test can notice.
  return scrambled(state_) % n;
}

// Takes as few bytes as `n` needs, so that a fuzzer's one-byte mutation changes one answer.
uint64_t ByteChoice::below(uint64_t n) {
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

uint64_t ExhaustiveChoice::below(uint64_t n) {
  INTERLOCK_CHECK(n > 0);
  if (next_ == answers_.size()) answers_.push_back({0, n});
  const Answer& answer = answers_[next_++];
  INTERLOCK_CHECK(answer.bound == n);
  return answer.value;
}

bool ExhaustiveChoice::advance() {
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
