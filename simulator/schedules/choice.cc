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

}  // namespace interlock
