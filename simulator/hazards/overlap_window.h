// OverlapWindow: the spans of a window of dispatches, listed by what they overlap.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"

namespace interlock {

class OverlapWindow {
 public:
  struct Entry {
    SegmentSpan span;
    DispatchId dispatch;
  };

  // Requires: `entries` are in order of dispatch, and no span is empty. The window starts empty.
  explicit OverlapWindow(const std::vector<Entry>& entries);

  // Lets the window hold the entries of dispatches [begin, end). Neither may ever decrease.
  // Cost: O(log n) per entry that enters or leaves.
  void slide(DispatchId begin, DispatchId end);

  // Appends the dispatches of the entries that overlap `span`, once per entry, in no order, but at
  // most `limit` of them. Returns how many. Cost: O((1 + result) log n).
  uint64_t append_overlapping(SegmentSpan span, uint64_t limit,
                              std::vector<DispatchId>& dispatches) const;

 private:
  void set_end(uint32_t position, uint32_t end);

  std::vector<Entry> sorted_;         // By the begin of the span.
  std::vector<uint32_t> positions_;   // In sorted_, in order of dispatch.
  std::vector<uint32_t> latest_end_;  // A tree over sorted_: the maximum end; 0 outside the window.
  size_t leaf_count_ = 1;
  size_t entered_ = 0;  // Of positions_.
  size_t left_ = 0;
};

}  // namespace interlock
