// The kinds of findings, as `expect` lines and reports name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace interlock {

enum class FindingKind : uint8_t {
  kReadAfterWrite,   // "RAW"
  kWriteAfterRead,   // "WAR"
  kWriteAfterWrite,  // "WAW"
  kReordered,        // "reordered": a read sees another writer than program order gives it.
  kClobber,          // "clobber": a read finds another logical value on its bytes.
  kUninitialized,    // "uninitialized": a read finds bytes that nobody wrote.
  kUseAfterFree,     // "use-after-free": a read finds bytes of a freed or reset value.
  kAlias,            // "alias": operands share bytes against the kernel's alias contract.
  kUndeclared,       // "undeclared": a dispatch touches bytes that it does not declare.
  kDivergence,       // "divergence": an execution differs from the reference.
  kGradient,         // "gradient": a backward pass counts a path other than once.
  kDeadlock,         // "deadlock": a cycle of waits.
  kRedundant,        // "redundant": a sync command whose removal adds no hazard.
};

// The word of the text format and of reports.
std::string_view word_of(FindingKind kind);
std::optional<FindingKind> finding_kind_of(std::string_view word);

// Executions find the others; a check executes nothing, so it can never meet an expectation of
// them.
inline bool is_checkable(FindingKind kind) { return kind != FindingKind::kDivergence; }

// Advice: true of a program without being wrong in it.
inline bool is_advice(FindingKind kind) { return kind == FindingKind::kRedundant; }

inline bool is_hazard(FindingKind kind) { return kind <= FindingKind::kWriteAfterWrite; }

}  // namespace interlock
