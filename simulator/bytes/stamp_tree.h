// StampTree: a number ("stamp") per byte segment, with range updates, range maxima and the runs
// above a threshold, all in logarithmic time in the worst case.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "simulator/bytes/byte_segments.h"

namespace interlock {

// Usually a dispatch index plus 1. Zero: never raised.
using Stamp = uint32_t;

// A maximal run of neighbouring segments with one stamp.
struct StampRun {
  SegmentSpan span;
  Stamp stamp = 0;

  bool operator==(const StampRun&) const = default;
};

// The stamps only grow. Whoever passes stamps that never decrease thereby assigns: the latest wins.
class StampTree {
 public:
  explicit StampTree(uint32_t segment_count);

  // Raises the stamps of `span` to at least `stamp`. Cost: O(log segments).
  void raise(SegmentSpan span, Stamp stamp);

  // Returns the greatest stamp in `span`, zero if it is empty. Cost: O(log segments).
  Stamp max(SegmentSpan span) const;

  // Asks for the cache lines that raise() and max() of `span` are about to wait for.
  void prefetch(SegmentSpan span) const;

  // Appends the runs within `span` whose stamp is at least `threshold`, in order; runs that touch
  // and have the same stamp are one.
  // Requires: threshold > 0. Cost: O(log segments) per appended run and per raise after it.
  void append_runs(SegmentSpan span, Stamp threshold, std::vector<StampRun>& runs) const;

 private:
  // Nodes of level 0 are the segments; node i of level k has the children 16i to 16i+15 of level
  // k-1. The top level has no more than 16 nodes and no parent.
  struct Level {
    size_t offset;   // Into blocks_.
    uint32_t count;  // Nodes.
  };
  struct RunQuery;

  // Of all that was raised in the subtree of the node, its own `whole` included.
  Stamp& greatest(size_t level, uint32_t node) const;
  // Raised for all segments of the subtree at once. Requires: level > 0.
  Stamp& whole(size_t level, uint32_t node) const;

  // Splits `span` into the fewest runs of siblings that cover it: visit(level, first, last).
  template <typename Visit>
  void for_each_cover(SegmentSpan span, Visit visit) const;
  // Every node above the runs of a cover contains the first or the last segment of `span`:
  // visit(level, node), once for each.
  template <typename Visit>
  void for_each_above(SegmentSpan span, Visit visit) const;
  void visit_nodes(size_t level, SegmentSpan nodes, Stamp inherited, RunQuery& query) const;

  // The `greatest` or the `whole` of 16 siblings: one cache line.
  struct alignas(64) Block {
    std::array<Stamp, 16> stamps{};
  };

  std::vector<Level> levels_;
  std::unique_ptr<Block[]> blocks_;
};

// Calls visit(span, stamp in a, stamp in b) for the maximal pieces, in order, on which both stamps
// are constant; zero where a list has no run, and never zero twice. Requires: the runs of each list
// are sorted and disjoint.
template <typename Visit>
void zip_runs(std::span<const StampRun> a, std::span<const StampRun> b, Visit visit) {
  uint32_t at = 0;
  while (!a.empty() || !b.empty()) {
    uint32_t next = UINT32_MAX;
    for (const std::span<const StampRun>* runs : {&a, &b}) {
      if (!runs->empty()) {
        const SegmentSpan span = runs->front().span;
        next = std::min(next, at < span.begin ? span.begin : span.end);
      }
    }
    const Stamp in_a = !a.empty() && a.front().span.begin <= at ? a.front().stamp : 0;
    const Stamp in_b = !b.empty() && b.front().span.begin <= at ? b.front().stamp : 0;
    if (in_a != 0 || in_b != 0) {
      visit(SegmentSpan{at, next}, in_a, in_b);
    }
    at = next;
    for (std::span<const StampRun>* runs : {&a, &b}) {
      if (!runs->empty() && runs->front().span.end <= at) {
        *runs = runs->subspan(1);
      }
    }
  }
}

// Leaves in `latest` the higher stamp of both lists, piece by piece: whatever is hazardous in one
// tree stays hidden by a later access in another one, which is then hazardous too. Leaves nothing
// of use in `more` and `spare`, whose storage is reused. Requires: as zip_runs().
void keep_latest(std::vector<StampRun>& latest, std::vector<StampRun>& more,
                 std::vector<StampRun>& spare);

}  // namespace interlock
