// The basic idea is that of find_hazards, once per stage: of the accesses of one stage to a byte,
// the latest is separated last, so if it is separated, all are. Its dispatch index is in a stamp
// tree, and the clocks of ScopedOrder are thresholds on it. Where the operands of dependencies make
// a difference between bytes, the clocks say only what is visible everywhere; what they leave open
// a VisibilityMap decides.
#include "simulator/hazards/scoped_hazards.h"

#include <algorithm>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"

namespace interlock {

ScopedHazards::ScopedHazards(const Program& program, const ScopedOrder& order,
                             const ByteSegments& segments)
    : program_(program), order_(order), segments_(segments) {
  operand_spans_.reserve(program.barrier_operands.size());
  for (size_t i = 0; i < program.barrier_operands.size(); ++i) {
    operand_spans_.push_back(segments.span_of_operand(i));
  }
}

uint64_t ScopedHazards::find_runs(DispatchId second, std::vector<HazardousRun>& runs) {
  runs.clear();
  for (; visited_ < second.index; ++visited_) {
    const DispatchId dispatch(visited_);
    apply_commands(dispatch);
    record(dispatch);
  }
  apply_commands(second);
  const Dispatch& dispatch = program_.dispatch(second);
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    using enum FindingKind;
    const Access& access = program_.accesses[dispatch.first_access + k];
    const SegmentSpan span = segments_.span_of(dispatch.first_access + k);
    const auto read_sort = read_sort_of(order_.stage_of(second), access);
    const auto write_sort = write_sort_of(order_.stage_of(second), access);
    for (size_t s = 0; s < kDispatchStageCount; ++s) {
      const Stage stage = static_cast<Stage>(s);
      if (read_sort) collect(second, access, span, stage, *read_sort, kReadAfterWrite, runs);
      if (!write_sort) continue;
      collect(second, access, span, stage, *write_sort, kWriteAfterWrite, runs);
      collect(second, access, span, stage, *write_sort, kWriteAfterRead, runs);
    }
  }
  std::ranges::sort(runs);
  return std::exchange(step_count_, 0);
}

void ScopedHazards::apply_commands(DispatchId next) {
  const uint32_t end = order_.commands_before(next);
  if (!order_.has_operands()) return;
  for (; command_count_ < end && !is_stopped(); ++command_count_) {
    for (auto& of_stage : histories_) {
      for (History& history : of_stage) {
        if (history.visibility == nullptr) continue;
        step_count_ +=
            history.visibility->apply(order_.dependencies_of(command_count_), operand_spans_);
      }
    }
  }
}

void ScopedHazards::record(size_t access_sort, Stage stage, SegmentSpan span, Stamp stamp) {
  History& history = histories_[static_cast<size_t>(stage)][access_sort];
  if (history.stamps == nullptr) {
    history.stamps = std::make_unique<StampTree>(segments_.count());
    if (access_sort != kPlainReads && order_.has_operands()) {
      history.visibility =
          std::make_unique<VisibilityMap>(segments_.count(), write_sort_of(stage), order_.sorts());
    }
  }
  history.stamps->raise(span, stamp);
  if (history.visibility != nullptr) history.visibility->write(span);
}

void ScopedHazards::record(DispatchId dispatch) {
  const Dispatch& d = program_.dispatch(dispatch);
  const Stage stage = order_.stage_of(dispatch);
  const Stamp stamp = dispatch.index + 1;
  for (uint32_t k = 0; k < d.access_count; ++k) {
    const Access& access = program_.accesses[d.first_access + k];
    const SegmentSpan span = segments_.span_of(d.first_access + k);
    if (access.is_atomic()) record(atomic_sort(d.atomic_op), stage, span, stamp);
    if (access.reads_plainly()) record(kPlainReads, stage, span, stamp);
    if (access.writes_plainly()) record(kPlainWrites, stage, span, stamp);
  }
}

void ScopedHazards::collect(DispatchId second, const Access& access, SegmentSpan span, Stage stage,
                            StageAccess sort, FindingKind kind, std::vector<HazardousRun>& runs) {
  const bool is_war = kind == FindingKind::kWriteAfterRead;
  const Stamp threshold = 1 + (is_war ? order_.unfinished_begin(stage, second)
                                      : order_.invisible_begin(stage, sort, second));
  const AtomicOp op = program_.dispatch(second).atomic_op;
  latest_.clear();
  for (size_t i = 0; i < kSortCount; ++i) {
    History& history = histories_[static_cast<size_t>(stage)][i];
    const bool commutes = access.is_atomic() && op != AtomicOp::kNone && i == atomic_sort(op);
    if (history.stamps == nullptr || i == (is_war ? kPlainWrites : kPlainReads) || commutes) {
      continue;
    }
    if (history.stamps->max(span) < threshold) continue;
    of_tree_.clear();
    invisible_.assign(1, span);
    if (!is_war && history.visibility != nullptr) {
      invisible_.clear();
      step_count_ += history.visibility->append_invisible(span, sort, invisible_);
    }
    for (const SegmentSpan part : invisible_) {
      history.stamps->append_runs(part, threshold, of_tree_);
    }
    keep_latest(latest_, of_tree_, merged_);
  }
  for (const StampRun& run : latest_) {
    runs.push_back({DispatchId(size_t{run.stamp} - 1), kind, run.span});
  }
}

}  // namespace interlock
