// The basic idea is to visit dispatches in issue order and to know, per byte segment, the latest
// reader and the latest writer. Barriers are global, so the dispatches that an earlier one is
// unordered with are exactly those from one index on: the begin of the epoch. One range maximum per
// access then says whether a hazard exists, and the stamps above that index name its first members.
//
// For example, with the segments [0:64), [64:128) and [128:192) of the memory m:
//
//   0  load: dispatch Load writes m[0:128]
//   1  use:  dispatch Use reads m[0:64] writes m[128:192]
//      barrier execution
//   2  next: dispatch Next reads m[64:128] writes m[0:64]
//
// A stamp is a dispatch index plus 1, and 0 is nobody. By segment:
//
//                latest writer   latest reader
//   after load   1  1  0         0  0  0
//   after use    1  1  2         2  0  0
//   after next   3  1  2         2  3  0
//
// - `use` reads the first segment. Its memory epoch begins at dispatch 0, so that each writer with
//   a stamp of at least 1 is unordered: load has 1, a RAW.
// - `next` comes after a barrier that only orders: its execution epoch begins at dispatch 2, its
//   memory epoch still at 0. It reads the second segment, where the writer has 1: a RAW, ordered
//   and not visible. It writes the first, where the writer has 1: a WAW of the same sort. The
//   reader there has 2, which is below 3, the stamp of the first dispatch in the execution epoch:
//   no WAR.
//
// Runs of bytes say so at less cost (conflict_scan.h); segments are numbered only once there is a
// hazard to tell.
//
// The latest access is enough to know whether there is a hazard: if it is ordered before an access,
// so are all that came earlier, for epochs never decrease. What is hidden by it is another
// question: between three writes of one byte in one epoch there are three hazards. find_hazards
// lists two, each write with the one before it, and find_all_hazards all three: HazardPairs names
// the earlier dispatches of each one, and what it examines is what there is to list.
#include "simulator/hazards/hazards.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/bytes/access_history.h"
#include "simulator/hazards/hazard_between.h"
#include "simulator/hazards/hazard_pairs.h"
#include "simulator/hazards/queue_hazards.h"
#include "simulator/hazards/scoped_hazards.h"
#include "simulator/order/dispatch_spans.h"

namespace interlock {

namespace {

// Overlaps examined per hazard that may be listed. Most pairs of dispatches overlap in a few runs
// of bytes; hostile ones in as many as they have operands.
constexpr uint64_t kExaminationsPerHazard = 64;
constexpr uint64_t kExaminationsMin = 1'000'000;

// What came before a dispatch, and so its hazards: by epochs, beside scoped barriers by stage, with
// queues by place.
class HazardSearch {
 public:
  HazardSearch(const Program& program, const HappensBefore& order, const ByteSegments& segments)
      : program_(program),
        order_(order),
        segments_(segments),
        scan_(program, segments),
        between_(program, order, segments) {
    if (order.has_scopes()) scoped_.emplace(program, order.scopes(), segments);
    if (order.has_queues()) queues_.emplace(program, order.queues(), segments);
  }

  HazardList find(const HazardOptions& options) {
    const bool needs_scan = !has_histories() || !options.observers.empty();
    bool is_over = false;
    for (size_t i = 0; i < program_.dispatches.size() && !is_stopped(); ++i) {
      const DispatchId second(i);
      if (is_over && options.observers.empty()) break;
      ScannedConflicts latest;
      if (needs_scan) latest = scan_.find(second);
      for (ConflictObserver* const observer : options.observers) observer->see(second, latest);
      if (!is_over && (has_histories() || has_hazard(second, latest))) {
        append_hazards(second, options.scoped_step_limit);
        is_over = list_.is_cut || list_.hazards.size() > options.limit;
      }
      if (needs_scan) scan_.record(second);
    }
    list_.has_more = list_.hazards.size() > options.limit;
    if (list_.has_more) list_.hazards.resize(options.limit);
    return std::move(list_);
  }

 private:
  // The hazards of `second` with earlier dispatches. Apart: most have none.
  [[gnu::noinline]] void append_hazards(DispatchId second, uint64_t step_limit) {
    if (scoped_) scoped_step_count_ += scoped_->find_runs(second, runs_);
    if (queues_) {
      const uint64_t steps_left = step_limit - std::min(step_limit, scoped_step_count_);
      const uint64_t steps = queues_->find_runs(second, runs_, steps_left);
      scoped_step_count_ += steps;
      // Then there may be more.
      if ((list_.is_cut = steps > steps_left)) return;
    }
    if (!has_histories()) find_runs(second);
    runs_.erase(std::unique(runs_.begin(), runs_.end()), runs_.end());
    if (!runs_.empty()) between_.set_second(second);
    const auto is_cut = [&] { return scoped_step_count_ + between_.step_count() > step_limit; };
    for (const HazardousRun& run : runs_) {
      if (is_stopped()) return;
      const std::optional<Hazard> hazard = between_.find(run.first, run.kind);
      INTERLOCK_CHECK(hazard.has_value());
      list_.hazards.push_back(*hazard);
      if ((list_.is_cut = is_cut())) return;
    }
    list_.is_cut = is_cut() && second.index + 1 < program_.dispatches.size();
  }

  // Scopes and queues keep their own; else `scan_` has it.
  bool has_histories() const { return scoped_.has_value() || queues_.has_value(); }

