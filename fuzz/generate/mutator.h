// Mutator: structural changes of a draft. A mutant need not be valid: whoever reads its text
// leniently leaves out the lines that no longer fit.
#pragma once

#include "encoder/program/draft.h"
#include "fuzz/generate/generator.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Returns `draft` after 1 to 4 changes: dispatches dropped, duplicated, swapped, inserted; barriers
// inserted, removed, toggled; ranges moved by a byte; operands and modes changed; tensors made to
// donate; a stretch of a fresh program spliced in. One in four is a fresh swarm program instead.
// With GeneratorOptions::has_queues also what is about several queues (queue_mutation.h), where
// there are some; and every second fresh program is of several.
ProgramDraft mutate(const ProgramDraft& draft, Choice& choice,
                    const GeneratorOptions& options = {});

// Returns `draft` after 1 to 4 such changes, none of them of barriers: for encoders, which place
// their own. One change in eight is that a stretch of `other` is spliced in.
ProgramDraft mutate_for_encoder(const ProgramDraft& draft, const ProgramDraft& other,
                                Choice& choice, const GeneratorOptions& options = {});

// A prefix of the statements of `first` and a suffix of those of `second`, names kept apart.
ProgramDraft cross_over(const ProgramDraft& first, const ProgramDraft& second, Choice& choice);

}  // namespace interlock
