// Schedule: one legal way to execute a program, as pieces to run and writes that commit late; and
// its short form, displacements from issue order, which survives edits of the program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/order/happens_before.h"

namespace interlock {

enum class StepKind : uint8_t {
  kRun,      // Runs the piece; its writes commit at once.
  kRunLate,  // Runs the piece; its writes wait for their kCommit.
  kCommit,   // Commits the writes of all pieces of the dispatch that still wait, in piece order.
  kFetch,    // Reads some bytes for a dispatch that runs later: what its cache then still holds.
};

// Slices [first_slice, first_slice + slice_count) of a dispatch. A kFetch, and a kCommit of some of
// the bytes that wait, have entries of Schedule::bytes instead; a kCommit of all has none.
struct Step {
  StepKind kind = StepKind::kRun;
  DispatchId dispatch;
  uint32_t first_slice = 0;
  uint32_t slice_count = 0;

  bool operator==(const Step&) const = default;
};

struct StepBytes {
  MemoryId memory;
  ByteRange range;
  StageAccess sort = StageAccess::kComputeRead;  // Of a kFetch: by which it reads them.

  bool operator==(const StepBytes&) const = default;
};

struct Schedule {
  std::vector<Step> steps;
  std::vector<StepBytes> bytes = {};  // Of steps that concern some bytes of their dispatch.

  std::span<const StepBytes> bytes_of(const Step& step) const {
    return std::span(bytes).subspan(step.first_slice, step.slice_count);
  }

  bool operator==(const Schedule&) const = default;
};

// Runs all slices of `dispatch`, or commits them (a kCommit names no slices).
Step whole_step(const Program& program, DispatchId dispatch, StepKind kind);

// Every dispatch whole, in issue order, committing at once.
Schedule issue_order_schedule(const Program& program);

// Applies the displacements in turn to issue order. `A before B` moves the (remaining) steps of A
// to right before the first step of B; `A after B` to right after the last step of B; `A commits
// after B` makes A run late and puts its commit right after the last step of B; `A fetches before B
// commits` puts a fetch of A right before the commit of B, which then is a step of its own. Beside
// scoped barriers the last two speak of the bytes that can wait, and that can be missed
// (split_steps.h, also for `wanted`). Errors: a stop (stop.h); slices out of range or already
// moved; nothing can wait or be missed; a schedule that is not legal (check_legal).
Result<Schedule> schedule_of(const Program& program, const HappensBefore& order,
                             const std::vector<Displacement>& displacements,
                             const StepBytes* wanted = nullptr);

// The fewest displacements by this method that give `schedule` back: dispatches outside a longest
// increasing subsequence move. Requires: whole dispatches, as every strategy but split pieces
// makes.
std::vector<Displacement> displacements_of(const Program& program, const Schedule& schedule);

// Legal: every slice runs exactly once; runs extend `order`; a late write commits once, and before
// any dispatch runs that barriers hold back until it is available; a fetch comes after all that
// leads to it (split_order.h). So a legal schedule is an execution of the machine in
// docs/theory.md. With scoped barriers at most LateWrites::kCountMax dispatches wait at once.
// Errors: a sentence that names the dispatches.
Result<Success> check_legal(const Program& program, const HappensBefore& order,
                            const Schedule& schedule);

// The one that says most: what commits late or fetches early, else the first one.
// Requires: not empty.
const Displacement& head_of(const std::vector<Displacement>& displacements);

// The displacements as `witness` lines say them, e.g. "vjp before reduce".
std::string text_of(const Program& program, const Displacement& displacement);

}  // namespace interlock
