// The basic idea is that raising commutes, so nothing is ever pushed down: the stamp of a segment
// is the greatest `whole` on the path from its leaf to the root. A node whose `greatest` is not
// above what its path already gives has one stamp throughout, however much older detail lies below
// it.
#include "simulator/stamp_tree.h"

#include <algorithm>

#include "encoder/check.h"

namespace interlock {

StampTree::StampTree(uint32_t segment_count) : leaf_count_(1) {
  while (leaf_count_ < segment_count) {
    leaf_count_ *= 2;
  }
  nodes_.resize(2 * leaf_count_);
}

void StampTree::raise(SegmentSpan span, Stamp stamp) {
  if (span.is_empty()) {
    return;
  }
  const size_t first = span.begin + leaf_count_;
  const size_t last = span.end - 1 + leaf_count_;
  for (size_t left = first, right = last + 1; left < right; left /= 2, right /= 2) {
    if (left % 2 == 1) {
      nodes_[left].whole = std::max(nodes_[left].whole, stamp);
      nodes_[left].greatest = std::max(nodes_[left].greatest, stamp);
      ++left;
    }
    if (right % 2 == 1) {
      --right;
      nodes_[right].whole = std::max(nodes_[right].whole, stamp);
      nodes_[right].greatest = std::max(nodes_[right].greatest, stamp);
    }
  }
  // Every node above those contains the first or the last segment.
  for (size_t left = first / 2, right = last / 2; left > 0; left /= 2, right /= 2) {
    nodes_[left].greatest = std::max(nodes_[left].greatest, stamp);
    nodes_[right].greatest = std::max(nodes_[right].greatest, stamp);
  }
}

Stamp StampTree::max(SegmentSpan span) const {
  if (span.is_empty()) {
    return 0;
  }
  Stamp greatest = 0;
  const size_t first = span.begin + leaf_count_;
  const size_t last = span.end - 1 + leaf_count_;
  for (size_t left = first, right = last + 1; left < right; left /= 2, right /= 2) {
    if (left % 2 == 1) {
      greatest = std::max(greatest, nodes_[left++].greatest);
    }
    if (right % 2 == 1) {
      greatest = std::max(greatest, nodes_[--right].greatest);
    }
  }
  for (size_t left = first / 2, right = last / 2; left > 0; left /= 2, right /= 2) {
    greatest = std::max({greatest, nodes_[left].whole, nodes_[right].whole});
  }
  return greatest;
}

struct StampTree::RunQuery {
  SegmentSpan span;
  Stamp threshold;
  size_t first_run;  // Runs before it belong to earlier queries.
  std::vector<StampRun>& runs;

  void append(SegmentSpan covered, Stamp stamp) {
    const SegmentSpan part{std::max(covered.begin, span.begin), std::min(covered.end, span.end)};
    if (runs.size() > first_run && runs.back().span.end == part.begin &&
        runs.back().stamp == stamp) {
      runs.back().span.end = part.end;
    } else {
      runs.push_back({part, stamp});
    }
  }
};

void StampTree::append_runs(SegmentSpan span, Stamp threshold, std::vector<StampRun>& runs) const {
  INTERLOCK_CHECK(threshold > 0);
  if (span.is_empty()) {
    return;
  }
  RunQuery query{span, threshold, runs.size(), runs};
  visit(1, {0, static_cast<uint32_t>(leaf_count_)}, 0, query);
}

void StampTree::visit(size_t node, SegmentSpan covered, Stamp inherited, RunQuery& query) const {
  if (covered.end <= query.span.begin || query.span.end <= covered.begin) {
    return;
  }
  inherited = std::max(inherited, nodes_[node].whole);
  if (nodes_[node].greatest <= inherited) {
    if (inherited >= query.threshold) {
      query.append(covered, inherited);
    }
    return;
  }
  if (nodes_[node].greatest < query.threshold) {
    return;
  }
  const uint32_t middle = covered.begin + (covered.end - covered.begin) / 2;
  visit(2 * node, {covered.begin, middle}, inherited, query);
  visit(2 * node + 1, {middle, covered.end}, inherited, query);
}

}  // namespace interlock
