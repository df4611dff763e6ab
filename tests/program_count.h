// How much a property test does in this build.
#pragma once

#include <algorithm>

namespace interlock {

// True under a sanitizer and in a debug build: they take about ten times as long for each program,
// and are there for what the tests touch, not for what they count.
inline constexpr bool is_slow_build() {
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
  return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
  return false;
#endif
}

// How many programs a property test tries: all of `count`, which stated odds are about, in an
// optimized build; in a slow one a fortieth, or another share where a program takes long.
inline constexpr int program_count(int count, int slow_divisor = 40) {
  return is_slow_build() ? std::max(count / slow_divisor, 1) : count;
}

}  // namespace interlock
