// Mutator: structural changes of a draft. A mutant need not be valid: lenient_build() leaves out
// what no longer fits, as a campaign does with lines that no longer apply.
#pragma once

#include <cstdint>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "fuzz/generate/generator.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Returns `draft` after 1 to 4 changes: dispatches dropped, duplicated, swapped, inserted; barriers
// inserted, removed, toggled; ranges moved by a byte; operands and modes changed; tensors made to
// donate; a stretch of a fresh program spliced in. One in four is a fresh swarm program instead.
ProgramDraft mutate(const ProgramDraft& draft, Choice& choice,
                    const GeneratorOptions& options = {});

// A prefix of the statements of `first` and a suffix of those of `second`, names kept apart.
ProgramDraft cross_over(const ProgramDraft& first, const ProgramDraft& second, Choice& choice);

// Builds what fits of `draft`, in order. Always gives a program, possibly empty.
Program lenient_build(const ProgramDraft& draft);

}  // namespace interlock
