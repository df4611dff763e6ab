#include "backends/interface/late_staging.h"

#include <fmt/format.h>

#include "encoder/kernel/kernel_binding.h"
#include "encoder/program/error_of.h"

namespace interlock {

bool needs_old_bytes(const Access& access, const KernelParams& params) {
  return access.mode == AccessMode::kUpdate ||
         (access.mode == AccessMode::kWrite && params.is_partial);
}

void for_each_written_run(const Program& program, const DispatchPiece& piece, int access,
                          const std::function<void(ByteRange)>& take) {
  ByteRange pending;  // Grows while runs touch.
  for (uint64_t i = 0; i < piece.slice_count; ++i) {
    const StridedRange written = slice_range_of(program, program.dispatch(piece.dispatch),
                                                piece.params, piece.first_slice + i, access);
    for (uint64_t k = 0; k < written.run_count; ++k) {
      const ByteRange run = written.run(k);
      if (run.begin == pending.end && !pending.is_empty()) {
        pending.end = run.end;
        continue;
      }
      if (!pending.is_empty()) take(pending);
      pending = run;
    }
  }
  if (!pending.is_empty()) take(pending);
}

Error late_writes_error(const Program& program, DispatchId dispatch, uint64_t limit_bytes) {
  return error_of(
      "The late writes of this schedule need more than {} bytes, the execution limit, while {} commits late.",
      limit_bytes, program.description_of(dispatch));
}

}  // namespace interlock
