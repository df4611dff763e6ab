// QueueUses: what dispatches of several queues did to the bytes of a segment, and what the next one
// must come after: of each byte the last write and the reads since then. Atomics of one operation
// do not conflict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/sync/point_sets.h"
#include "encoder/sync/queue_segment.h"

namespace interlock {

// A dispatch, and what comes before it.
struct QueueUser {
  uint32_t queue;
  uint64_t number;  // On its queue, from 1 on.
  // By queue: the last dispatch that comes before it; its own number. kFewQueues numbers at least.
  const uint64_t* known;
  AtomicOp atomic_op;
};

class QueueUses {
 public:
  explicit QueueUses(uint32_t queue_count)
      : are_few_(queue_count <= QueueSegment::kFewQueues), sets_(queue_count) {}

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
    for_each_read_after(known, segment, see);
    return are_before;
  }

  // Whether the next dispatch, whichever it is, must come after the same for both. May say no where
  // that is so.
  bool are_alike(const QueueSegment& one, const QueueSegment& other) const {
    const bool has_row = one.writes.is_row() || (!are_few_ && PointSet{one.reads[0]}.is_row());
    return !has_row && one.writes == other.writes && one.reads == other.reads &&
           one.group == QueueSegment::kNone && other.group == QueueSegment::kNone;
  }

  // Calls visit(queue, number) for each dispatch that must_follow() may be called with.
  template <typename Visit>
  void for_each_point(const QueueSegment& segment, const Visit& visit) const {
    sets_.for_each(segment.writes, visit);
    if (segment.group != QueueSegment::kNone) sets_.for_each(groups_[segment.group].before, visit);
    if (!are_few_) return sets_.for_each(PointSet{segment.reads[0]}, visit);
    for (uint32_t queue = 0; queue < QueueSegment::kFewQueues; ++queue) {
      if (segment.reads[queue] != 0) visit(queue, segment.reads[queue]);
    }
  }

  size_t size_bytes() const {
    return sets_.size_bytes() + groups_.capacity() * sizeof(Group) +
           free_groups_.capacity() * sizeof(uint32_t);
  }

 private:
  // Atomics of one operation, and what each of them comes after.
  struct Group {
    PointSet before;
    AtomicOp op = AtomicOp::kNone;
  };

  void add_read(QueueSegment& segment, const QueueUser& user) {
    if (are_few_) {
      segment.reads[user.queue] = user.number;
      return;
    }
    PointSet reads{segment.reads[0]};
    sets_.add(reads, user.queue, user.number, user.known);
    segment.reads[0] = reads.bits;
  }

  template <typename Visit>
  void for_each_read_after(const uint64_t* known, const QueueSegment& segment,
                           const Visit& visit) const {
    if (!are_few_) return sets_.for_each_after(known, PointSet{segment.reads[0]}, visit);
    bool are_some_after = false;
    for (uint32_t queue = 0; queue < QueueSegment::kFewQueues; ++queue) {
      are_some_after |= segment.reads[queue] > known[queue];
    }
    if (!are_some_after) return;
    for (uint32_t queue = 0; queue < QueueSegment::kFewQueues; ++queue) {
      if (segment.reads[queue] > known[queue]) visit(queue, segment.reads[queue]);
    }
  }

  void forget_reads(QueueSegment& segment) {
    if (!are_few_) sets_.give_back(PointSet{segment.reads[0]});
    segment.reads = {};
  }

  template <typename MustFollow>
  void take_atomic(QueueSegment& segment, const QueueUser& user, const MustFollow& must_follow) {
    const bool joins_group = segment.group != QueueSegment::kNone &&
                             groups_[segment.group].op == user.atomic_op &&
                             segment.reads == std::array<uint64_t, QueueSegment::kFewQueues>{};
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

  bool are_few_;  // The queues.
  PointSets sets_;
  std::vector<Group> groups_;
  std::vector<uint32_t> free_groups_;
};

}  // namespace interlock
