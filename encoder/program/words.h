// Tables of words, which text is printed from and read with: a word for each enumerator, from the
// first one on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

#include "encoder/program/check.h"

namespace interlock {

// As ==, for words that every line is compared with: the compiler knows how long the literal is and
// calls nothing.
template <size_t kSize>
bool is_literally(std::string_view word, const char (&literal)[kSize]) {
  return word.size() == kSize - 1 && std::memcmp(word.data(), literal, kSize - 1) == 0;
}

// By Placement; kUnplaced has none.
inline constexpr std::string_view kPlacementWords[] = {"at", "view", "donates"};

// By InitialKind; kNone has none.
inline constexpr std::string_view kInitialWords[] = {"",     "random", "zeros",
                                                     "ones", "iota",   "values"};

inline constexpr std::string_view kDTypeWords[] = {"f32", "i32", "u8"};

// By AccessMode.
inline constexpr std::string_view kClauseWords[] = {"indirect", "uniform", "reads",
                                                    "writes",   "updates", "atomics"};

inline constexpr std::string_view kAtomicOpWords[] = {"none", "add", "min", "max",
                                                      "and",  "or",  "xor"};

inline constexpr std::string_view kLifetimeWords[] = {"free",  "destroy", "pin",
                                                      "unpin", "reset",   "adopt"};

inline constexpr std::string_view kFindingWords[] = {
    "RAW",   "WAR",        "WAW",        "reordered", "clobber",  "uninitialized", "use-after-free",
    "alias", "undeclared", "divergence", "gradient",  "deadlock", "redundant"};

// Of the clause of edges, and of one of its parts.
inline constexpr std::string_view kEdgesWord = "after";
inline constexpr std::string_view kAtomicKey = "atomic";
inline constexpr std::string_view kProgrammaticWord = "programmatic";

// After the kernel: the stage of an opaque dispatch.
inline constexpr std::string_view kStageWord = "in";

// By TransitionKind; kNone has none.
inline constexpr std::string_view kTransitionWords[] = {"", "transitions", "discards"};

// By QueueKind.
inline constexpr std::string_view kQueueWords[] = {"concurrent", "serial", "serial blocking",
                                                   "legacy-default", "graph"};

// By SyncKind.
inline constexpr std::string_view kSyncWords[] = {
    "signal",     "wait",         "set",       "await",        "split",           "submit",
    "host waits", "host signals", "host idle", "host flushes", "host invalidates"};

// The word of this enumerator. Requires: the table has one.
template <size_t kCount, typename Enumerator>
std::string_view word_in(const std::string_view (&words)[kCount], Enumerator enumerator) {
  const auto index = static_cast<size_t>(enumerator);
  INTERLOCK_CHECK(index < kCount);
  return words[index];
}

// The enumerator, or the position, that has this word; none if it is not there.
template <typename Enumerator = size_t, size_t kCount>
std::optional<Enumerator> position_in(const std::string_view (&words)[kCount],
                                      std::string_view word) {
  const auto* const found = std::ranges::find(words, word);
  if (found == std::end(words)) return std::nullopt;
  return static_cast<Enumerator>(found - std::begin(words));
}

template <size_t kCount>
bool is_one_of(const std::string_view (&words)[kCount], std::string_view word) {
  return position_in(words, word).has_value();
}

}  // namespace interlock
