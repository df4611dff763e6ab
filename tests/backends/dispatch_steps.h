// Schedules as backend tests write them: step by step.
#pragma once

#include <cstddef>
#include <cstdint>

#include "encoder/program/program.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// The operations of atomics, as the text has them.
inline constexpr const char* kAtomicWords[] = {"add", "min", "max", "and", "or", "xor"};

inline Step run(size_t dispatch, uint32_t first_slice = 0, uint32_t slice_count = 1) {
  return {StepKind::kRun, DispatchId{dispatch}, first_slice, slice_count};
}
inline Step run_late(size_t dispatch, uint32_t first_slice = 0, uint32_t slice_count = 1) {
  return {StepKind::kRunLate, DispatchId{dispatch}, first_slice, slice_count};
}
inline Step commit(size_t dispatch) { return {StepKind::kCommit, DispatchId{dispatch}, 0, 0}; }

}  // namespace interlock
