// Reference: the right result of a program, which executions are compared with.
#pragma once

#include "backends/backend.h"
#include "encoder/program.h"
#include "encoder/result.h"

namespace interlock {

// Returns the final bytes that the program means. Without `order=` that is the issue-order run on
// `backend`. With it, dispatches run in program order, whole, on the CPU: ordinary bytes come from
// the last writer in program order; bytes of a scratch memory, which were placed after reordering,
// come from the writer that issue order gives them, unless it is later in program order, in which
// case the program is `reordered` and the initial bytes stand in (THEORY, "Program order and
// reordering"). Errors: as Backend::run().
Result<MemoryImage> reference_image(const Program& program, Backend& backend);

}  // namespace interlock
