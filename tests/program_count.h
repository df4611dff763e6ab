// How much a property test does in this build.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace interlock {

// True under a sanitizer and in a debug build: they take about ten times as long for each program,
// and are there for what the tests touch, not for what they count. The build says it, since tests
// themselves are not optimized.
inline constexpr bool is_slow_build() {
#if defined(INTERLOCK_OPTIMIZED)
  return false;
#else
  return true;
#endif
}

// How many programs a property test tries: all of `count`, which stated odds are about, in an
// optimized build; in a slow one a fortieth, or another share where a program takes long.
inline constexpr int program_count(int count, int slow_divisor = 40) {
  return is_slow_build() ? std::max(count / slow_divisor, 1) : count;
}

// Whether a test tries all programs that it is about, however long that takes: under `./dev prove`,
// which sets INTERLOCK_TEST_ALL.
inline bool tries_all() {
  const char* all = std::getenv("INTERLOCK_TEST_ALL");
  return all != nullptr && *all != '\0';
}

// How many programs a test tries that a published count speaks of: all `full` of them under
// `./dev prove`; else a share, and in a slow build a part of that.
inline int proof_count(int full, int share, int slow_divisor = 40) {
  return tries_all() ? full : program_count(share, slow_divisor);
}

// The same where the share is one in `divisor` of them, and what a slow build tries is told apart
// from it: one in `slow_divisor`. What a test is to have seen at least is counted likewise.
inline int share_count(int full, int divisor, int slow_divisor = 40) {
  return tries_all() ? full : std::max(full / (is_slow_build() ? slow_divisor : divisor), 1);
}

// Says what a test has shown of how many programs, in a line that `./dev prove` keeps. Called after
// the last of them, and only if none failed.
inline void print_proof(int programs, std::string_view claim) {
  fmt::print("proved on {} programs: {}\n", programs, claim);
  std::fflush(stdout);
}

}  // namespace interlock
