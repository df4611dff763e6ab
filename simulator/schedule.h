// Schedule: one legal way to execute a program, as pieces to run and writes that commit late; and
// its short form, displacements from issue order, which survives edits of the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program.h"
#include "encoder/result.h"
#include "simulator/happens_before.h"

namespace interlock {

enum class StepKind : uint8_t {
  kRun,      // Runs the piece; its writes commit at once.
  kRunLate,  // Runs the piece; its writes wait for their kCommit.
  kCommit,   // Commits the writes of all pieces of the dispatch that still wait, in piece order.
};

// Slices [first_slice, first_slice + slice_count) of a dispatch.
struct Step {
  StepKind kind = StepKind::kRun;
  DispatchId dispatch;
  uint32_t first_slice = 0;
  uint32_t slice_count = 0;

  bool operator==(const Step&) const = default;
};

struct Schedule {
  std::vector<Step> steps;

  bool operator==(const Schedule&) const = default;
};

// Runs all slices of `dispatch`, or commits them (a kCommit names no slices).
Step whole_step(const Program& program, DispatchId dispatch, StepKind kind);

// Every dispatch whole, in issue order, committing at once.
Schedule issue_order_schedule(const Program& program);

// Applies the displacements in turn to issue order. `A before B` moves the (remaining) steps of A
// to right before the first step of B; `A after B` to right behind the last step of B; `A commits
// after B` makes A run late and puts its commit right behind the last step of B. Errors: slices out
// of range or already moved; a schedule that is not legal (check_legal).
Result<Schedule> schedule_of(const Program& program, const HappensBefore& order,
                             const std::vector<Displacement>& displacements);

// The fewest displacements by this method that give `schedule` back: dispatches outside a longest
// increasing subsequence move. Requires: whole dispatches, as every strategy but split pieces
// makes.
std::vector<Displacement> displacements_of(const Program& program, const Schedule& schedule);

// Legal: every slice runs exactly once; runs extend `order`; a late write commits before any
// dispatch runs that it must be visible to, and once. With scoped barriers that is any dispatch
// that touches a byte of it through an access to which it is visible, and at most
// LateWrites::kCountMax dispatches wait at once. Errors: a sentence that names the dispatches.
Result<Success> check_legal(const Program& program, const HappensBefore& order,
                            const Schedule& schedule);

// The displacements as `witness` lines say them, e.g. "vjp before reduce".
std::string text_of(const Program& program, const Displacement& displacement);

}  // namespace interlock
