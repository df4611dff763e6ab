#include "simulator/schedules/choice.h"

#include "encoder/program/check.h"
#include "encoder/program/hash.h"

namespace interlock {

uint64_t SeededChoice::below(uint64_t n) {
  INTERLOCK_CHECK(n > 0);
  state_ += kGolden64;
  const uint64_t drawn = scrambled(state_);
  // Most choices are among a power of two, and a division is most of what a choice costs.
  if ((n & (n - 1)) == 0) return drawn & (n - 1);
  // The remainder favours small answers by at most n / 2^64, which no test can notice.
  return drawn % n;
}

}  // namespace interlock
