// HazardBetween: what hazard two given dispatches have, and on which bytes.
#pragma once

#include <optional>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/dispatch_spans.h"
#include "simulator/order/happens_before.h"

namespace interlock {

inline constexpr FindingKind kHazardKinds[] = {
    FindingKind::kReadAfterWrite, FindingKind::kWriteAfterRead, FindingKind::kWriteAfterWrite};

// Answers about earlier dispatches and one later dispatch at a time.
class HazardBetween {
 public:
  // Requires: `order` and `segments` were built from `program`; all three outlive this.
  HazardBetween(const Program& program, const HappensBefore& order, const ByteSegments& segments)
      : program_(program), order_(order), segments_(segments) {}

  // Cost: O(p log p) for p operands.
  void set_second(DispatchId second);

  // The hazard of this kind, by the access pair of lowest positions; none if there is none.
  // Cost: O(p log q + q) for p operands of `first` and q of the second dispatch, if the two are in
  // no order; where they are, what find_invisible of HappensBefore costs for each conflicting pair.
  std::optional<Hazard> find(DispatchId first, FindingKind kind) const;

  // The segments on which the two conflict as `kind`, merged; ordered or not.
  std::vector<SegmentSpan> shared_segments(DispatchId first, FindingKind kind) const;

  // What find_invisible of HappensBefore has done so far, and pairs of operands that were asked
  // whether they are after own reads.
  uint64_t step_count() const { return step_count_; }

 private:
  bool is_separated(DispatchId first, FindingKind kind) const;
  // To all accesses of the second dispatch that make a hazard `kind`.
  bool is_visible_everywhere(DispatchId first, FindingKind kind) const;
  bool is_after_own_read(DispatchId first) const;
  bool reads_all(DispatchId first, MemoryId memory, ByteRange bytes) const;
  std::optional<ByteRange> find_invisible(DispatchId first, const Access& access, FindingKind kind,
                                          ByteRange bytes) const;

  const Program& program_;
  const HappensBefore& order_;
  const ByteSegments& segments_;
  DispatchId second_;
  DispatchSpans spans_;  // Of second_.
  mutable uint64_t step_count_ = 0;
};

// Whether the two conflict, ordered or not. Requires: `segments` was built from `program`.
// Cost: the pairs of their operands where these are few, else O(p log p) for p operands.
bool have_conflict(const Program& program, const ByteSegments& segments, DispatchId first,
                   DispatchId second);

}  // namespace interlock
