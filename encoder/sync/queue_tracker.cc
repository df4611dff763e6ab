// The basic idea is that of two dispatches on a serial queue the later one stands for both: of each
// piece of memory the last write and the last read of each queue say who must be waited for, and a
// clock for each queue which of these it has waited for already.

#include "encoder/sync/queue_tracker.h"

#include <algorithm>
#include <array>

#include "encoder/program/check.h"

namespace interlock {

QueueTracker::QueueTracker(uint32_t queue_count)
    : queue_count_(queue_count),
      clocks_(queue_count),
      segments_(queue_count),
      latest_(queue_count, 0) {
  INTERLOCK_CHECK(queue_count > 0 && queue_count <= kQueueCountMax);
}

// If no range is new and none is cut. What is done to a segment depends on what was done to it
// before, which no branch predictor knows: so all are looked up first.
inline bool QueueTracker::take_known(std::span<const Access> accesses, const QueueUser& user) {
  constexpr size_t kMostAccesses = 16;
  if (accesses.size() > kMostAccesses) return false;
  if (segments_.lookup_bytes() > kFarBytes) {
    for (const Access& access : accesses) segments_.prefetch_slot(access.memory, access.range);
    for (const Access& access : accesses) segments_.prefetch_segment(access.memory, access.range);
  }
  std::array<QueueSegment*, kMostAccesses> found;
  QueueSegment** next = found.data();
  for (const Access& access : accesses) {
    QueueSegment* const segment = segments_.find(access.memory, access.range);
    if (segment == nullptr) return false;
    *next++ = segment;
  }
  next = found.data();
  for (const Access& access : accesses) take(**next++, access.mode, user);
  return true;
}

std::span<const QueuePoint> QueueTracker::add(uint32_t queue, std::span<const Access> accesses,
                                              AtomicOp atomic_op) {
  INTERLOCK_CHECK(queue < queue_count_);
  waits_.clear();
  if (segments_.is_full()) make_room();
  const uint64_t number = clocks_.begin_dispatch(queue);
  const QueueUser user{queue, number, clocks_.known_by(queue), atomic_op};
  if (!take_known(accesses, user)) take_any(accesses, user);
  if (!waits_.empty()) settle(queue, number);
  return waits_;
}

void QueueTracker::take_any(std::span<const Access> accesses, const QueueUser& user) {
  for (const Access& access : accesses) {
    if (access.range.is_empty()) continue;
    QueueSegment* const segment = segments_.locate(access.memory, access.range);
    take(*segment, access.mode, user);
    if (segment->end != access.range.end) walk(segment, access, user);
  }
}

// What follows the first segment of an access.
void QueueTracker::walk(QueueSegment* segment, const Access& access, const QueueUser& user) {
  int walked_count = 1;
  do {
    segment = segments_.next_of(*segment);
    take(*segment, access.mode, user);
    ++walked_count;
  } while (segment->end != access.range.end);
  if (walked_count <= kUnmergedWalkMax) return;
  segments_.merge(access.memory, access.range, clocks_.known_by_all());
}

// Not inlined: most accesses need no wait.
[[gnu::noinline]] void QueueTracker::note(uint32_t queue, uint64_t number) {
  uint64_t& latest = latest_[queue];
  if (latest == 0) waits_.push_back({queue, 0});
  latest = std::max(latest, number);
}

// Which of what was noted is waited for, and what comes of it.
void QueueTracker::settle(uint32_t queue, uint64_t number) {
  for (QueuePoint& point : waits_) {
    point.number = latest_[point.queue];
    latest_[point.queue] = 0;
  }
  if (waits_.size() > 1) std::ranges::sort(waits_, {}, &QueuePoint::queue);
  clocks_.wait(queue, number, waits_);
  if (clocks_.is_full()) prune_clocks();
}

void QueueTracker::join(uint32_t queue, uint32_t other) {
  INTERLOCK_CHECK(queue < queue_count_ && other < queue_count_);
  const QueuePoint last{other, clocks_.dispatch_count(other)};
  if (clocks_.known_by(queue)[other] >= last.number) return;
  waits_.assign(1, last);
  clocks_.wait(queue, clocks_.dispatch_count(queue) + 1, waits_);
  if (clocks_.is_full()) prune_clocks();
}

void QueueTracker::join_all() {
  clocks_.wait_for_all();
  if (clocks_.is_full()) prune_clocks();
}

void QueueTracker::make_room() { segments_.sweep(clocks_.known_by_all()); }

void QueueTracker::prune_clocks() {
  clocks_.prune([&](const auto& visit) {
    segments_.for_each(
        [&](const QueueSegment& segment) { segments_.uses.for_each_point(segment, visit); });
  });
}

size_t QueueTracker::size_bytes() const {
  return sizeof(*this) + clocks_.size_bytes() + segments_.size_bytes() +
         latest_.capacity() * sizeof(uint64_t) + waits_.capacity() * sizeof(QueuePoint);
}

}  // namespace interlock
