// How much a property test does in this build.
#pragma once

namespace interlock {

// How many programs a property test tries: all of `count` in an optimized build, a tenth of them
// under a sanitizer or in a debug build, which take about ten times as long for each.
inline constexpr bool is_slow_build() {
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
  return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
  return false;
#endif
}
inline constexpr int program_count(int count) { return is_slow_build() ? count / 10 : count; }

}  // namespace interlock
