// Brute force: executes every legal schedule of a small program, late commits included, one byte at
// a time. As simple as can be, and nothing in common with the shadow machine or with HappensBefore:
// the definitions of docs/theory.md, spelled out.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

struct BruteForceVerdict {
  bool differs_strictly = false;    // Some schedule ends in other bytes, or lets a dispatch read
                                    // others, when every write also hashes the byte's old content.
  bool differs_observably = false;  // Some schedule ends in other live bytes.
  uint64_t schedule_count = 0;      // Executed, in both modes together.
};

// Requires: opaque dispatches only, at most 5 (113,400 schedules without barriers).
// Cost: the number of schedules; stops early once a mode has differed.
BruteForceVerdict brute_force(const Program& program);

// Whether `schedule` ends unlike issue order.
// Requires: opaque dispatches only; `schedule` is legal.
bool differs_by_brute_force(const Program& program, const Schedule& schedule, bool is_strict);

}  // namespace interlock
