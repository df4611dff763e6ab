// Memory of a picture: who owns which bytes from which row to which, and what each row touches.
#pragma once

#include "encoder/program/program.h"
#include "simulator/picture/focus.h"
#include "simulator/picture/picture.h"
#include "simulator/picture/rows.h"
#include "simulator/report/finding.h"

namespace interlock {

// Sets memories, cells and owners of `picture`, which has its rows: the memory of the finding, and
// those that most of the rows outside folds touch. Owners are those of lifetimes.h: a value has the
// bytes that were written through it, until another is written, or adopts it, or it ends.
// Requires: `folded` has the rows of `picture`, `finding` may be null.
// Cost: linear in statements and accesses, times the segments of a memory.
void draw_memory(const Program& program, const RunOrder& order, const FoldedRows& folded,
                 const Finding* finding, const PictureLimits& limits, Picture& picture);

}  // namespace interlock
