#include "simulator/lifetimes/pending_work.h"

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/scope.h"

namespace interlock {

PendingWork::PendingWork(const Program& program, const QueueOrder* queues)
    : program_(program), queues_(queues) {
  // Where there are too many places for clocks, nothing is said of any (QueueOrder::is_too_wide()).
  const bool has_places = queues != nullptr && !queues->is_too_wide();
  last_.resize(has_places ? queues->places().count() : kStageCount);
  last_but_one_.resize(last_.size());
}

size_t PendingWork::track_of(DispatchId id, const Access& access) const {
  const Stage stage = stage_of(program_.dispatch(id), access);
  if (queues_ == nullptr || queues_->is_too_wide()) return static_cast<size_t>(stage);
  return queues_->place_of(id, stage);
}

void PendingWork::see_barrier(BarrierId id, uint32_t next_dispatch) {
  if (queues_ != nullptr) return;
  const Barrier& barrier = program_.barriers[id.index];
  StageMask ordered = barrier.kind == BarrierKind::kScoped ? 0 : kAllStages;
  for (const Dependency& part : program_.dependencies_of(barrier)) ordered |= part.source.stages;
  for (size_t i = 0; i < kStageCount; ++i) {
    if ((ordered & bit_of(static_cast<Stage>(i))) == 0) continue;
    last_but_one_[i] = last_[i];
    last_[i] = {next_dispatch, id};
  }
}

bool PendingWork::has(size_t track, DispatchId id, LifetimeId at) const {
  if (queues_ == nullptr) return id.index >= last_[track].begin;
  if (queues_->is_too_wide()) return false;
  return id.index >= queues_->unfinished_begin(static_cast<PlaceIndex>(track), at);
}

}  // namespace interlock
