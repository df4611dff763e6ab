// Small programs with unplaced tensors, for the property tests of planners. Every program is a
// function of the answers of a Choice.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Up to `dispatch_count_max` dispatches on unplaced tensors of few sizes, some with initial values,
// some views or donations of others, beside a declared memory. Opaque dispatches read, write,
// update and add atomically, whole or sliced, full or partial; kernels of the table with and
// without contracts for in place. Some tensors are outputs.
Program random_unplanned(Choice& choice, uint64_t dispatch_count_max = 10);

// The same with lifetime statements among the dispatches: tensors are pinned, freed, destroyed and
// unpinned, with a use of theirs before and after or with none.
Program random_unplanned_with_lifetimes(Choice& choice);

// Three opaque dispatches on three unplaced tensors of 4, 4 and 8 bytes, each of which does
// nothing, reads or writes; every set of outputs but the empty one. With an ExhaustiveChoice: all
// of them.
Program tiny_unplanned(Choice& choice);

}  // namespace interlock
