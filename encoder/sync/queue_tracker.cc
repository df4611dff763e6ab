// The basic idea is that of two dispatches on a serial queue the later one stands for both: of each
// piece of memory the last write and the last read of each queue say who must be waited for, and a
// clock for each queue which of these it has waited for already.

#include "encoder/sync/queue_tracker.h"

#include <algorithm>

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

// What is far away is fetched ahead. In place: a compiler takes a function that does no more for
// one that does nothing.
[[gnu::always_inline]] inline void QueueTracker::fetch(std::span<const Access> accesses) const {
  if (segments_.lookup_bytes() <= kFarBytes) return;
  for (const Access& access : accesses) segments_.prefetch_slot(access.memory, access.range);
  for (const Access& access : accesses) segments_.prefetch_segment(access.memory, access.range);
}

// These two take accesses of which no range is new and none is cut, or nothing. What is done to a
// segment depends on what was done to it before, which no branch predictor knows: so all are looked
// up first.

inline bool QueueTracker::take_many(std::span<const Access> accesses, const QueueUser& user) {
  if (accesses.size() > kMostAccesses) return false;
  fetch(accesses);
  FoundSegments found;
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

// Whether each access has a segment, which goes to `found`, and is simple.
[[gnu::always_inline]] inline bool QueueTracker::find_few(std::span<const Access> accesses,
                                                          FoundSegments& found) {
  static_assert(kFarBytes / sizeof(QueueSegment) <= QueueSegmentMap::Near::kMost);
  QueueSegment** place = found.data();
  if (segments_.lookup_bytes() > kFarBytes) [[unlikely]] {
    fetch(accesses);
    for (const Access& access : accesses) {
      QueueSegment* const segment = find_simple(access);
      if (segment == nullptr) return false;
      *place++ = segment;
    }
    return true;
  }
  const QueueSegmentMap::Near near = segments_.near();
  for (const Access& access : accesses) {
    QueueSegment* segment = &near.likeliest(access.memory.index, access.range.begin);
    const uint64_t differing = (segment->begin ^ access.range.begin) |
                               (segment->end ^ access.range.end) |
                               (segment->inverse_memory ^ ~access.memory.index) | ~segment->group;
    static_assert(QueueSegment::kNone == UINT32_MAX);
    if (differing != 0 || access.mode == AccessMode::kAtomic) [[unlikely]] {
      segment = find_simple(access);
      if (segment == nullptr) return false;
    }
    *place++ = segment;
  }
  return true;
}

// The segment of an access that is simple, or nullptr. Apart, so that others keep their registers.
[[gnu::noinline]] QueueSegment* QueueTracker::find_simple(const Access& access) {
  QueueSegment* const segment = segments_.find(access.memory, access.range);
  const bool is_it = segment != nullptr && segments_.uses.is_simple(*segment, access.mode);
  return is_it ? segment : nullptr;
}

// Where queues are few, and the accesses simple: one branch on what was done before. No vector is
// at hand while segments are looked for, as one would not outlive a call.
[[gnu::always_inline]] inline bool QueueTracker::take_few(uint32_t queue, uint32_t number,
                                                          std::span<const Access> accesses) {
  if (accesses.size() > kMostAccesses) return false;
  FoundSegments found;
  if (!find_few(accesses, found)) return false;
  const FewNumbers own = FewNumbers::of(queue, number);
  const FewNumbers known = clocks_.few_known_by(queue) | own;
  FewNumbers::Array known_numbers;
  known.store(known_numbers.data());
  Lanes lead = Lanes::all(0);
  uint32_t lead_over_writes = 0;
  QueueSegment* const* next = found.data();
  for (const Access& access : accesses) {
    const QueueSegment& segment = **next++;
    // A write is a use too. No branch asks for the mode: where it was, more was lost after a wait
    // that was not foreseen in one program than in another.
    lead_over_writes |=
        known_numbers[segment.writes.queue()] - static_cast<uint32_t>(segment.writes.number());
    const Lanes is_write = Lanes::all(access.mode <= AccessMode::kRead ? 0 : UINT32_MAX);
    lead = lead | (known.lead_over(FewNumbers::from(segment.uses.data())) & is_write);
  }
  few_wait_count_ = 0;
  if (((lead_over_writes >> 31) | lead.top_bits()) != 0) {
    wait_few(queue, known_numbers, accesses, found);
    return true;
  }
  next = found.data();
  for (const Access& access : accesses) {
    QueueUses::record(**next++, access.mode, queue, number, own);
  }
  return true;
}

// All that must come before these accesses, by the last dispatch of each queue.
[[gnu::noinline]] void QueueTracker::wait_few(uint32_t queue,
                                              const FewNumbers::Array& known_numbers,
                                              std::span<const Access> accesses,
                                              const FoundSegments& found) {
  const uint32_t number = known_numbers[queue];
  const FewNumbers own = FewNumbers::of(queue, number);
  const FewNumbers known = FewNumbers::from(known_numbers.data());
  FewNumbers latest = known;
  QueueSegment* const* next = found.data();
  for (const Access& access : accesses) {
    QueueSegment& segment = **next++;
    latest = latest_of(latest, QueueUses::to_follow(segment, access.mode));
    QueueUses::record(segment, access.mode, queue, number, own);
  }
  few_wait_count_ = clocks_.wait_few(queue, known, latest, few_waits_.data());
  if (clocks_.is_full()) prune_clocks();
}

std::span<const QueuePoint> QueueTracker::add(uint32_t queue, std::span<const Access> accesses,
                                              AtomicOp atomic_op) {
  INTERLOCK_CHECK(queue < queue_count_);
  if (segments_.is_full()) make_room();
  const uint64_t number = clocks_.begin_dispatch(queue);
  const bool is_taken = clocks_.are_few() && number <= few_number_max_ &&
                        take_few(queue, static_cast<uint32_t>(number), accesses);
  if (!is_taken) return add_any(queue, number, accesses, atomic_op);
  return {few_waits_.data(), few_wait_count_};
}

// Apart from the above, to which it would cost registers.
[[gnu::noinline]] std::span<const QueuePoint> QueueTracker::add_any(
    uint32_t queue, uint64_t number, std::span<const Access> accesses, AtomicOp atomic_op) {
  if (clocks_.are_few() && number > few_number_max_) take_any_numbers();
  waits_.clear();
  const QueueUser user{queue, number, clocks_.known_by(queue), atomic_op};
  if (clocks_.are_few() || !take_many(accesses, user)) take_any(accesses, user);
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
  segments_.for_each([&](QueueSegment& segment) { segments_.uses.take_any_numbers(segment); });
  segments_.uses.take_any_numbers();
  clocks_.take_any_numbers();
}

[[gnu::noinline]] void QueueTracker::make_room() { segments_.sweep(clocks_.known_by_all()); }

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
