// The basic idea is that raising commutes, so nothing is ever pushed down: the stamp of a segment
// is the greatest `whole` on the path from its leaf to the root. A node whose `greatest` is not
// above what its path already gives has one stamp throughout, however much older detail lies below
// it.
//
// Sixteen children fit a cache line: a path through ten million segments misses the cache two or
// three times, where a binary tree misses it eight times.
//
// For example, 20 segments: 20 nodes on level 0, of which 16 are below node 0 of level 1 and 4
// below node 1. Three dispatches write segments; what the tree has after each, g for `greatest` and
// w for `whole`:
//
//                      level 0 (g)               level 1
//   raise([2,4), 1)    2 and 3: 1                node 0: g 1       node 1: g 0
//   raise([0,20), 2)   2 and 3: 1, 16 to 19: 2   node 0: g 2 w 2   node 1: g 2 w 0
//   raise([3,4), 3)    2: 1, 3: 3, 16 to 19: 2   node 0: g 3 w 2   node 1: g 2 w 0
//
// The second raise covers node 0 as a whole and writes one `whole`, where the leaves 2 and 3 keep
// their old 1. Nobody has to clean them: the stamp of segment 2 is the greatest on its path, 2.
//
// append_runs([0,20), 1) starts on level 1. Node 0 has g 3 above w 2, so it goes down with 2 as
// what is inherited, and finds 2 everywhere but in segment 3: [0,3) 2, [3,4) 3, [4,16) 2. Node 1
// has g 2 above w 0; its leaves say 2, and join the last run: [4,20) 2. With the threshold 3, node
// 1 is left out by its `greatest` alone. After one more raise([0,20), 4) node 0 would have g 4 and
// w 4, and answer for its 16 segments without a step down.
#include "simulator/bytes/stamp_tree.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {

namespace {

constexpr uint32_t kFanOutBits = 4;
constexpr uint32_t kFanOut = 1 << kFanOutBits;

uint32_t ancestor_of(uint32_t segment, size_t level) {
  return static_cast<uint32_t>(uint64_t{segment} >> (kFanOutBits * level));
}

}  // namespace

StampTree::StampTree(uint32_t segment_count) {
  size_t offset = 0;
  uint32_t count = segment_count;
  while (true) {
    levels_.push_back({offset, count});
    // Blocks of `greatest`, above level 0 each with its block of `whole` after it.
    const size_t block_count = (size_t{count} + kFanOut - 1) / kFanOut;
    offset += block_count * (levels_.size() == 1 ? 1 : 2);
    if (count <= kFanOut) break;
    count = static_cast<uint32_t>(block_count);
  }
  blocks_ = std::make_unique<Block[]>(offset);
}

Stamp& StampTree::greatest(size_t level, uint32_t node) const {
  const size_t block = size_t{node / kFanOut} << (level == 0 ? 0 : 1);
  return blocks_[levels_[level].offset + block].stamps[node % kFanOut];
}

Stamp& StampTree::whole(size_t level, uint32_t node) const {
  const size_t block = size_t{node / kFanOut} * 2 + 1;
  return blocks_[levels_[level].offset + block].stamps[node % kFanOut];
}

template <typename Visit>
void StampTree::for_each_above(SegmentSpan span, Visit visit) const {
  uint32_t first = span.begin;
  uint32_t last = span.end - 1;
  for (size_t level = 1; level < levels_.size(); ++level) {
    first /= kFanOut;
    last /= kFanOut;
    visit(level, first);
    if (last != first) visit(level, last);
  }
}

template <typename Visit>
void StampTree::for_each_cover(SegmentSpan span, Visit visit) const {
  // Streams that repeat their ranges ask for one segment at a time.
  if (span.end - span.begin == 1) return visit(0, span.begin, span.end);
  uint32_t first = span.begin;
  uint32_t last = span.end;
  for (size_t level = 0; first < last; ++level) {
    if (level + 1 == levels_.size() || first / kFanOut == (last - 1) / kFanOut) {
      visit(level, first, last);
      return;
    }
    if (first % kFanOut != 0) {
      const uint32_t block_end = (first / kFanOut + 1) * kFanOut;
      visit(level, first, block_end);
      first = block_end;
    }
    if (last % kFanOut != 0) {
      const uint32_t block_begin = last / kFanOut * kFanOut;
      visit(level, block_begin, last);
      last = block_begin;
    }
    first /= kFanOut;
    last /= kFanOut;
  }
}

