#include "encoder/sync/queue_uses.h"

namespace interlock {

uint32_t QueueUses::new_group() {
  if (free_groups_.empty()) {
    groups_.emplace_back();
    return static_cast<uint32_t>(groups_.size() - 1);
  }
  const uint32_t group = free_groups_.back();
  free_groups_.pop_back();
  return group;
}

void QueueUses::give_back_group(QueueSegment& segment) {
  if (segment.group == QueueSegment::kNone) return;
  sets_.give_back(groups_[segment.group].before);
  free_groups_.push_back(segment.group);
  segment.group = QueueSegment::kNone;
}

// As a set; the segment has none then.
PointSet QueueUses::take_reads(QueueSegment& segment) {
  PointSet reads;
  if (are_few_) {
    for_each_read(segment, [&](uint32_t queue, uint64_t number) {
      reads = sets_.both(reads, PointSet::of(queue, number));
    });
  } else {
    reads = segment.read_set();
  }
  segment.uses = {};
  return reads;
}

void QueueUses::take_any_numbers(QueueSegment& segment) {
  const PointSet reads = take_reads(segment);
  segment.set_reads(reads);
}

// The first atomic of a group is to be added to the writes: the next ones follow what it follows.
void QueueUses::begin_group(QueueSegment& segment, AtomicOp op) {
  give_back_group(segment);
  segment.group = new_group();
  const PointSet reads = take_reads(segment);
  groups_[segment.group] = {sets_.both(segment.writes, reads), op};
  segment.writes = {};
}

// Only the writes of a group are several.
void QueueUses::end_group(QueueSegment& segment) {
  give_back_group(segment);
  sets_.give_back(segment.writes);
}

void QueueUses::copy_uses(QueueSegment& copy) {
  copy.writes = sets_.copy(copy.writes);
  if (!are_few_) copy.set_reads(sets_.copy(copy.read_set()));
  if (copy.group == QueueSegment::kNone) return;
  const uint32_t original = copy.group;
  copy.group = new_group();
  groups_[copy.group] = {sets_.copy(groups_[original].before), groups_[original].op};
}

void QueueUses::forget(QueueSegment& segment) {
  sets_.give_back(segment.writes);
  segment.writes = {};
  give_back_group(segment);
  forget_reads(segment);
}

}  // namespace interlock
