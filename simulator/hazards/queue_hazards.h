// QueueHazards: on which bytes each dispatch of a program with several queues has a hazard with the
// latest conflicting accesses before it, per place.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/access_history.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/stamp_tree.h"
#include "simulator/hazards/clean_scan.h"
#include "simulator/hazards/scoped_hazards.h"
#include "simulator/order/queue_order.h"

namespace interlock {

class QueueHazards {
 public:
  // Requires: `order` and `segments` were built from `program`; all three outlive this.
  QueueHazards(const Program& program, const QueueOrder& order, const ByteSegments& segments);

  // As ScopedHazards::find_runs(), with the latest dispatches of each place; what the host lost is
  // a run of its own. Ends where that takes more than `step_limit` steps, or a stop was asked for.
  // Cost: as CleanScan as long as that says that there is none. Then O(places log segments) per
  // access and per run, of all dispatches so far; where the clocks leave something open, also
  // QueueOrder::find_invisible() for each run.
  uint64_t find_runs(DispatchId second, std::vector<HazardousRun>& runs,
                     uint64_t step_limit = UINT64_MAX);

 private:
  // The accesses at one place so far: dispatch indices plus 1. Null: none. Atomics are reads and
  // writes.
  using History = std::array<std::unique_ptr<StampTree>, kSortCount>;

  bool is_clean(DispatchId second);
  void record(DispatchId dispatch);
  bool is_over() const;
  SegmentSpan span_around(MemoryId memory, ByteRange bytes) const;
  void collect_lost(DispatchId second, uint32_t access_index, std::vector<HazardousRun>& runs);
  void raise(History& history, size_t access_sort, SegmentSpan span, Stamp stamp);
  // The accesses of `history` are those of `place`, or some of them.
  void collect(DispatchId second, const Access& access, SegmentSpan span, const History& history,
               PlaceIndex place, FindingKind kind, std::vector<HazardousRun>& runs);
  void collect(DispatchId second, const Access& access, SegmentSpan span, const History& history,
               PlaceIndex place, std::vector<HazardousRun>& runs);
  bool is_invisible(const StampRun& run, DispatchId second, StageAccess sort, MemoryId memory);

  const Program& program_;
  const QueueOrder& order_;
  const ByteSegments& segments_;
  std::optional<CleanScan> clean_;  // As long as there is no hazard.
  DispatchId known_clean_;          // By it: that of the last call.
  uint32_t scanned_ = 0;            // Dispatches that it has.
  std::vector<History> histories_;  // By place; empty as long as there is `clean_`.
  LostBytes lost_;
  uint32_t visited_ = 0;     // Statements that are recorded.
  uint64_t step_count_ = 0;  // Of this call.
  uint64_t step_limit_ = 0;
  std::vector<StampRun> latest_;
  std::vector<StampRun> of_tree_;
  std::vector<StampRun> merged_;
};

}  // namespace interlock
