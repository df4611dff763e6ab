// The basic idea of the original is that an argument's binding is its declaration: binding an
// argument looks the buffer up in the sets since the last barrier, and the dispatch that follows
// inserts the barrier, then moves its own bindings into the sets.

#include "encoder/sync/mlx.h"

namespace interlock {
namespace {

using MemorySet = std::unordered_set<uint32_t>;

// What a dispatch does to the sets: a barrier leaves only its own bindings, otherwise they join.
void advance(bool is_after_barrier, MemorySet& prev, MemorySet& next) {
  if (is_after_barrier) {
    prev.swap(next);
  } else {
    prev.insert(next.begin(), next.end());
  }
  next.clear();
}

}  // namespace

void MlxEncoder::set_input(MemoryId memory) {
  if (knows_inputs_) next_inputs_.insert(memory.index);
  needs_barrier_ |= prev_outputs_.contains(memory.index);
}

void MlxEncoder::set_output(MemoryId memory) {
  set_input(memory);
  next_outputs_.insert(memory.index);
  needs_barrier_ |= prev_inputs_.contains(memory.index);
}

void MlxEncoder::forget() {
  prev_inputs_.clear();
  prev_outputs_.clear();
}

void MlxEncoder::encode(const EncoderDispatch& dispatch, CommandSink& sink) {
  for (const Access& access : dispatch.accesses) {
    if (access.only_reads()) {
      set_input(access.memory);
    } else {
      set_output(access.memory);
    }
  }
  if (needs_barrier_) sink.issue_barrier(BarrierKind::kFull);
  advance(needs_barrier_, prev_inputs_, next_inputs_);
  advance(needs_barrier_, prev_outputs_, next_outputs_);
  needs_barrier_ = false;
  sink.issue_dispatch(dispatch.id);
}

}  // namespace interlock
