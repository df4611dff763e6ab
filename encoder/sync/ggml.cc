#include "encoder/sync/ggml.h"

namespace interlock {

// True iff `range` conflicts with none of the list.
bool GgmlMetalEncoder::is_free(const MemoryRange& range) const {
  for (const MemoryRange& earlier : ranges_) {
    if (range.memory != earlier.memory) continue;
    if (!range.is_destination && !earlier.is_destination) continue;
    // The second comparison is the original's: half-open ranges would take `>`.
    if (range.p0 < earlier.p1 && range.p1 >= earlier.p0) return false;
  }
  return true;
}

void GgmlMetalEncoder::encode(const EncoderDispatch& dispatch, CommandSink& sink) {
  candidates_.clear();
  for (const Access& access : dispatch.accesses) {
    if (access.range.is_empty()) continue;
    const MemoryRange range{access.memory.index, access.range.begin, access.range.end, false};
    if (access.mode != AccessMode::kWrite) candidates_.push_back(range);
    if (!access.only_reads()) {
      candidates_.push_back(range);
      candidates_.back().is_destination = true;
    }
  }
  bool is_free_of_conflicts = true;
  for (const MemoryRange& range : candidates_) {
    is_free_of_conflicts = is_free_of_conflicts && is_free(range);
  }
  if (!is_free_of_conflicts) {
    sink.issue_barrier(BarrierKind::kFull);
    ranges_.clear();
  }
  ranges_.insert(ranges_.end(), candidates_.begin(), candidates_.end());
  sink.issue_dispatch(dispatch.id);
}

void GgmlMetalEncoder::wait_for_all(CommandSink& sink) {
  sink.issue_barrier(BarrierKind::kFull);
  ranges_.clear();
}

}  // namespace interlock
