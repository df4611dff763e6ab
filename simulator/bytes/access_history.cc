// The basic idea is one stamp tree per sort of access: plain reads, plain writes, and the atomics
// of each operation, because what commutes with a new access depends on that access. Programs
// without atomics have two trees.
#include "simulator/bytes/access_history.h"

#include <algorithm>

namespace interlock {

namespace {

// Far enough ahead for memory to answer meanwhile.
constexpr size_t kDispatchesAhead = 4;

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

StampTree& AccessHistory::tree(size_t sort) {
  if (trees_[sort] == nullptr) {
    trees_[sort] = std::make_unique<StampTree>(segments_.count());
    has_atomics_ = has_atomics_ || sort >= kFirstAtomicSort;
  }
  return *trees_[sort];
}

void AccessHistory::record(DispatchId id, Stamp stamp) {
  const Dispatch& dispatch = program_.dispatch(id);
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    const Access& access = program_.accesses[dispatch.first_access + k];
    const SegmentSpan span = segments_.span_of(dispatch.first_access + k);
    if (access.is_atomic()) tree(atomic_sort(dispatch.atomic_op)).raise(span, stamp);
    if (access.reads_plainly()) tree(kPlainReads).raise(span, stamp);
    if (access.writes_plainly()) tree(kPlainWrites).raise(span, stamp);
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
  for (size_t i = kFirstAtomicSort; i < kSortCount; ++i) {
    if (trees_[i] != nullptr && !(commutes_with_own && i == atomic_sort(op))) {
      visit(*trees_[i]);
    }
  }
}

void AccessHistory::prefetch_ahead(DispatchId id) const {
  const size_t index = id.index + kDispatchesAhead;
  if (index >= program_.dispatches.size()) return;
  const Dispatch& dispatch = program_.dispatches[index];
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    for (const size_t sort : {kPlainReads, kPlainWrites}) {
      if (trees_[sort] != nullptr) {
        trees_[sort]->prefetch(segments_.span_of(dispatch.first_access + k));
      }
    }
  }
}

LatestConflicts AccessHistory::latest(DispatchId id) const {
  const Dispatch& dispatch = program_.dispatch(id);
  const AtomicOp op = dispatch.atomic_op;
  LatestConflicts found;
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    const Access& access = program_.accesses[dispatch.first_access + k];
    const SegmentSpan span = segments_.span_of(dispatch.first_access + k);
    found.write = std::max(found.write, latest(span, access, op, AccessSide::kWrites));
    if (!access.has_write_side()) continue;
    found.any = std::max(found.any, latest(span, access, op, AccessSide::kReads));
  }
  found.any = std::max(found.any, found.write);
  return found;
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
    if (tree.max(span) < threshold) return;
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
