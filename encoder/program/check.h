// INTERLOCK_CHECK: asserts an invariant of Interlock's own code, in every build.
#pragma once

namespace interlock {

// Prints the failed condition with its place and aborts.
[[noreturn]] void fail_check(const char* condition, const char* file, int line);

}  // namespace interlock

// Stays on in release builds: a wrong verdict is worse than a crash.
#define INTERLOCK_CHECK(condition)                             \
  do {                                                         \
    if (!(condition)) {                                        \
      ::interlock::fail_check(#condition, __FILE__, __LINE__); \
    }                                                          \
  } while (false)
