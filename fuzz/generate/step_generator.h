// Generator of unplanned programs, which passes are tried on: small training steps whose tensors
// nobody has placed. Forward kernels, the backward pass of some of them, opaque dispatches,
// updates, views, donations; frees, pins, and the points at which an arena is reset.
#pragma once

#include <cstdint>

#include "encoder/program/draft.h"
#include "simulator/schedules/choice.h"

namespace interlock {

struct StepOptions {
  uint32_t max_dispatches = 16;    // At least 1.
  bool is_differentiable = false;  // Forward kernels with a VJP rule only, and no lifetimes.
  bool has_lifetimes = true;       // Frees, pins and resets.
};

// Returns a draft that builds and in which nothing is wrong, whatever `choice` says: with every
// value on bytes of its own, and sync by a right encoder, no check has a finding. Resets name a
// memory without tensors: they only say where the regions of an arena end. Cost: some microseconds.
ProgramDraft generate_step(Choice& choice, const StepOptions& options = {});

}  // namespace interlock
