// Reference: the right result of a program, which executions are compared with.
//
// This folder says what is right: bytes here, and numbers by the float64 oracles in oracle_check.h
// and float64_execution.h.
#pragma once

#include <cstdint>

#include "backends/interface/backend.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// Returns the final bytes that the program means. Every value lasts: no free or reset takes it away
// before the end, where what is ended holds poison (poison.h), here as in every run. So a read of
// ended bytes differs from the reference. Where a value is read that another one has overwritten,
// or an alias contract is broken, the outputs are those of a run with every value on bytes of its
// own (values_apart.h), if there is one. Without `order=` that is the run in the reference order on
// `backend`. With it, whole dispatches run in program order: on `backend` if no dispatch touches
// scratch memory, else on the CPU, whatever `backend` is (floating-point sums of a device with its
// own order of addition would differ from it). Bytes of a scratch memory, which were placed after
// reordering, are what issue order gives them: the last plain write and, in issue order, all
// atomics since. What of that is later in program order than its reader, or than an atomic on it,
// makes the program `reordered`. The later one is left out, and for a plain write the initial bytes
// stand in; of an atomic on a later one the atomic is left out, as the later one overwrites it.
// Memory: with scratch, the image, the initial scratch bytes, and at most `limit_bytes` of values
// that wait for their last reader.
// Errors: as Backend::run(); the memories, or what waits, exceed `limit_bytes`.
Result<MemoryImage> reference_image(const Program& program, Backend& backend,
                                    uint64_t limit_bytes = kExecutionLimitBytes);

}  // namespace interlock
