// The basic idea is that of two dispatches on a serial queue the later one stands for both: of each
// piece of memory the last write and the last read of each queue say who must be waited for, and a
// clock for each queue which of these it has waited for already.

#include "encoder/sync/queue_tracker.h"

#include <algorithm>
#include <bit>

#include "encoder/program/check.h"

namespace interlock {

QueueTracker::QueueTracker(uint32_t queue_count, uint64_t few_number_max)
    : queue_count_(queue_count),
      few_number_max_(few_number_max),
      clocks_(queue_count),
      segments_(queue_count),
      latest_(queue_count, 0) {
  INTERLOCK_CHECK(queue_count > 0 && queue_count <= kQueueCountMax);
  INTERLOCK_CHECK(few_number_max <= kFewNumberMax);
}

// If no range is new and none is cut. What is done to a segment depends on what was done to it
// before, which no branch predictor knows: so all are looked up first.
inline bool QueueTracker::take_known(std::span<const Access> accesses, const QueueUser& user) {
  if (accesses.size() > kMostAccesses) return false;
  if (segments_.lookup_bytes() > kFarBytes) {
    for (const Access& access : accesses) segments_.prefetch_slot(access.memory, access.range);
    for (const Access& access : accesses) segments_.prefetch_segment(access.memory, access.range);
  }
  FoundSegments found;
  return segments_.uses.are_few() ? take_few(accesses, found, user)
                                  : take_many(accesses, found, user);
}

[[gnu::always_inline]] inline bool QueueTracker::take_many(std::span<const Access> accesses,
                                                           FoundSegments& found,
                                                           const QueueUser& user) {
  QueueSegment** next = found.data();
  for (const Access& access : accesses) {
    QueueSegment* const segment = segments_.find(access.memory, access.range);
    if (segment == nullptr) return false;
    *next++ = segment;
  }
  next = found.data();
  for (const Access& access : accesses) take(**next++, access.mode, user);
  if (!waits_.empty()) settle();
  return true;
}

// Where queues are few, and the accesses simple: one branch on what was done before.
[[gnu::always_inline]] inline bool QueueTracker::take_few(std::span<const Access> accesses,
                                                          FoundSegments& found,
                                                          const QueueUser& user) {
  QueueSegment** next = found.data();
  int32_t lead = 0;
  for (const Access& access : accesses) {
    QueueSegment* const segment = segments_.find(access.memory, access.range);
    if (segment == nullptr || !segments_.uses.is_simple(*segment, access.mode)) return false;
    lead |= segments_.uses.lead_of(*segment, access.mode, user.few_known);
    *next++ = segment;
  }
  if (lead < 0) note_few(accesses, found, user.few_known);
  next = found.data();
  for (const Access& access : accesses) segments_.uses.record(**next++, access.mode, user);
  return true;
}

// All that must come before these accesses, by the last dispatch of each queue.
[[gnu::noinline]] void QueueTracker::note_few(std::span<const Access> accesses,
                                              const FoundSegments& found,
                                              const int32_t* few_known) {
  constexpr uint32_t kQueues = QueueSegment::kFewQueues;
  std::array<int32_t, kQueues> latest;
  std::copy_n(few_known, kQueues, latest.begin());
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (accesses[i].mode <= AccessMode::kRead) continue;
    for (uint32_t queue = 0; queue < kQueues; ++queue) {
      latest[queue] = std::max(latest[queue], found[i]->reads[queue]);
    }
  }
  for (size_t i = 0; i < accesses.size(); ++i) {
    int32_t& last = latest[found[i]->writes.queue()];
    last = std::max(last, static_cast<int32_t>(found[i]->writes.number()));
  }
  uint32_t are_later = 0;
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    are_later |= static_cast<uint32_t>(latest[queue] > few_known[queue]) << queue;
  }
  for (; are_later != 0; are_later &= are_later - 1) {
    const auto queue = static_cast<uint32_t>(std::countr_zero(are_later));
    waits_.push_back({queue, static_cast<uint64_t>(latest[queue])});
  }
}

std::span<const QueuePoint> QueueTracker::add(uint32_t queue, std::span<const Access> accesses,
                                              AtomicOp atomic_op) {
  INTERLOCK_CHECK(queue < queue_count_);
  waits_.clear();
  if (segments_.is_full()) make_room();
  const uint64_t number = clocks_.begin_dispatch(queue);
  if (number > few_number_max_ && segments_.uses.are_few()) take_any_numbers();
  const QueueUser user{queue, number, clocks_.known_by(queue), clocks_.few_known_by(queue),
                       atomic_op};
  if (!take_known(accesses, user)) take_any(accesses, user);
  if (!waits_.empty()) wait(queue, number);
  return waits_;
}

void QueueTracker::take_any(std::span<const Access> accesses, const QueueUser& user) {
  for (const Access& access : accesses) {
    if (access.range.is_empty()) continue;
    QueueSegment* const segment = segments_.locate(access.memory, access.range);
    take(*segment, access.mode, user);
    if (segment->end != access.range.end) walk(segment, access, user);
  }
  if (!waits_.empty()) settle();
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

// What was noted, in the order of queues.
void QueueTracker::settle() {
  for (QueuePoint& point : waits_) {
    point.number = latest_[point.queue];
    latest_[point.queue] = 0;
  }
  if (waits_.size() > 1) std::ranges::sort(waits_, {}, &QueuePoint::queue);
}

// Which of it is waited for, and what comes of that.
void QueueTracker::wait(uint32_t queue, uint64_t number) {
  clocks_.wait(queue, number, waits_);
  if (clocks_.is_full()) prune_clocks();
}

void QueueTracker::join(uint32_t queue, uint32_t other) {
  INTERLOCK_CHECK(queue < queue_count_ && other < queue_count_);
  const QueuePoint last{other, clocks_.dispatch_count(other)};
  if (clocks_.known_by(queue)[other] >= last.number) return;
  waits_.assign(1, last);
  wait(queue, clocks_.dispatch_count(queue) + 1);
}

void QueueTracker::join_all() {
  clocks_.wait_for_all();
  if (clocks_.is_full()) prune_clocks();
}

// Once for a tracker, after so many dispatches that few would live to see it.
[[gnu::noinline]] void QueueTracker::take_any_numbers() {
  segments_.uses.take_any_numbers();
  segments_.for_each([&](QueueSegment& segment) { segments_.uses.take_any_numbers(segment); });
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
