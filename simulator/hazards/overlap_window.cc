// The basic idea is a tree of maxima over the spans sorted by where they begin (McCreight's
// priority search tree, with fixed positions): those that begin before a span ends are a prefix,
// and in it the descent enters only where some span ends late enough.
#include "simulator/hazards/overlap_window.h"

#include <algorithm>
#include <numeric>

namespace interlock {

OverlapWindow::OverlapWindow(const std::vector<Entry>& entries) : positions_(entries.size()) {
  std::vector<uint32_t> by_begin(entries.size());
  std::iota(by_begin.begin(), by_begin.end(), 0);
  std::ranges::stable_sort(by_begin, {}, [&](uint32_t i) { return entries[i].span.begin; });
  sorted_.reserve(entries.size());
  for (const uint32_t entry : by_begin) {
    positions_[entry] = static_cast<uint32_t>(sorted_.size());
    sorted_.push_back(entries[entry]);
  }
  while (leaf_count_ < entries.size()) leaf_count_ *= 2;
  latest_end_.assign(2 * leaf_count_, 0);
}

void OverlapWindow::set_end(uint32_t position, uint32_t end) {
  size_t node = leaf_count_ + position;
  latest_end_[node] = end;
  for (node /= 2; node > 0; node /= 2) {
    latest_end_[node] = std::max(latest_end_[2 * node], latest_end_[2 * node + 1]);
  }
}

void OverlapWindow::slide(DispatchId begin, DispatchId end) {
  for (; entered_ < positions_.size(); ++entered_) {
    const Entry& entry = sorted_[positions_[entered_]];
    if (!(entry.dispatch < end)) break;
    set_end(positions_[entered_], entry.span.end);
  }
  for (; left_ < entered_ && sorted_[positions_[left_]].dispatch < begin; ++left_) {
    set_end(positions_[left_], 0);
  }
}

uint64_t OverlapWindow::append_overlapping(SegmentSpan span, uint64_t limit,
                                           std::vector<DispatchId>& dispatches) const {
  const auto prefix_end = std::ranges::lower_bound(
      sorted_, span.end, {}, [](const Entry& entry) { return entry.span.begin; });
  const auto prefix_count = static_cast<size_t>(prefix_end - sorted_.begin());
  uint64_t count = 0;
  size_t node = 1;
  size_t first = 0;  // The first position under `node`.
  size_t width = leaf_count_;
  // Depth first, left to right, without a stack: after a node comes the right sibling of the
  // nearest node above it that is a left child.
  while (count < limit && first < prefix_count) {
    if (latest_end_[node] > span.begin && width > 1) {
      node *= 2;
      width /= 2;
      continue;
    }
    if (latest_end_[node] > span.begin) {
      dispatches.push_back(sorted_[first].dispatch);
      ++count;
    }
    first += width;
    for (; node % 2 == 1 && node > 1; node /= 2) width *= 2;
    if (node == 1) break;
    ++node;
  }
  return count;
}

}  // namespace interlock
