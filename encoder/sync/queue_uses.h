// QueueUses: what dispatches of several queues did to the bytes of a segment, and what the next one
// must come after: of each byte the last write and the reads since then. Atomics of one operation
// do not conflict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/sync/few_numbers.h"
#include "encoder/sync/point_sets.h"
#include "encoder/sync/queue_segment.h"

namespace interlock {

// A dispatch, and what comes before it.
struct QueueUser {
  uint32_t queue;
  uint64_t number;  // On its queue, from 1 on.
  // By queue: the last dispatch that comes before it; its own number.
  const uint64_t* known;
  AtomicOp atomic_op;
};

class QueueUses {
 public:
  explicit QueueUses(uint32_t queue_count)
      : queue_count_(queue_count),
        are_few_(queue_count <= QueueSegment::kFewQueues),
        sets_(queue_count) {}

  // Whether the queues are few, and their numbers below 2^31. If they are not any more, one call of
  // take_any_numbers(segment) for each segment is due, and then one of take_any_numbers().
  bool are_few() const { return are_few_; }
  void take_any_numbers() { are_few_ = false; }
  void take_any_numbers(QueueSegment& segment);

  // Calls must_follow(queue, number) for earlier dispatches that `user` conflicts with by this
  // access and that are not known to come before it: for all of them, but for some that come before
  // another one. Then records the access. Cost: constant; linear in the queues where the bytes have
  // several last uses.
  // Inlined: what it needs of `user` is in registers then.
  template <typename MustFollow>
  [[gnu::always_inline]] void take(QueueSegment& segment, AccessMode mode, const QueueUser& user,
                                   const MustFollow& must_follow) {
    if (mode == AccessMode::kAtomic && user.atomic_op != AtomicOp::kNone) [[unlikely]] {
      return take_atomic(segment, user, must_follow);
    }
    sets_.for_each_after(user.known, segment.writes, must_follow);
    if (mode <= AccessMode::kRead) {
      add_read(segment, user);
      return;
    }
    for_each_read_after(user.known, segment, must_follow);
    if (segment.group != QueueSegment::kNone) [[unlikely]]
      end_group(segment);
    forget_reads(segment);
    segment.writes = PointSet::of(user.queue, user.number);
    if (are_few_) segment.uses[user.queue] = static_cast<uint32_t>(user.number);
  }

  // take() in two steps, of accesses that are looked at one by one and recorded once all were: a
  // branch then asks once a dispatch what no predictor knows. Requires: are_few(), and
  // is_simple() of all.
  bool is_simple(const QueueSegment& segment, AccessMode mode) const {
    return segment.group == QueueSegment::kNone && mode != AccessMode::kAtomic;
  }

  // What a dispatch must follow before the access: of each queue the last one.
  [[gnu::always_inline]] static FewNumbers to_follow(const QueueSegment& segment, AccessMode mode) {
    return mode <= AccessMode::kRead
               ? FewNumbers::of(segment.writes.queue(), number_of_write(segment))
               : FewNumbers::from(segment.uses.data());
  }

  // `own`: the number of the dispatch, and 0 of other queues.
  [[gnu::always_inline]] static void record(QueueSegment& segment, AccessMode mode, uint32_t queue,
                                            uint32_t number, const FewNumbers& own) {
    if (mode <= AccessMode::kRead) {
      segment.uses[queue] = number;
      return;
    }
    own.store(segment.uses.data());
    segment.writes = PointSet::of(queue, number);
  }

  // Gives `copy`, a copy of a segment, uses of its own.
  void copy_uses(QueueSegment& copy);

  // Makes the bytes unused.
  void forget(QueueSegment& segment);

  // Whether no use of the bytes is later than `known` says by queue, as in QueueUser: whoever knows
  // as much need follow none.
  bool are_before(const uint64_t* known, const QueueSegment& segment) const {
    bool are_before = true;
    const auto see = [&](uint32_t, uint64_t) { are_before = false; };
    sets_.for_each_after(known, segment.writes, see);
    for_each_read(segment,
                  [&](uint32_t queue, uint64_t number) { are_before &= number <= known[queue]; });
    return are_before;
  }

