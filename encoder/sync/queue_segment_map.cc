// What goes away is what every queue is known to come after; in segment_map.cc it is all that was
// used before a barrier.

#include "encoder/sync/queue_segment_map.h"

#include <algorithm>

namespace interlock {

template class SegmentCuts<QueueSegmentMap, QueueSegment>;

void QueueSegmentMap::forget_if_before(const uint64_t* known, QueueSegment& segment) {
  if (uses.are_before(known, segment)) uses.forget(segment);
}

void QueueSegmentMap::merge(MemoryId memory, ByteRange range, const uint64_t* known) {
  join(
      memory, range, [&](QueueSegment& segment) { forget_if_before(known, segment); },
      [&](const QueueSegment& lower, const QueueSegment& upper) {
        return uses.are_alike(lower, upper);
      });
}

// Those that are not forgotten. What is may become a ghost.
std::vector<QueueSegment> QueueSegmentMap::take_those_after(const uint64_t* known) {
  std::vector<QueueSegment> result;
  table_.for_each([&](QueueSegment& segment) {
    if (!uses.are_before(known, segment)) {
      result.push_back(segment);
      return;
    }
    uses.forget(segment);
    let_go(segment);
  });
  return result;
}

// Where what was forgotten keeps coming back, the table grows.
void QueueSegmentMap::sweep(const uint64_t* known) {
  if (!table_.has_room()) return table_.rebuild(0);
  const size_t least = comes_back() ? 2 * least_limit_ : std::max(kMinSweepLimit, least_limit_ / 2);
  begin_sweep();
  restart(take_those_after(known), least);
}

size_t QueueSegmentMap::size_bytes() const { return cuts_size_bytes() + uses.size_bytes(); }

}  // namespace interlock
