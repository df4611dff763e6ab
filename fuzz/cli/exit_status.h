// What the process returns; part of the command line's contract.
#pragma once

namespace interlock {

enum class ExitStatus : int {
  kNothingFound = 0,
  kFinding = 1,
  kBadInput = 2,     // Bad usage or bad input.
  kNoVerdict = 2,    // A limit ended the work before it could tell.
  kUnavailable = 3,  // Asked for a backend that is not there, or no longer.
  kInterrupted = 130,
};

// The worse of two: bad input outranks a finding, so that a script cannot mistake one for the
// other.
constexpr ExitStatus worse(ExitStatus a, ExitStatus b) {
  return static_cast<int>(a) > static_cast<int>(b) ? a : b;
}

}  // namespace interlock
