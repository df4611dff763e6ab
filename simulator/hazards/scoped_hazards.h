// ScopedHazards: on which bytes each dispatch of a program with scoped barriers has a hazard with
// the latest conflicting accesses before it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/stamp_tree.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/scoped_order.h"
#include "simulator/order/visibility_map.h"

namespace interlock {

// A run of bytes on which `first` is the latest dispatch of its stage that conflicts with the
// second one as `kind`, and nothing separates them.
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
  // has no hazard with any earlier dispatch. Adds the work done to `step_count`.
  // Requires: `second` is later than in the last call.
  // Cost: O(log segments) per access and per run, of all dispatches since the last call; where
  // dependencies have operands, also the runs of different reach within each access.
  void find_runs(DispatchId second, std::vector<HazardousRun>& runs, uint64_t& step_count);

 private:
  // The sorts of earlier accesses, in each stage. Atomics of one operation commute.
  static constexpr size_t kPlainReads = 0;
  static constexpr size_t kPlainWrites = 1;
  static constexpr size_t kFirstAtomic = 2;
  static constexpr size_t kTreeCount = kFirstAtomic + static_cast<size_t>(AtomicOp::kXor) + 1;

  // The accesses of one sort so far. Atomics are reads and writes.
  struct History {
    std::unique_ptr<StampTree> stamps;          // Null: none. Dispatch indices plus 1.
    std::unique_ptr<VisibilityMap> visibility;  // Null: no dependency has operands, or only reads.
  };

  static size_t atomic_tree(AtomicOp op) { return kFirstAtomic + static_cast<size_t>(op); }

  void record(DispatchId dispatch);
  void record(size_t tree, Stage stage, SegmentSpan span, Stamp stamp);
  void apply_commands(DispatchId next, uint64_t& step_count);
  void collect(DispatchId second, uint32_t access, std::vector<HazardousRun>& runs,
               uint64_t& step_count);
  void collect_reads(DispatchId second, const Access& access, SegmentSpan span, Stage stage,
                     std::vector<HazardousRun>& runs);
  void collect_writes(DispatchId second, const Access& access, SegmentSpan span, Stage stage,
                      StageAccess sort, FindingKind kind, std::vector<HazardousRun>& runs,
                      uint64_t& step_count);
  void append_invisible(History& history, SegmentSpan span, StageAccess sort, Stamp threshold,
                        uint64_t& step_count);
  void merge_latest();
  void append_latest(FindingKind kind, std::vector<HazardousRun>& runs) const;

  const Program& program_;
  const ScopedOrder& order_;
  const ByteSegments& segments_;
  std::vector<SegmentSpan> operand_spans_;  // Of all dependencies.
  std::array<std::array<History, kTreeCount>, kDispatchStageCount> histories_;
  uint32_t visited_ = 0;        // Dispatches that are recorded.
  uint32_t command_count_ = 0;  // Commands that have been applied.
  std::vector<StampRun> latest_;
  std::vector<StampRun> of_tree_;
  std::vector<StampRun> merged_;
  std::vector<SegmentSpan> invisible_;
};

// find_hazards (hazards.h) for programs with scoped barriers. `step_limit` bounds the work; returns
// false if it was reached: then hazards may be missing.
bool find_scoped_hazards(const Program& program, const HappensBefore& order,
                         const ByteSegments& segments, uint64_t limit, uint64_t step_limit,
                         std::vector<Hazard>& hazards);

}  // namespace interlock
