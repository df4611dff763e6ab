// The basic idea is that of ScopedHazards, once per place: of the accesses of one place to a byte,
// the latest is separated last, so if it is separated, all are. What the host has lost is separated
// from nothing that reads it, and known by itself.
#include "simulator/hazards/queue_hazards.h"

#include <algorithm>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"

namespace interlock {

QueueHazards::QueueHazards(const Program& program, const QueueOrder& order,
                           const ByteSegments& segments)
    : program_(program),
      order_(order),
      segments_(segments),
      clean_(std::in_place, program, order, segments),
      histories_(order.places().count()),
      lost_(order.host_moves()) {}

uint64_t QueueHazards::find_runs(DispatchId second, std::vector<HazardousRun>& runs,
                                 uint64_t step_limit) {
  runs.clear();
  step_limit_ = step_limit;
  if (is_clean(second)) return 0;
  const Dispatch& dispatch = program_.dispatch(second);
  for (; visited_ < dispatch.statement.index; ++visited_) {
    const Statement& statement = program_.statements[visited_];
    if (statement.kind == StatementKind::kDispatch) record(DispatchId(size_t{statement.index}));
  }
  lost_.go_on_to(dispatch.statement.index);
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    const Access& access = program_.accesses[dispatch.first_access + k];
    const SegmentSpan span = segments_.span_of(dispatch.first_access + k);
    for (PlaceIndex place = 0; place < histories_.size() && !is_over(); ++place) {
      collect(second, access, span, histories_[place], place, runs);
    }
    if (!lost_.is_empty()) collect_lost(second, k, runs);
  }
  std::ranges::sort(runs);
  return std::exchange(step_count_, 0);
}

bool QueueHazards::is_over() const { return step_count_ > step_limit_ || is_stopped(); }

// Where it is not, all of it is recorded again.
bool QueueHazards::is_clean(DispatchId second) {
  if (!clean_) return false;
  for (; scanned_ < second.index && !clean_->is_over(); ++scanned_) {
    const DispatchId dispatch(size_t{scanned_});
    if (known_clean_ != dispatch && !clean_->is_clean(dispatch)) break;
    clean_->record(dispatch);
  }
  known_clean_ = second;
  if (scanned_ == second.index && !clean_->is_over() && clean_->is_clean(second)) return true;
  clean_.reset();
  return false;
}

// A write finds what was lost only where it leaves some of it.
void QueueHazards::collect_lost(DispatchId second, uint32_t access_index,
                                std::vector<HazardousRun>& runs) {
  const Access& access = program_.accesses_of(second)[access_index];
  const bool reads = access.has_read_side();
  const bool leaves_some = access.has_write_side() && program_.dispatch(second).is_partial;
  if (!reads && !leaves_some) return;
  const auto add = [&](const HostMoves::Lost& lost, ByteRange bytes) {
    const SegmentSpan span = span_around(access.memory, bytes);
    if (reads) runs.push_back({lost.writer, FindingKind::kReadAfterWrite, span});
    if (leaves_some) runs.push_back({lost.writer, FindingKind::kWriteAfterWrite, span});
  };
  step_count_ += lost_.for_each(access.memory, order_.exact_range_of(second, access_index), add);
}

void QueueHazards::collect(DispatchId second, const Access& access, SegmentSpan span,
                           const History& history, PlaceIndex place,
                           std::vector<HazardousRun>& runs) {
  using enum FindingKind;
  if (access.has_read_side()) collect(second, access, span, history, place, kReadAfterWrite, runs);
  if (!access.has_write_side()) return;
  collect(second, access, span, history, place, kWriteAfterWrite, runs);
  collect(second, access, span, history, place, kWriteAfterRead, runs);
}

void QueueHazards::record(DispatchId dispatch) {
  const Dispatch& d = program_.dispatch(dispatch);
  const Stamp stamp = dispatch.index + 1;
  for (uint32_t k = 0; k < d.access_count; ++k) {
    const Access& access = program_.accesses[d.first_access + k];
    const SegmentSpan span = segments_.span_of(d.first_access + k);
    const PlaceIndex place = order_.place_of(dispatch, stage_of(d, access));
    if (place == Places::kNone) return;  // Its hazards with later ones are those of another part.
    History& history = histories_[place];
    if (access.is_atomic()) raise(history, atomic_sort(d.atomic_op), span, stamp);
    if (access.reads_plainly()) raise(history, kPlainReads, span, stamp);
    if (access.writes_plainly()) raise(history, kPlainWrites, span, stamp);
  }
}

// The segments that have some of the bytes.
SegmentSpan QueueHazards::span_around(MemoryId memory, ByteRange bytes) const {
  const SegmentSpan all = segments_.segments_of(memory);
  const auto first_from = [&](uint64_t byte) {
    uint32_t begin = all.begin;
    uint32_t end = all.end - 1;
    while (begin < end) {
      const uint32_t middle = begin + (end - begin) / 2;
      if (segments_.bytes_of({middle, middle + 1}).begin < byte) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  };
  return {first_from(bytes.begin + 1) - 1, first_from(bytes.end)};
}

void QueueHazards::raise(History& history, size_t access_sort, SegmentSpan span, Stamp stamp) {
  std::unique_ptr<StampTree>& tree = history[access_sort];
  if (tree == nullptr) tree = std::make_unique<StampTree>(segments_.count());
  tree->raise(span, stamp);
}

// The runs of `span` on which earlier accesses have the hazard `kind` with `access`.
void QueueHazards::collect(DispatchId second, const Access& access, SegmentSpan span,
                           const History& history, PlaceIndex place, FindingKind kind,
                           std::vector<HazardousRun>& runs) {
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
    const StampTree* const tree = history[i].get();
    const bool commutes = access.is_atomic() && dispatch.atomic_op != AtomicOp::kNone &&
                          i == atomic_sort(dispatch.atomic_op);
    if (tree == nullptr || i == (is_war ? kPlainWrites : kPlainReads) || commutes) continue;
    if (tree->max(span) < threshold) continue;
    of_tree_.clear();
    tree->append_runs(span, threshold, of_tree_);
    keep_latest(latest_, of_tree_, merged_);
  }
  for (const StampRun& run : latest_) {
    ++step_count_;
    if (is_over()) return;
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
