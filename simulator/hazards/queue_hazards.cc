// The basic idea is that of ScopedHazards, once per place: of the accesses of one place to a byte,
// the latest is separated last, so if it is separated, all are; but for what never leaves a cache
// of the host.
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
  runs.clear();
  if (is_clean(second)) return 0;
  const Dispatch& dispatch = program_.dispatch(second);
  for (; visited_ < dispatch.statement.index; ++visited_) {
    const Statement& statement = program_.statements[visited_];
    if (statement.kind == StatementKind::kDispatch) record(DispatchId(size_t{statement.index}));
    if (statement.kind == StatementKind::kSync) move_host_bytes(program_.syncs[statement.index]);
  }
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    const Access& access = program_.accesses[dispatch.first_access + k];
    const SegmentSpan span = segments_.span_of(dispatch.first_access + k);
    for (PlaceIndex place = 0; place < histories_.size(); ++place) {
      collect(second, access, span, histories_[place], place, runs);
    }
    if (has_lost_) collect_lost(second, access, span, runs);
  }
  std::ranges::sort(runs);
  return std::exchange(step_count_, 0);
}

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

// What is lost may be the latest of its place, too.
void QueueHazards::collect_lost(DispatchId second, const Access& access, SegmentSpan span,
                                std::vector<HazardousRun>& runs) {
  std::vector<HazardousRun> of_lost;
  collect(second, access, span, lost_, order_.places().host(), of_lost);
  for (const HazardousRun& run : of_lost) {
    const bool is_there = std::ranges::any_of(
        runs, [&](const HazardousRun& other) { return other == run && other.span == run.span; });
    if (!is_there) runs.push_back(run);
  }
}

void QueueHazards::collect(DispatchId second, const Access& access, SegmentSpan span,
                           const History& history, PlaceIndex place,
                           std::vector<HazardousRun>& runs) {
  using enum FindingKind;
  if (has_read_side(access)) collect(second, access, span, history, place, kReadAfterWrite, runs);
  if (!has_write_side(access)) return;
  collect(second, access, span, history, place, kWriteAfterWrite, runs);
  collect(second, access, span, history, place, kWriteAfterRead, runs);
}

void QueueHazards::record(DispatchId dispatch) {
  const Dispatch& d = program_.dispatch(dispatch);
  const Stamp stamp = dispatch.index + 1;
  for (uint32_t k = 0; k < d.access_count; ++k) {
    const Access& access = program_.accesses[d.first_access + k];
    const SegmentSpan span = segments_.span_of(d.first_access + k);
    History& history = histories_[order_.place_of(dispatch, stage_of(d, access))];
    if (access.is_atomic()) raise(history, atomic_sort(d.atomic_op), span, stamp);
    if (access.reads()) raise(history, kPlainReads, span, stamp);
    if (access.writes()) raise(history, kPlainWrites, span, stamp);
    const bool stays_in_a_cache = d.host == HostAccess::kWrites && access.writes() &&
                                  program_.memory(access.memory).atom_bytes != 0;
    if (stays_in_a_cache) unflushed_.assign(access.memory, access.range, stamp);
  }
}

// Flushes put what the host has written into memory, and invalidations drop what they have not.
void QueueHazards::move_host_bytes(const SyncStep& step) {
  const bool invalidates = step.kind == SyncKind::kHostInvalidates;
  if (!invalidates && step.kind != SyncKind::kHostFlushes) return;
  for (const Access& operand : program_.operands_of(step)) {
    if (invalidates) {
      unflushed_.for_each(operand.memory, operand.range, [&](const IntervalMap<Stamp>::Run& run) {
        if (run.value == 0) return;
        has_lost_ = true;
        raise(lost_, kPlainWrites, span_of(operand.memory, run.bytes), run.value);
      });
    }
    unflushed_.assign(operand.memory, operand.range, Stamp{0});
  }
}

// Requires: accesses or operands of barriers begin and end there.
SegmentSpan QueueHazards::span_of(MemoryId memory, ByteRange bytes) const {
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
  return {first_from(bytes.begin), first_from(bytes.end)};
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
