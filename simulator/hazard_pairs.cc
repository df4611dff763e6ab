// The basic idea is to keep, per sort of access, a window over exactly the dispatches that the
// current one is unordered with: reads since the execution epoch began, writes since the memory
// epoch began. What overlaps there in a conflicting sort is a hazard, so no clean pair is examined.
#include "simulator/hazard_pairs.h"

#include <algorithm>

namespace interlock {

HazardPairs::HazardPairs(const Program& program, const HappensBefore& order,
                         const ByteSegments& segments)
    : program_(program), order_(order), segments_(segments) {
  std::array<std::vector<OverlapWindow::Entry>, kSortCount> entries;
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    const DispatchId dispatch(i);
    const DispatchSpans spans = spans_of(program, segments, dispatch);
    const size_t atomic = atomic_sort(program.dispatch(dispatch).atomic_op);
    for (const SegmentSpan span : spans.reads) entries[kReads].push_back({span, dispatch});
    for (const SegmentSpan span : spans.writes) entries[kWrites].push_back({span, dispatch});
    for (const SegmentSpan span : spans.atomics) entries[atomic].push_back({span, dispatch});
  }
  for (size_t sort = 0; sort < kSortCount; ++sort) {
    if (!entries[sort].empty()) windows_[sort] = std::make_unique<OverlapWindow>(entries[sort]);
  }
}

bool HazardPairs::find_firsts(DispatchId second, uint64_t& examination_limit,
                              std::vector<DispatchId>& firsts) {
  firsts.clear();
  for (size_t sort = 0; sort < kSortCount; ++sort) {
    if (windows_[sort] == nullptr) continue;
    windows_[sort]->slide(
        sort == kReads ? order_.execution_epoch_begin(second) : order_.memory_epoch_begin(second),
        second);
  }
  const AtomicOp op = program_.dispatch(second).atomic_op;
  const DispatchSpans spans = spans_of(program_, segments_, second);
  const auto collect = [&](const std::vector<SegmentSpan>& of_second, size_t sort) {
    if (windows_[sort] == nullptr) return;
    for (const SegmentSpan span : of_second) {
      examination_limit -= windows_[sort]->append_overlapping(span, examination_limit, firsts);
    }
  };
  for (size_t sort = 0; sort < kSortCount; ++sort) {
    if (sort != kReads) collect(spans.reads, sort);
    collect(spans.writes, sort);
    const bool commutes = op != AtomicOp::kNone && sort == atomic_sort(op);
    if (!commutes) collect(spans.atomics, sort);
  }
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  return examination_limit > 0;
}

}  // namespace interlock
