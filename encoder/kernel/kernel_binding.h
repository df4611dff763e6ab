// Binding: a dispatch as written against the entry of its kernel, and what it is then: params, and
// slices with their bytes.
#pragma once

#include <algorithm>
#include <cstddef>
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

// What the slices of a dispatch touch through one of its accesses, in its memory: what all slices
// share is worked out once. Where ids say which bytes, all that a slice might touch.
class SliceRanges {
 public:
  SliceRanges() = default;
  SliceRanges(const Program& program, const Dispatch& dispatch, const KernelParams& params,
              size_t access);

  // Whether every slice touches the same bytes.
  bool is_whole() const { return form_ == Form::kWhole; }

  // Requires: slice < slice_count_of(...). Cost: constant.
  StridedRange of(uint64_t slice) const {
    if (is_whole()) return contiguous({begin_, begin_ + row_bytes_});
    const uint64_t first = slice * block_;
    const uint64_t last = std::max(first, std::min(extent_, first + block_));
    if (form_ == Form::kRows) {
      return contiguous({begin_ + first * row_bytes_, begin_ + last * row_bytes_});
    }
    return {begin_ + first * kElementBytes, (last - first) * kElementBytes, row_bytes_, row_count_};
  }

 private:
  static constexpr uint64_t kElementBytes = 4;  // f32 and i32

  enum class Form : uint8_t { kWhole, kRows, kColumns };

  Form form_ = Form::kWhole;
  uint64_t begin_ = 0;
  uint64_t row_bytes_ = 0;  // Of kWhole: of all rows.
  uint64_t row_count_ = 1;
  uint64_t block_ = 1;
  uint64_t extent_ = 0;  // That the slices partition.
};

// SliceRanges of one slice.
StridedRange slice_range_of(const Program& program, const Dispatch& dispatch,
                            const KernelParams& params, uint64_t slice, int access);

}  // namespace interlock
