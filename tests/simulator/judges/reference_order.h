// What barriers order and make visible, straight from the definition: a chain of barriers is
// searched for each pair. Scoped barriers included; nothing in common with simulator/.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"

namespace interlock {

// `first` executes before `second`: there are barriers between them, one after the other, and a
// dependency of each, so that the stage of `first` is a source of the first dependency, each
// destination meets the source of the next, and the last one's holds the stage of `second`.
// Requires: `first` is earlier in issue order. Cost of all: exponential in barriers.
bool reference_executes_before(const Program& program, DispatchId first, DispatchId second);

// What `first` writes to the byte is available, and visible to accesses of `sort` by `second`:
// there is such a chain whose first dependency names the writes of `first` and covers the byte, and
// whose last one names `sort` and covers the byte.
// Requires: `first` writes the byte and is earlier in issue order; `second` has accesses of `sort`.
bool reference_is_visible(const Program& program, DispatchId first, DispatchId second,
                          StageAccess sort, MemoryId memory, uint64_t byte);

// Whether two accesses of different dispatches conflict.
bool reference_has_conflict(const Program& program);

// Whether two accesses conflict and lack the dependency that they need: WAR order, RAW visibility
// to the sort of the read, WAW visibility to the sort of the second write.
bool reference_has_hazard(const Program& program);

}  // namespace interlock
