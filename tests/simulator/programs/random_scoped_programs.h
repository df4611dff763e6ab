// Small programs with scoped barriers: for the cache machine, which executes them in every way.
// Every program is a function of the answers of a Choice.
#pragma once

#include <cstdint>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "simulator/schedules/choice.h"

namespace interlock {

struct RandomScopedProgramOptions {
  uint64_t dispatch_count_min = 2;
  uint64_t dispatch_count_max = 4;
  uint64_t operand_count_max = 3;  // Per dispatch.
  uint64_t memory_bytes = 4;       // Of the one memory, m.
  uint64_t command_count_max = 3;  // Barriers in all.
  uint64_t dependency_count_max = 2;
  bool may_have_output = false;  // Then three of four programs name one output, of a byte or two.
};

// Opaque dispatches that read, read by uniform, write, update and do atomics of two operations;
// copies and fills; several barriers in one slot: full, execution, and scoped with several
// dependencies, narrow or nearly everything, with and without accesses and operands, over all
// stages; repeated barriers; partial writes. Each program draws which of these it may have.
Program random_scoped_program(Choice& choice, const RandomScopedProgramOptions& options = {});

// Chains of barriers that pass what a write made available on over stages in which little executes,
// most of them for some bytes only: so that a pair of dispatches often is ordered, and visible on a
// part of what the two share, and a barrier in the middle of a chain names the stage of neither.
// `command_count_max` and `dependency_count_max` do not count here.
Program random_relay_program(Choice& choice, const RandomScopedProgramOptions& options = {});

// On one byte, with an ExhaustiveChoice all of them: `dispatch_count` dispatches that read, read by
// uniform, write, update, copy from or fill it, and after each but the last `command_count`
// barriers at most: full, execution, or up to `dependency_count` of the dependencies between
// compute or copy and compute or copy, with or without accesses.
struct TinyScopedProgramOptions {
  uint64_t dispatch_count = 3;
  uint64_t command_count = 1;     // Per slot.
  uint64_t dependency_count = 1;  // Per scoped barrier; 1 or 2.
};

Program tiny_scoped_program(Choice& choice, const TinyScopedProgramOptions& options);

}  // namespace interlock
