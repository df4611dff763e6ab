// QueueTracker: says, one dispatch at a time, for which dispatches of other queues it must wait.
// What HazardTracker (tracker.h) is for one queue. A runtime can use it as it is:
//
//     QueueTracker tracker(queue_count);
//
//     for (const QueuePoint& point : tracker.add(queue, accesses)) {  // At each dispatch.
//       issue_wait(queue, semaphore_of(point.queue), point.number);
//     }
//     issue_dispatch(queue);
//     issue_signal(queue, semaphore_of(queue), tracker.dispatch_count(queue));
//
// Queues are serial: each executes its dispatches one after another. It is not synchronized.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/sync/queue_point.h"
#include "encoder/sync/queue_segment_map.h"
#include "encoder/sync/wait_clocks.h"

namespace interlock {

class QueueTracker {
 public:
  // As many as a program may have, and more.
  static constexpr uint32_t kQueueCountMax = uint32_t{1} << PointSet::kQueueBits;

  // Up to so many dispatches of a queue what was read takes half as many bytes where queues are
  // few.
  static constexpr uint64_t kFewNumberMax = INT32_MAX;

  // For queues 0 up to `queue_count`. Requires: it is from 1 to kQueueCountMax; tests alone have
  // another `few_number_max`, below kFewNumberMax.
  explicit QueueTracker(uint32_t queue_count, uint64_t few_number_max = kFewNumberMax);

  // Returns the waits that a dispatch of `queue` with these accesses needs, right before it. It
  // conflicts with an earlier dispatch as HazardTracker::add() says; those that it conflicts with
  // and that neither the order of its queue nor earlier waits make come before it, are waited for,
  // but for those that come before another one of them. So no wait can go, none adds an order that
  // no conflicts ask for, and no other waits that add none are fewer (docs/theory.md, "Sync that
  // adds no order"). At most one for each queue, in the order of queues: none of them comes before
  // another. They are valid until the next call. The caller issues them all.
  // Requires: `queue` is below the queue_count. Memory indices are small: each costs a few bytes.
  // Cost per access: that of a probe for a range seen before that nobody else cuts, else as
  // HazardTracker::add() while epochs are long. Bytes with last uses on several queues that nothing
  // orders cost linear in the queues, as does each wait, times the logarithm of the waits that are
  // remembered; waits of one dispatch are compared with each other.
  std::span<const QueuePoint> add(uint32_t queue, std::span<const Access> accesses,
                                  AtomicOp atomic_op = AtomicOp::kNone);

  // What `queue` does next comes after all that `other` has done so far: the caller has issued a
  // wait of its own. Cost: linear in the queues.
  void join(uint32_t queue, uint32_t other);

  // The same of all queues: the caller has waited for everything, on the host or on each queue.
  // Cost: the square of the queues.
  void join_all();

  // How many dispatches there have been on the queue: the number of the last one.
  uint64_t dispatch_count(uint32_t queue) const { return clocks_.dispatch_count(queue); }

  // How many pieces of memory are told apart right now. A piece is let go of once all queues are
  // known to come after what was done to it, so: at most 2^14, or twice the pieces of which that
  // was not so when last looked at, or the greatest memory index, and those of one dispatch. Where
  // one in 64 new pieces had been let go of before, the bound doubles. A queue that neither waits
  // nor is joined keeps all pieces that others use: as many as their ranges cut memory into,
  // however often these come.
  size_t segment_count() const { return segments_.segment_count(); }

  // How many waits are remembered with what they carry: at most 256, or twice those that some piece
  // led to when last looked at, that is, after which, and before the next one of their queue, there
  // was a last use of it; or the number of these uses.
  size_t clock_count() const { return clocks_.clock_count(); }

  // The bytes of memory that the tracker holds. Grows with the maxima that the two counts have had,
  // a number for each queue in every clock, and in pieces whose last uses are not ordered; with the
  // square of the queues; and with the greatest memory index.
  size_t size_bytes() const;

 private:
  // Shorter walks are left alone: to cut a part of a range again costs as much as so many steps,
  // and many programs name both a range and its parts.
  static constexpr int kUnmergedWalkMax = 32;

  // Of a dispatch with more they are looked up one by one.
  static constexpr size_t kMostAccesses = 16;
  using FoundSegments = std::array<QueueSegment*, kMostAccesses>;

  // What is larger does not fit into the caches of a core.
  static constexpr size_t kFarBytes = size_t{1} << 20;

  void note(uint32_t queue, uint64_t number);
  [[gnu::always_inline]] void take(QueueSegment& segment, AccessMode mode, const QueueUser& user) {
    segments_.uses.take(segment, mode, user,
                        [&](uint32_t queue, uint64_t number) { note(queue, number); });
  }
  std::span<const QueuePoint> add_any(uint32_t queue, uint64_t number,
                                      std::span<const Access> accesses, AtomicOp atomic_op);
  bool find_few(std::span<const Access> accesses, FoundSegments& found);
  QueueSegment* find_simple(const Access& access);
  bool take_few(uint32_t queue, uint32_t number, std::span<const Access> accesses);
  void wait_few(uint32_t queue, const FewNumbers::Array& known_numbers,
                std::span<const Access> accesses, const FoundSegments& found);
  bool take_many(std::span<const Access> accesses, const QueueUser& user);
  void take_any(std::span<const Access> accesses, const QueueUser& user);
  void walk(QueueSegment* segment, const Access& access, const QueueUser& user);
  void settle();
  void wait(uint32_t queue, uint64_t number);
  void take_any_numbers();
  void fetch(std::span<const Access> accesses) const;
  void make_room();
  void prune_clocks();

  uint32_t queue_count_;
  uint64_t few_number_max_;
  WaitClocks clocks_;
  QueueSegmentMap segments_;
  // Of the dispatch at hand.
  std::vector<uint64_t> latest_;   // By queue: the last that must come before it; 0: none.
  std::vector<QueuePoint> waits_;  // Of the queues that have one.
  // The same where queues are few, and nothing else was noted.
  std::array<QueuePoint, QueueSegment::kFewQueues> few_waits_;
  size_t few_wait_count_ = 0;
};

}  // namespace interlock
