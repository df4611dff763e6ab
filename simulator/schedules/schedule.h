// Schedule: one legal way to execute a program, as pieces to run and writes that commit late.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

class HappensBefore;

enum class StepKind : uint8_t {
  kRun,      // Runs the piece; its writes commit at once.
  kRunLate,  // Runs the piece; its writes wait for their kCommit.
  kCommit,   // Commits the writes of all pieces of the dispatch that still wait, in piece order.
  kFetch,    // Reads some bytes for a dispatch that runs later: what its cache then still holds.
  kDrop,     // What still waits of the host's write never commits: its cache is invalidated.
};

// Slices [first_slice, first_slice + slice_count) of a dispatch. A kFetch, and a kCommit or kDrop
// of some of the bytes that wait, have entries of Schedule::bytes instead; one of all has none.
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

// Whether the dispatch has anything to commit.
bool writes_anything(const Program& program, DispatchId dispatch);

// Every dispatch whole, in reference order, committing at once.
Schedule reference_order_schedule(const Program& program);

// Legal: every slice runs exactly once; runs extend `order`; a late write commits once, and before
// any dispatch runs that barriers hold back until it is available; a fetch comes after all that
// leads to it (split_order.h). So a legal schedule is an execution of the machine in
// docs/theory.md. With scoped barriers at most LateWrites::kCountMax dispatches wait at once.
// Errors: a sentence that names the dispatches.
Result<Success> check_legal(const Program& program, const HappensBefore& order,
                            const Schedule& schedule);

}  // namespace interlock
