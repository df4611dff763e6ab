// Barrier: its dependencies, and what these do to their operands.
#pragma once

#include <cstdint>
#include <string_view>

#include "encoder/program/ids.h"
#include "encoder/program/scope.h"
#include "encoder/program/sync_step.h"

namespace interlock {

// What a dependency does to its operands, between its scopes (Vulkan 1.3, 7.1.1 and 7.7.4: layout
// transitions, transfers of ownership).
enum class TransitionKind : uint8_t {
  kNone,
  kKeeps,     // `transitions x`: reads and writes them, and keeps their value.
  kDiscards,  // `discards x`: writes them, and their value is lost.
};

// "transitions", "discards". Requires: not kNone.
std::string_view word_of(TransitionKind kind);

// One part of a scoped barrier: all earlier work in the stages of `source` executes before all
// later work in the stages of `destination`; the accesses say what becomes available and visible,
// in the bytes of the operands if there are any. The dependencies of one barrier do not chain.
struct Dependency {
  Scope source;
  Scope destination;
  uint32_t first_operand = 0;  // Into Program::barrier_operands.
  uint32_t operand_count = 0;  // None: all memory.
  TransitionKind transition = TransitionKind::kNone;
};

struct Barrier {
  StatementId statement;
  BarrierKind kind = BarrierKind::kFull;
  uint32_t first_dependency = 0;  // Of kScoped, into Program::dependencies.
  uint32_t dependency_count = 0;
};

}  // namespace interlock