  // By epochs: its latest conflicts lie within one.
  bool has_hazard(DispatchId second, const ScannedConflicts& latest) const {
    const OrderWindow window = order_.window_of(second);
    return latest.write > window.invisible_begin || latest.any > window.unfinished_begin;
  }

  // As ScopedHazards::find_runs(), by epochs. Requires: has_hazard().
  void find_runs(DispatchId second) {
    runs_.clear();
    // Each byte once, however many operands of the dispatch have it.
    const DispatchSpans spans = spans_of(program_, segments_, second);
    collect(second, AccessMode::kRead, spans.reads);
    collect(second, AccessMode::kWrite, spans.writes);
    collect(second, AccessMode::kAtomic, spans.atomics);
    std::ranges::sort(runs_);
  }

  void collect(DispatchId second, AccessMode mode, const std::vector<SegmentSpan>& spans) {
    using enum FindingKind;
    Access access;
    access.mode = mode;
    for (const SegmentSpan span : spans) {
      if (is_stopped()) return;
      if (access.has_read_side()) collect(second, access, span, kReadAfterWrite);
      if (!access.has_write_side()) continue;
      collect(second, access, span, kWriteAfterWrite);
      collect(second, access, span, kWriteAfterRead);
    }
  }

  void collect(DispatchId second, const Access& access, SegmentSpan span, FindingKind kind) {
    const bool is_war = kind == FindingKind::kWriteAfterRead;
    const DispatchId begin =
        is_war ? order_.execution_epoch_begin(second) : order_.memory_epoch_begin(second);
    scan_.history().latest_runs(span, access, program_.dispatch(second).atomic_op,
                                is_war ? AccessSide::kReads : AccessSide::kWrites, begin.index + 1,
                                latest_runs_);
    for (const StampRun& run : latest_runs_) {
      runs_.push_back({DispatchId(run.stamp - 1), kind, run.span});
    }
  }

  const Program& program_;
  const HappensBefore& order_;
  const ByteSegments& segments_;
  ConflictScan scan_;
  std::optional<ScopedHazards> scoped_;  // None: there are no scopes.
  std::optional<QueueHazards> queues_;   // None: there is one queue.
  uint64_t scoped_step_count_ = 0;
  HazardBetween between_;
  std::vector<HazardousRun> runs_;
  std::vector<StampRun> latest_runs_;
  HazardList list_;
};

}  // namespace

ConflictKinds conflict_kinds(const Access& first, AtomicOp first_op, const Access& second,
                             AtomicOp second_op) {
  if (first.memory != second.memory || !share_a_byte(first.range, second.range) ||
      commute(first, first_op, second, second_op)) {
    return {};
  }
  return {.raw = first.has_write_side() && second.has_read_side(),
          .war = first.has_read_side() && second.has_write_side(),
          .waw = first.has_write_side() && second.has_write_side()};
}

HazardList find_hazards(const Program& program, const HappensBefore& order,
                        const HazardOptions& options) {
  return find_hazards(program, order, ByteSegments(program), options);
}

HazardList find_hazards(const Program& program, const HappensBefore& order,
                        const ByteSegments& segments, const HazardOptions& options) {
  return HazardSearch(program, order, segments).find(options);
}

// One hazard more than may be listed tells whether there are more.
uint64_t examinations_max(uint64_t hazard_limit) {
  const uint64_t hazard_count = std::min(hazard_limit, UINT64_MAX / kExaminationsPerHazard - 1) + 1;
  return std::max(hazard_count * kExaminationsPerHazard, kExaminationsMin);
}

HazardList find_all_hazards(const Program& program, const HappensBefore& order, uint64_t limit) {
  return find_all_hazards(program, order, ByteSegments(program), limit);
}

HazardList find_all_hazards(const Program& program, const HappensBefore& order,
                            const ByteSegments& segments, uint64_t limit) {
  HazardList list;
  HazardPairs pairs(program, order, segments);
  HazardBetween between(program, order, segments);
  std::vector<DispatchId> firsts;
  uint64_t examination_limit = examinations_max(limit);
  for (size_t k = 0; k < program.dispatches.size() && list.is_complete(); ++k) {
    if (is_stopped()) return list;
    list.is_cut = !pairs.find_firsts(DispatchId(k), examination_limit, firsts);
    if (firsts.empty()) continue;
    between.set_second(DispatchId(k));
    const uint64_t steps_before = between.step_count();
    for (const DispatchId first : firsts) {
      if (is_stopped()) return list;
      for (const FindingKind kind : kHazardKinds) {
        const std::optional<Hazard> hazard = between.find(first, kind);
        if (!hazard.has_value()) continue;
        list.has_more = list.hazards.size() == limit;
        if (list.has_more) return list;
        list.hazards.push_back(*hazard);
      }
    }
    examination_limit -= std::min(examination_limit, between.step_count() - steps_before);
  }
  return list;
}

ConflictKinds hazard_kinds(const Program& program, const HappensBefore& order, DispatchId first,
                           DispatchId second) {
  const ByteSegments segments(program);
  HazardBetween between(program, order, segments);
  between.set_second(second);
  return {.raw = between.find(first, FindingKind::kReadAfterWrite).has_value(),
          .war = between.find(first, FindingKind::kWriteAfterRead).has_value(),
          .waw = between.find(first, FindingKind::kWriteAfterWrite).has_value()};
}

}  // namespace interlock
