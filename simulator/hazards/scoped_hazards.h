// ScopedHazards: on which bytes each dispatch of a program with scoped barriers has a hazard with
// the latest conflicting accesses before it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/access_history.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/stamp_tree.h"
#include "simulator/order/scoped_order.h"
#include "simulator/order/visibility_map.h"

namespace interlock {

// A run of bytes on which `first` is the latest dispatch, of its stage beside scoped barriers, that
// conflicts with the second one as `kind`, and nothing separates them.
struct HazardousRun {
  DispatchId first;
  FindingKind kind = FindingKind::kReadAfterWrite;
  SegmentSpan span;

  auto operator<=>(const HazardousRun& other) const {
    return first != other.first ? first <=> other.first : kind <=> other.kind;
  }
  bool operator==(const HazardousRun& other) const {
    return first == other.first && kind == other.kind;
  }
};

class ScopedHazards {
 public:
  // Requires: `order` and `segments` were built from `program`; all three outlive this.
  ScopedHazards(const Program& program, const ScopedOrder& order, const ByteSegments& segments);

  // Replaces `runs` by those of `second`, sorted by first dispatch, then kind: empty iff `second`
  // has no hazard with any earlier dispatch. Returns the work done, in steps.
  // Requires: `second` is later than in the last call.
  // Cost: O(log segments) per access and per run, of all dispatches since the last call; where
  // dependencies have operands, also the runs of different reach within each access.
  uint64_t find_runs(DispatchId second, std::vector<HazardousRun>& runs);

 private:
  // The accesses of one sort in one stage so far. Atomics are reads and writes.
  struct History {
    std::unique_ptr<StampTree> stamps;          // Null: none. Dispatch indices plus 1.
    std::unique_ptr<VisibilityMap> visibility;  // Null: no dependency has operands, or only reads.
  };

  void record(DispatchId dispatch);
  void record(size_t access_sort, Stage stage, SegmentSpan span, Stamp stamp);
  void apply_commands(DispatchId next);
  // The runs of `span` on which earlier accesses in `stage` have the hazard `kind` with `access`,
  // which is of sort `sort`.
  void collect(DispatchId second, const Access& access, SegmentSpan span, Stage stage,
               StageAccess sort, FindingKind kind, std::vector<HazardousRun>& runs);

  const Program& program_;
  const ScopedOrder& order_;
  const ByteSegments& segments_;
  std::vector<SegmentSpan> operand_spans_;  // Of all dependencies.
  std::array<std::array<History, kSortCount>, kDispatchStageCount> histories_;
  uint32_t visited_ = 0;        // Dispatches that are recorded.
  uint32_t command_count_ = 0;  // Commands that have been applied.
  uint64_t step_count_ = 0;     // Since the last call.
  std::vector<StampRun> latest_;
  std::vector<StampRun> of_tree_;
  std::vector<StampRun> merged_;
  std::vector<SegmentSpan> invisible_;
};

}  // namespace interlock
