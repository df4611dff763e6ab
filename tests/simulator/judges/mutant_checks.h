// Checks with one planted fault each. The second method - strict runs where barriers are global,
// all executions where they are scoped - has to contradict every one of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "encoder/program/program.h"

namespace interlock {

enum class MutantCheckKind : uint8_t {
  kUnsafe,  // Misses hazards, and invents none.
  kExcess,  // Invents hazards, and misses none.
};

struct MutantCheck {
  std::string_view name;
  std::string_view fault;  // One line: what was planted.
  MutantCheckKind kind;
  bool is_scoped;  // Shows in programs with scoped barriers; else in those with global ones.
  // Whether the faulty check finds a hazard.
  bool (*finds_hazard)(const Program& program);
};

std::span<const MutantCheck> mutant_checks();

}  // namespace interlock
