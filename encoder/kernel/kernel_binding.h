// Binding: a dispatch as written against the entry of its kernel, and what it is then: params, and
// slices with their bytes.
#pragma once

#include <cstdint>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/limits.h"
#include "encoder/program/program.h"
#include "encoder/program/range.h"
#include "encoder/program/result.h"

namespace interlock {

// Checks modes, counts, dtypes, shapes and attributes of the dispatch against its entry.
// Requires: accesses and attributes of `dispatch` are in `program`.
// Errors: a complete sentence that names the kernel and the operand.
// Cost: constant for opaque dispatches, else linear in operands and attributes.
Result<KernelParams> bind_kernel(const Program& program, const Dispatch& dispatch,
                                 const Limits& limits = {});

// The params of a dispatch of a valid program.
KernelParams params_of(const Program& program, const Dispatch& dispatch);

// How many slices a dispatch with these params has; at least 1. Cost: constant.
uint64_t slice_count_of(KernelId kernel, const KernelParams& params);

// Of a dispatch of a valid program.
inline uint64_t slice_count_of(const Program& /*program*/, const Dispatch& dispatch) {
  return dispatch.slice_count;
}

// The bytes that `slice` touches through access number `access`, in its memory. Where ids say
// which, all that it might touch. Requires: slice < slice_count_of(...). Cost: constant.
StridedRange slice_range_of(const Program& program, const Dispatch& dispatch,
                            const KernelParams& params, uint64_t slice, int access);

}  // namespace interlock
