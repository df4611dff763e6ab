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
// The latest access is enough to know whether there is a hazard: if it is ordered before an access,
// so are all that came earlier, for epochs never decrease. What is hidden by it is another
// question: between three writes of one byte in one epoch there are three hazards. find_hazards
// lists two, each write with the one before it, and find_all_hazards all three.
#include "simulator/hazards/hazards.h"

#include <algorithm>
#include <optional>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/bytes/access_history.h"
#include "simulator/hazards/hazard_between.h"
#include "simulator/hazards/scoped_hazards.h"
#include "simulator/order/dispatch_spans.h"

namespace interlock {

namespace {

struct Candidate {
  DispatchId first;
  FindingKind kind;

  auto operator<=>(const Candidate&) const = default;
};

// The search state of find_hazards: what came before, and the hazards of one dispatch.
class HazardSearch {
 public:
  HazardSearch(const Program& program, const HappensBefore& order, const ByteSegments& segments)
      : program_(program),
        order_(order),
        segments_(segments),
        scan_(program, segments),
        between_(program, order, segments) {}

  LatestConflicts latest(DispatchId second) const { return scan_.latest(second); }
  void record(DispatchId second) { scan_.record(second); }

  bool is_hazardous(DispatchId second, const LatestConflicts& latest) const {
    return latest.write > order_.memory_epoch_begin(second).index ||
           latest.read > order_.execution_epoch_begin(second).index;
  }

  // Appends the hazards of `second` with earlier dispatches.
  void append_hazards(DispatchId second, std::vector<Hazard>& hazards) {
    candidates_.clear();
    // Each byte once, however many operands of the dispatch have it.
    const DispatchSpans spans = spans_of(program_, segments_, second);
    collect(second, AccessMode::kRead, spans.reads);
    collect(second, AccessMode::kWrite, spans.writes);
    collect(second, AccessMode::kAtomic, spans.atomics);
    std::sort(candidates_.begin(), candidates_.end());
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
    if (!candidates_.empty()) between_.set_second(second);
    for (const Candidate& candidate : candidates_) {
      if (is_stopped()) return;
      const std::optional<Hazard> hazard = between_.find(candidate.first, candidate.kind);
      INTERLOCK_CHECK(hazard.has_value());
      hazards.push_back(*hazard);
    }
  }

 private:
  void collect(DispatchId second, AccessMode mode, const std::vector<SegmentSpan>& spans) {
    Access access;
    access.mode = mode;
    for (const SegmentSpan span : spans) {
      if (is_stopped()) return;
      collect(second, access, span);
    }
  }

  void collect(DispatchId second, const Access& access, SegmentSpan span) {
    const Stamp memory_begin = order_.memory_epoch_begin(second).index + 1;
    const Stamp execution_begin = order_.execution_epoch_begin(second).index + 1;
    const AtomicOp op = program_.dispatch(second).atomic_op;
    const bool reads = has_read_side(access);
    const bool writes = has_write_side(access);
    if (scan_.history().latest(span, access, op, AccessSide::kWrites) >= memory_begin) {
      scan_.history().latest_runs(span, access, op, AccessSide::kWrites, memory_begin, runs_);
      for (const StampRun& run : runs_) {
        if (reads) {
          candidates_.push_back({DispatchId(run.stamp - 1), FindingKind::kReadAfterWrite});
        }
        if (writes) {
          candidates_.push_back({DispatchId(run.stamp - 1), FindingKind::kWriteAfterWrite});
        }
      }
    }
    if (writes && scan_.history().latest(span, access, op, AccessSide::kReads) >= execution_begin) {
      scan_.history().latest_runs(span, access, op, AccessSide::kReads, execution_begin, runs_);
      for (const StampRun& run : runs_) {
        candidates_.push_back({DispatchId(run.stamp - 1), FindingKind::kWriteAfterRead});
      }
    }
  }

  const Program& program_;
  const HappensBefore& order_;
  const ByteSegments& segments_;
  ConflictScan scan_;
  HazardBetween between_;
  std::vector<Candidate> candidates_;
  std::vector<StampRun> runs_;
};

}  // namespace

ConflictKinds conflict_kinds(const Access& first, AtomicOp first_op, const Access& second,
                             AtomicOp second_op) {
  if (first.memory != second.memory || !share_a_byte(first.range, second.range) ||
      commute(first, first_op, second, second_op)) {
    return {};
  }
  return {.raw = has_write_side(first) && has_read_side(second),
          .war = has_read_side(first) && has_write_side(second),
          .waw = has_write_side(first) && has_write_side(second)};
}

std::vector<Hazard> find_hazards(const Program& program, const HappensBefore& order,
                                 uint64_t limit) {
  return find_hazards(program, order, ByteSegments(program), limit);
}

std::vector<Hazard> find_hazards(const Program& program, const HappensBefore& order,
                                 const ByteSegments& segments, uint64_t limit,
                                 std::span<ConflictObserver* const> observers) {
  std::vector<Hazard> hazards;
  if (order.has_scopes()) {
    if (!observers.empty()) scan_conflicts(program, segments, observers);
    const bool is_complete =
        find_scoped_hazards(program, order, segments, limit, UINT64_MAX, hazards);
    INTERLOCK_CHECK(is_complete || is_stopped());
    return hazards;
  }
  HazardSearch search(program, order, segments);
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    if ((hazards.size() >= limit && observers.empty()) || is_stopped()) break;
    const DispatchId second(i);
    const LatestConflicts latest = search.latest(second);
    for (ConflictObserver* const observer : observers) observer->see(second, latest);
    if (hazards.size() < limit && search.is_hazardous(second, latest)) {
      search.append_hazards(second, hazards);
    }
    search.record(second);
  }
  hazards.resize(std::min<uint64_t>(hazards.size(), limit));
  return hazards;
}

ConflictKinds hazard_kinds(const Program& program, const HappensBefore& order, DispatchId first,
                           DispatchId second) {
  ConflictKinds kinds;
  const AtomicOp first_op = program.dispatch(first).atomic_op;
  const AtomicOp second_op = program.dispatch(second).atomic_op;
  const Stage stage = stage_of(program.dispatch(second));
  const bool is_ordered = order.executes_before(first, second);
  for (const Access& a : program.accesses_of(first)) {
    for (const Access& b : program.accesses_of(second)) {
      const ConflictKinds pair = conflict_kinds(a, first_op, b, second_op);
      const ByteRange shared = intersection(a.range, b.range);
      const auto is_invisible = [&](std::optional<StageAccess> sort) {
        return order.find_invisible(first, second, *sort, b.memory, shared).has_value();
      };
      kinds.raw = kinds.raw || (pair.raw && is_invisible(read_sort_of(stage, b)));
      kinds.war = kinds.war || (pair.war && !is_ordered);
      kinds.waw = kinds.waw || (pair.waw && is_invisible(write_sort_of(stage, b)));
    }
  }
  return kinds;
}

}  // namespace interlock