  // Whether the next dispatch, whichever it is, must come after the same for both. May say no where
  // that is so.
  bool are_alike(const QueueSegment& one, const QueueSegment& other) const {
    const bool has_row = one.writes.is_row() || (!are_few_ && one.read_set().is_row());
    return !has_row && one.writes == other.writes && one.uses == other.uses &&
           one.group == QueueSegment::kNone && other.group == QueueSegment::kNone;
  }

  // Calls visit(queue, number) for each dispatch that must_follow() may be called with.
  template <typename Visit>
  void for_each_point(const QueueSegment& segment, const Visit& visit) const {
    sets_.for_each(segment.writes, visit);
    if (segment.group != QueueSegment::kNone) sets_.for_each(groups_[segment.group].before, visit);
    for_each_read(segment, visit);
  }

  size_t size_bytes() const {
    return sets_.size_bytes() + groups_.capacity() * sizeof(Group) +
           free_groups_.capacity() * sizeof(uint32_t);
  }

 private:
  static uint32_t number_of_write(const QueueSegment& segment) {
    return static_cast<uint32_t>(segment.writes.number());
  }

  // Atomics of one operation, and what each of them comes after.
  struct Group {
    PointSet before;
    AtomicOp op = AtomicOp::kNone;
  };

  void add_read(QueueSegment& segment, const QueueUser& user) {
    if (are_few_) {
      segment.uses[user.queue] = static_cast<uint32_t>(user.number);
      return;
    }
    PointSet reads = segment.read_set();
    sets_.add(reads, user.queue, user.number, user.known);
    segment.set_reads(reads);
  }

  // The write that `uses` may have is none.
  template <typename Visit>
  void for_each_read(const QueueSegment& segment, const Visit& visit) const {
    if (!are_few_) return sets_.for_each(segment.read_set(), visit);
    for (uint32_t queue = 0; queue < queue_count_; ++queue) {
      const uint64_t number = segment.uses[queue];
      if (number != 0 && PointSet::of(queue, number) != segment.writes) visit(queue, number);
    }
  }

  template <typename Visit>
  void for_each_read_after(const uint64_t* known, const QueueSegment& segment,
                           const Visit& visit) const {
    if (!are_few_) return sets_.for_each_after(known, segment.read_set(), visit);
    for_each_read(segment, [&](uint32_t queue, uint64_t number) {
      if (number > known[queue]) visit(queue, number);
    });
  }

  void forget_reads(QueueSegment& segment) {
    if (!are_few_) sets_.give_back(segment.read_set());
    segment.uses = {};
  }

  template <typename MustFollow>
  void take_atomic(QueueSegment& segment, const QueueUser& user, const MustFollow& must_follow) {
    const bool joins_group = segment.group != QueueSegment::kNone &&
                             groups_[segment.group].op == user.atomic_op &&
                             segment.uses == std::array<uint32_t, QueueSegment::kFewQueues>{};
    if (joins_group) {
      sets_.for_each_after(user.known, groups_[segment.group].before, must_follow);
    } else {
      sets_.for_each_after(user.known, segment.writes, must_follow);
      for_each_read_after(user.known, segment, must_follow);
      begin_group(segment, user.atomic_op);
    }
    sets_.add(segment.writes, user.queue, user.number, user.known);
  }

  void begin_group(QueueSegment& segment, AtomicOp op);
  void end_group(QueueSegment& segment);
  PointSet take_reads(QueueSegment& segment);
  uint32_t new_group();
  void give_back_group(QueueSegment& segment);

  uint32_t queue_count_;
  bool are_few_;  // The queues, and numbers are small.
  PointSets sets_;
  std::vector<Group> groups_;
  std::vector<uint32_t> free_groups_;
};

}  // namespace interlock
