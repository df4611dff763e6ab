// HazardBetween: what hazard two given dispatches have, and on which bytes.
#pragma once

#include <optional>
#include <vector>

#include "encoder/program.h"
#include "simulator/byte_segments.h"
#include "simulator/dispatch_spans.h"
#include "simulator/happens_before.h"
#include "simulator/hazards.h"

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
  // Cost: O(p log q + q) for p operands of `first` and q of the second dispatch.
  std::optional<Hazard> find(DispatchId first, FindingKind kind) const;

  // The segments on which the two conflict as `kind`, merged; ordered or not.
  std::vector<SegmentSpan> shared_segments(DispatchId first, FindingKind kind) const;

 private:
  const Program& program_;
  const HappensBefore& order_;
  const ByteSegments& segments_;
  DispatchId second_;
  DispatchSpans spans_;  // Of second_.
};

}  // namespace interlock
