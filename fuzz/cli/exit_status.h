// What the process returns; part of the command line's contract.
#pragma once

namespace interlock {

enum class ExitStatus : int {
  kNothingFound = 0,
  kFinding = 1,
  kBadInput = 2,     // Bad usage or bad input.
  kUnavailable = 3,  // Asked for a backend that is not there, or no longer.
  kInterrupted = 130,
};

}  // namespace interlock
