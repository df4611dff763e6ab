// The basic idea is one stamp tree per sort of access: plain reads, plain writes, and the atomics
// of each operation, because what commutes with a new access depends on that access. Programs
// without atomics have two trees.
#include "simulator/bytes/access_history.h"

#include <algorithm>

namespace interlock {

namespace {

// The greater stamp at every segment that either list covers. Both are sorted and disjoint.
std::vector<StampRun> merge_runs(const std::vector<StampRun>& a, const std::vector<StampRun>& b) {
  std::vector<StampRun> merged;
  zip_runs(a, b, [&](SegmentSpan span, Stamp in_a, Stamp in_b) {
    const Stamp stamp = std::max(in_a, in_b);
    if (!merged.empty() && merged.back().stamp == stamp && merged.back().span.end == span.begin) {
      merged.back().span.end = span.end;
    } else {
      merged.push_back({span, stamp});
    }
  });
  return merged;
}

}  // namespace

AccessHistory::AccessHistory(uint32_t segment_count) : segment_count_(segment_count) {}

StampTree& AccessHistory::tree(size_t index) {
  if (trees_[index] == nullptr) {
    trees_[index] = std::make_unique<StampTree>(segment_count_);
    has_atomics_ = has_atomics_ || index >= kFirstAtomic;
  }
  return *trees_[index];
}

void AccessHistory::record(SegmentSpan span, const Access& access, AtomicOp op, Stamp stamp) {
  if (access.is_atomic()) {
    tree(atomic_tree(op)).raise(span, stamp);
    return;
  }
  if (access.reads()) {
    tree(kPlainReads).raise(span, stamp);
  }
  if (access.writes()) {
    tree(kPlainWrites).raise(span, stamp);
  }
}

template <typename Visit>
void AccessHistory::for_each_conflicting_tree(const Access& access, AtomicOp op, AccessSide side,
                                              Visit visit) const {
  const size_t plain = side == AccessSide::kReads ? kPlainReads : kPlainWrites;
  if (trees_[plain] != nullptr) {
    visit(*trees_[plain]);
  }
  if (!has_atomics_) return;
  const bool commutes_with_own = access.is_atomic() && op != AtomicOp::kNone;
  for (size_t i = kFirstAtomic; i < kTreeCount; ++i) {
    if (trees_[i] != nullptr && !(commutes_with_own && i == atomic_tree(op))) {
      visit(*trees_[i]);
    }
  }
}

void AccessHistory::prefetch(SegmentSpan span) const {
  for (const size_t index : {kPlainReads, kPlainWrites}) {
    if (trees_[index] != nullptr) trees_[index]->prefetch(span);
  }
}

Stamp AccessHistory::latest(SegmentSpan span, const Access& access, AtomicOp op,
                            AccessSide side) const {
  Stamp greatest = 0;
  for_each_conflicting_tree(access, op, side, [&](const StampTree& tree) {
    greatest = std::max(greatest, tree.max(span));
  });
  return greatest;
}

void AccessHistory::latest_runs(SegmentSpan span, const Access& access, AtomicOp op,
                                AccessSide side, Stamp threshold,
                                std::vector<StampRun>& runs) const {
  runs.clear();
  std::vector<StampRun> more;
  for_each_conflicting_tree(access, op, side, [&](const StampTree& tree) {
    more.clear();
    tree.append_runs(span, threshold, more);
    if (runs.empty()) {
      runs.swap(more);
    } else if (!more.empty()) {
      runs = merge_runs(runs, more);
    }
  });
}

}  // namespace interlock
