// The basic idea is that of find_hazards, once per stage: of the accesses of one stage to a byte,
// the latest is separated last, so if it is separated, all are. Its dispatch index is in a stamp
// tree, and the clocks of ScopedOrder are thresholds on it. Where the operands of dependencies make
// a difference between bytes, the clocks say only what is visible everywhere; what they leave open
// a VisibilityMap decides.
#include "simulator/hazards/scoped_hazards.h"

#include <algorithm>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/bytes/access_history.h"
#include "simulator/hazards/hazard_between.h"
#include "simulator/order/happens_before.h"

namespace interlock {

ScopedHazards::ScopedHazards(const Program& program, const ScopedOrder& order,
                             const ByteSegments& segments)
    : program_(program), order_(order), segments_(segments) {
  operand_spans_.reserve(program.barrier_operands.size());
  for (size_t i = 0; i < program.barrier_operands.size(); ++i) {
    operand_spans_.push_back(segments.span_of_operand(i));
  }
}

void ScopedHazards::find_runs(DispatchId second, std::vector<HazardousRun>& runs,
                              uint64_t& step_count) {
  runs.clear();
  for (; visited_ < second.index; ++visited_) {
    const DispatchId dispatch(visited_);
    apply_commands(dispatch, step_count);
    record(dispatch);
  }
  apply_commands(second, step_count);
  const uint32_t access_count = program_.dispatch(second).access_count;
  for (uint32_t k = 0; k < access_count; ++k) collect(second, k, runs, step_count);
  std::sort(runs.begin(), runs.end());
}

void ScopedHazards::apply_commands(DispatchId next, uint64_t& step_count) {
  const uint32_t end = order_.commands_before(next);
  if (!order_.has_operands()) return;
  for (; command_count_ < end && !is_stopped(); ++command_count_) {
    for (auto& of_stage : histories_) {
      for (History& history : of_stage) {
        if (history.visibility == nullptr) continue;
        step_count +=
            history.visibility->apply(order_.dependencies_of(command_count_), operand_spans_);
      }
    }
  }
}

void ScopedHazards::record(size_t tree, Stage stage, SegmentSpan span, Stamp stamp) {
  History& history = histories_[static_cast<size_t>(stage)][tree];
  if (history.stamps == nullptr) {
    history.stamps = std::make_unique<StampTree>(segments_.count());
    if (tree != kPlainReads && order_.has_operands()) {
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
    if (access.is_atomic()) record(atomic_tree(d.atomic_op), stage, span, stamp);
    if (access.reads()) record(kPlainReads, stage, span, stamp);
    if (access.writes()) record(kPlainWrites, stage, span, stamp);
  }
}

void ScopedHazards::collect(DispatchId second, uint32_t access, std::vector<HazardousRun>& runs,
                            uint64_t& step_count) {
  const Dispatch& dispatch = program_.dispatch(second);
  const Access& a = program_.accesses[dispatch.first_access + access];
  const SegmentSpan span = segments_.span_of(dispatch.first_access + access);
  const std::optional<StageAccess> read_sort = read_sort_of(order_.stage_of(second), a);
  const std::optional<StageAccess> write_sort = write_sort_of(order_.stage_of(second), a);
  for (size_t s = 0; s < kDispatchStageCount; ++s) {
    const Stage stage = static_cast<Stage>(s);
    if (read_sort.has_value()) {
      collect_writes(second, a, span, stage, *read_sort, FindingKind::kReadAfterWrite, runs,
                     step_count);
    }
    if (write_sort.has_value()) {
      collect_writes(second, a, span, stage, *write_sort, FindingKind::kWriteAfterWrite, runs,
                     step_count);
      collect_reads(second, a, span, stage, runs);
    }
  }
}

void ScopedHazards::collect_reads(DispatchId second, const Access& access, SegmentSpan span,
                                  Stage stage, std::vector<HazardousRun>& runs) {
  const Stamp threshold = order_.unfinished_begin(stage, second) + 1;
  const AtomicOp op = program_.dispatch(second).atomic_op;
  latest_.clear();
  for (size_t tree = 0; tree < kTreeCount; ++tree) {
    const History& history = histories_[static_cast<size_t>(stage)][tree];
    const bool commutes = access.is_atomic() && op != AtomicOp::kNone && tree == atomic_tree(op);
    if (history.stamps == nullptr || tree == kPlainWrites || commutes) continue;
    if (history.stamps->max(span) < threshold) continue;
    of_tree_.clear();
    history.stamps->append_runs(span, threshold, of_tree_);
    merge_latest();
  }
  append_latest(FindingKind::kWriteAfterRead, runs);
}

void ScopedHazards::collect_writes(DispatchId second, const Access& access, SegmentSpan span,
                                   Stage stage, StageAccess sort, FindingKind kind,
                                   std::vector<HazardousRun>& runs, uint64_t& step_count) {
  const Stamp threshold = order_.invisible_begin(stage, sort, second) + 1;
  const AtomicOp op = program_.dispatch(second).atomic_op;
  latest_.clear();
  for (size_t tree = 0; tree < kTreeCount; ++tree) {
    History& history = histories_[static_cast<size_t>(stage)][tree];
    const bool commutes = access.is_atomic() && op != AtomicOp::kNone && tree == atomic_tree(op);
    if (history.stamps == nullptr || tree == kPlainReads || commutes) continue;
    if (history.stamps->max(span) < threshold) continue;
    of_tree_.clear();
    append_invisible(history, span, sort, threshold, step_count);
    merge_latest();
  }
  append_latest(kind, runs);
}

// To of_tree_: the stamps of the writes that `sort` does not see.
void ScopedHazards::append_invisible(History& history, SegmentSpan span, StageAccess sort,
                                     Stamp threshold, uint64_t& step_count) {
  if (history.visibility == nullptr) {
    history.stamps->append_runs(span, threshold, of_tree_);
    return;
  }
  invisible_.clear();
  step_count += history.visibility->append_invisible(span, sort, invisible_);
  for (const SegmentSpan part : invisible_) {
    history.stamps->append_runs(part, threshold, of_tree_);
  }
}

// Whatever is hazardous in one tree stays hidden behind a later access in another one: that is then
// hazardous too.
void ScopedHazards::merge_latest() {
  if (latest_.empty()) {
    latest_.swap(of_tree_);
    return;
  }
  merged_.clear();
  zip_runs(latest_, of_tree_, [&](SegmentSpan span, Stamp a, Stamp b) {
    merged_.push_back({span, std::max(a, b)});
  });
  latest_.swap(merged_);
}

void ScopedHazards::append_latest(FindingKind kind, std::vector<HazardousRun>& runs) const {
  for (const StampRun& run : latest_) {
    runs.push_back({DispatchId(size_t{run.stamp} - 1), kind, run.span});
  }
}

bool find_scoped_hazards(const Program& program, const HappensBefore& order,
                         const ByteSegments& segments, uint64_t limit, uint64_t step_limit,
                         std::vector<Hazard>& hazards) {
  ScopedHazards search(program, order.scopes(), segments);
  HazardBetween between(program, order, segments);
  std::vector<HazardousRun> runs;
  uint64_t step_count = 0;
  for (size_t i = 0; i < program.dispatches.size() && hazards.size() < limit; ++i) {
    if (is_stopped()) return false;
    const DispatchId second(i);
    search.find_runs(second, runs, step_count);
    runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
    if (!runs.empty()) between.set_second(second);
    for (const HazardousRun& run : runs) {
      if (is_stopped()) return false;
      const std::optional<Hazard> hazard = between.find(run.first, run.kind);
      INTERLOCK_CHECK(hazard.has_value());
      hazards.push_back(*hazard);
      if (step_count + between.step_count() > step_limit) return false;
    }
    if (step_count + between.step_count() > step_limit) return i + 1 == program.dispatches.size();
  }
  hazards.resize(std::min<uint64_t>(hazards.size(), limit));
  return true;
}

}  // namespace interlock
