// DispatchSpans: which byte segments one dispatch touches, by sort of access, as sorted disjoint
// spans. So what is asked of two dispatches costs their operands, not the pairs of their operands.
#pragma once

#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"

namespace interlock {

struct DispatchSpans {
  // Sorted; neither overlapping nor touching.
  std::vector<SegmentSpan> reads;  // Updates are reads and writes.
  std::vector<SegmentSpan> writes;
  std::vector<SegmentSpan> atomics;
};

// Requires: `segments` was built from `program`. Cost: O(p log p) for p operands.
DispatchSpans spans_of(const Program& program, const ByteSegments& segments, DispatchId dispatch);

// Sorts, and joins what overlaps or touches.
void merge_spans(std::vector<SegmentSpan>& spans);

// Whether a segment of `span` is in `merged`. Cost: O(log n).
bool overlaps(const std::vector<SegmentSpan>& merged, SegmentSpan span);

// Appends what two merged lists have in common.
void append_common(const std::vector<SegmentSpan>& a, const std::vector<SegmentSpan>& b,
                   std::vector<SegmentSpan>& common);

}  // namespace interlock
