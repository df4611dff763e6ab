// The basic idea is that of ScopedHazards, once per place: of the accesses of one place to a byte,
// the latest is separated last, so if it is separated, all are.
#include "simulator/hazards/queue_hazards.h"

#include <algorithm>
#include <utility>

#include "encoder/kernel/kernel_table.h"

namespace interlock {

QueueHazards::QueueHazards(const Program& program, const QueueOrder& order,
                           const ByteSegments& segments)
    : program_(program),
      order_(order),
      segments_(segments),
      clean_(std::in_place, program, order, segments),
      histories_(order.places().count()) {}

uint64_t QueueHazards::find_runs(DispatchId second, std::vector<HazardousRun>& runs) {
  using enum FindingKind;
  runs.clear();
  if (is_clean(second)) return 0;
  for (; visited_ < second.index; ++visited_) record(DispatchId(size_t{visited_}));
  const Dispatch& dispatch = program_.dispatch(second);
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    const Access& access = program_.accesses[dispatch.first_access + k];
    const SegmentSpan span = segments_.span_of(dispatch.first_access + k);
    for (PlaceIndex place = 0; place < histories_.size(); ++place) {
      if (has_read_side(access)) collect(second, access, span, place, kReadAfterWrite, runs);
      if (!has_write_side(access)) continue;
      collect(second, access, span, place, kWriteAfterWrite, runs);
      collect(second, access, span, place, kWriteAfterRead, runs);
    }
  }
  std::ranges::sort(runs);
  return std::exchange(step_count_, 0);
}

// Where it is not, all of it is recorded again.
bool QueueHazards::is_clean(DispatchId second) {
  if (!clean_) return false;
  for (; visited_ < second.index && !clean_->is_over(); ++visited_) {
    const DispatchId dispatch(size_t{visited_});
    if (known_clean_ != dispatch && !clean_->is_clean(dispatch)) break;
    clean_->record(dispatch);
  }
  known_clean_ = second;
  if (visited_ == second.index && !clean_->is_over() && clean_->is_clean(second)) return true;
  clean_.reset();
  visited_ = 0;
  return false;
}

void QueueHazards::record(DispatchId dispatch) {
  const Dispatch& d = program_.dispatch(dispatch);
  const Stamp stamp = dispatch.index + 1;
  for (uint32_t k = 0; k < d.access_count; ++k) {
    const Access& access = program_.accesses[d.first_access + k];
    const SegmentSpan span = segments_.span_of(d.first_access + k);
    const PlaceIndex place = order_.place_of(dispatch, stage_of(d, access));
    if (access.is_atomic()) raise(place, atomic_sort(d.atomic_op), span, stamp);
    if (access.reads()) raise(place, kPlainReads, span, stamp);
    if (access.writes()) raise(place, kPlainWrites, span, stamp);
  }
}

void QueueHazards::raise(PlaceIndex place, size_t access_sort, SegmentSpan span, Stamp stamp) {
  std::unique_ptr<StampTree>& tree = histories_[place][access_sort];
  if (tree == nullptr) tree = std::make_unique<StampTree>(segments_.count());
  tree->raise(span, stamp);
}

// The runs of `span` on which earlier accesses at `place` have the hazard `kind` with `access`.
void QueueHazards::collect(DispatchId second, const Access& access, SegmentSpan span,
                           PlaceIndex place, FindingKind kind, std::vector<HazardousRun>& runs) {
  const bool is_war = kind == FindingKind::kWriteAfterRead;
  const Dispatch& dispatch = program_.dispatch(second);
  const Stage stage = stage_of(dispatch, access);
  const auto sort = kind == FindingKind::kReadAfterWrite ? read_sort_of(stage, access)
                                                         : write_sort_of(stage, access);
  const Stamp threshold =
      1 + (is_war ? order_.unfinished_begin(place, second, stage)
                  : order_.invisible_begin(place, second, *sort, access.memory));
  latest_.clear();
  for (size_t i = 0; i < kSortCount; ++i) {
    const StampTree* const tree = histories_[place][i].get();
    const bool commutes = access.is_atomic() && dispatch.atomic_op != AtomicOp::kNone &&
                          i == atomic_sort(dispatch.atomic_op);
    if (tree == nullptr || i == (is_war ? kPlainWrites : kPlainReads) || commutes) continue;
    if (tree->max(span) < threshold) continue;
    of_tree_.clear();
    tree->append_runs(span, threshold, of_tree_);
    keep_latest(latest_, of_tree_, merged_);
  }
  for (const StampRun& run : latest_) {
    if (!is_war && !is_invisible(run, second, *sort, access.memory)) continue;
    runs.push_back({DispatchId(size_t{run.stamp} - 1), kind, run.span});
  }
}

// Whether some byte of the run is; the clocks leave it open.
bool QueueHazards::is_invisible(const StampRun& run, DispatchId second, StageAccess sort,
                                MemoryId memory) {
  const DispatchId first(size_t{run.stamp} - 1);
  return order_
      .find_invisible(first, second, sort, memory, segments_.bytes_of(run.span), &step_count_)
      .has_value();
}

}  // namespace interlock
