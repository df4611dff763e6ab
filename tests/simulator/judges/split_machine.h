// The machine of docs/theory.md on split steps: executes a small program with scoped barriers in
// every legal way, late commits and stale caches included, and says whether an output can differ;
// and judges one schedule. As simple as can be, and nothing in common with simulator/.
//
// Per byte, a dispatch is a fetch for each sort of access that reads it, a run, and a commit if it
// writes it; each dependency is one event; docs/theory.md, "Split steps", has the edges between
// them. A fetch takes what memory holds. A full write leaves its own value, a partial one its own
// on top of what it fetched, an atomic changes what memory holds when it commits.
#pragma once

#include <cstdint>
#include <string>

#include "encoder/program/program.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

struct SplitVerdict {
  // Some execution leaves other outputs than issue order: some read on which an output depends, or
  // the end of the program, finds other content in some byte.
  bool changes_an_output = false;
  std::string execution;     // Such an execution, as far as that byte tells; else empty.
  uint64_t state_count = 0;  // Distinct states visited.
};

// Requires: at most 7 dispatches of one slice each, 16 dependencies, and memories of a few bytes.
// Cost: exponential in both.
SplitVerdict split_in_every_way(const Program& program);

// Why `schedule` is no execution of the machine: a sentence, or empty if it is one.
// Requires: dispatches of one slice each.
std::string defect_of(const Program& program, const Schedule& schedule);

// Whether the outputs differ from those of issue order when `schedule` is executed on values, all
// bytes together. Requires: no defect.
bool changes_an_output(const Program& program, const Schedule& schedule);

}  // namespace interlock
