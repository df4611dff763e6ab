// Small programs of opaque dispatches on raw byte ranges: what the property tests of the simulator
// are about. Every knob is an option; every program is a function of the answers of a Choice.
#pragma once

#include <cstdint>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock {

struct RandomProgramOptions {
  uint64_t dispatch_count_min = 1;
  uint64_t dispatch_count_max = 6;
  uint64_t operand_count_max = 3;  // Per dispatch; there may be none.
  uint64_t memory_count = 2;       // Named m0, m1, ...
  uint64_t memory_bytes = 6;       // Each. The smaller, the more conflicts.
  uint64_t range_bytes_max = 3;
  uint64_t barrier_percent = 35;  // Chance of a barrier between two dispatches.
  // What a program may have; each program draws which of them it does have.
  bool has_execution_barriers = true;  // Else every barrier is full.
  bool has_updates = true;
  bool has_atomics = true;
  bool has_partial_writes = true;
  bool has_outputs = true;  // Up to two tensors out0, out1. Without outputs every byte is live.
};

ProgramDraft random_draft(Choice& choice, const RandomProgramOptions& options = {});
Program random_program(Choice& choice, const RandomProgramOptions& options = {});

// A program of `dispatch_count` dispatches that each do one of `mode_count` things to each byte of
// one memory: nothing, read, write, update, atomic=add (in this order), with no barrier, an
// execution barrier or a full one between two dispatches. With an ExhaustiveChoice: all of them.
struct TinyProgramOptions {
  uint64_t dispatch_count = 3;
  uint64_t memory_bytes = 2;
  uint64_t mode_count = 5;
  bool has_execution_barriers = true;
  uint64_t live_bytes = 0;  // The first so many bytes are an output; 0: no output, all are live.
};

ProgramDraft tiny_draft(Choice& choice, const TinyProgramOptions& options = {});
Program tiny_program(Choice& choice, const TinyProgramOptions& options = {});

}  // namespace interlock