void StampTree::raise(SegmentSpan span, Stamp stamp) {
  if (span.is_empty()) return;
  for_each_cover(span, [&](size_t level, uint32_t first, uint32_t last) {
    Stamp* const at = &greatest(level, first);
    for (uint32_t i = 0; i < last - first; ++i) {
      at[i] = std::max(at[i], stamp);
    }
    if (level == 0) return;
    Stamp* const whole_at = &whole(level, first);
    for (uint32_t i = 0; i < last - first; ++i) {
      whole_at[i] = std::max(whole_at[i], stamp);
    }
  });
  for_each_above(span, [&](size_t level, uint32_t node) {
    Stamp& above = greatest(level, node);
    above = std::max(above, stamp);
  });
}

Stamp StampTree::max(SegmentSpan span) const {
  if (span.is_empty()) return 0;
  Stamp found = 0;
  for_each_cover(span, [&](size_t level, uint32_t first, uint32_t last) {
    const Stamp* const at = &greatest(level, first);
    for (uint32_t i = 0; i < last - first; ++i) {
      found = std::max(found, at[i]);
    }
  });
  for_each_above(span,
                 [&](size_t level, uint32_t node) { found = std::max(found, whole(level, node)); });
  return found;
}

// The lowest levels have nearly all lines; the others stay in the cache.
void StampTree::prefetch(SegmentSpan span) const {
  const size_t level_count = std::min<size_t>(levels_.size(), 2);
  for (size_t level = 0; !span.is_empty() && level < level_count; ++level) {
    for (const uint32_t segment : {span.begin, span.end - 1}) {
      const uint32_t node = ancestor_of(segment, level);
      __builtin_prefetch(&greatest(level, node));
      if (level > 0) __builtin_prefetch(&whole(level, node));
    }
  }
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
  if (span.is_empty()) return;
  RunQuery query{span, threshold, runs.size(), runs};
  visit_nodes(levels_.size() - 1, {0, levels_.back().count}, 0, query);
}

void StampTree::visit_nodes(size_t level, SegmentSpan nodes, Stamp inherited,
                            RunQuery& query) const {
  const uint32_t first = std::max(nodes.begin, ancestor_of(query.span.begin, level));
  const uint32_t last = std::min(nodes.end, ancestor_of(query.span.end - 1, level) + 1);
  for (uint32_t node = first; node < last; ++node) {
    const Stamp in_subtree = greatest(level, node);
    const Stamp throughout =
        level == 0 ? std::max(inherited, in_subtree) : std::max(inherited, whole(level, node));
    if (in_subtree <= throughout) {
      if (throughout >= query.threshold) {
        const uint64_t size = uint64_t{1} << (kFanOutBits * level);
        query.append({static_cast<uint32_t>(node * size),
                      static_cast<uint32_t>(std::min<uint64_t>((node + 1) * size, UINT32_MAX))},
                     throughout);
      }
    } else if (in_subtree >= query.threshold) {
      const uint32_t end = std::min((node + 1) * kFanOut, levels_[level - 1].count);
      visit_nodes(level - 1, {node * kFanOut, end}, throughout, query);
    }
  }
}

void keep_latest(std::vector<StampRun>& latest, std::vector<StampRun>& more,
                 std::vector<StampRun>& spare) {
  if (latest.empty()) {
    latest.swap(more);
    return;
  }
  spare.clear();
  zip_runs(latest, more, [&](SegmentSpan span, Stamp a, Stamp b) {
    spare.push_back({span, std::max(a, b)});
  });
  latest.swap(spare);
}

}  // namespace interlock
