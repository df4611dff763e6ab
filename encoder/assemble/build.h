// Makes programs of drafts. Here the rules of a valid program (build/program_builder.h) and the
// backward passes (backward/backward.h) come together, which do not know each other.
#pragma once

#include "encoder/program/draft.h"
#include "encoder/program/limits.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

class ProgramBuilder;

// Returns a builder (build/program_builder.h) that takes every item, backward passes included.
ProgramBuilder new_builder(const Limits& limits = {});

// Builds all items of `draft`. Errors: the first item that does not fit.
Result<Program> build(const ProgramDraft& draft, const Limits& limits = {});

}  // namespace interlock
