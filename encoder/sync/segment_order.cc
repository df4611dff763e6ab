// The basic idea is that a new range whose granules nobody has touched shares no byte with any
// segment. It is entered unsorted. Once somebody asks what lies around an offset, all that waits is
// sorted and goes into the ordered index.
//
// A memory with a segment that is too long for marks is asked each time: it is in order always.
#include "encoder/sync/segment_order.h"

#include <algorithm>

#include "encoder/program/check.h"
#include "encoder/sync/queue_segment.h"

namespace interlock {

SegmentOrder::Memory& SegmentOrder::memory_at(MemoryId memory) {
  if (memory.index >= memories_.size()) memories_.resize(memory.index + size_t{1});
  return memories_[memory.index];
}

bool SegmentOrder::enter_if_apart(MemoryId id, ByteRange range) {
  Memory& memory = memory_at(id);
  const bool is_short = GranuleSet::takes(range);
  if (memory.count == 0) {
    enter_first(memory, range);
    memory.is_marked_in_full = is_short;
    return true;
  }
  memory.is_marked_in_full &= is_short;
  if (!memory.is_marked_in_full) return false;
  mark_first(id);
  if (marks_.mark(id.index, range)) return false;
  wait(memory, range.begin);
  return true;
}

// Many memories have one segment for good: it costs no marks.
void SegmentOrder::enter_first(Memory& memory, ByteRange range) {
  memory.only = range.begin;
  memory.only_bytes = GranuleSet::takes(range) ? static_cast<uint32_t>(range.size_bytes()) : 0;
  memory.count = 1;
}

void SegmentOrder::mark_first(MemoryId id) {
  Memory& memory = memories_[id.index];
  if (memory.only_bytes == 0) return;
  marks_.mark(id.index, {memory.only, memory.only + memory.only_bytes});
  memory.only_bytes = 0;
}

// Enters what is not the first.
void SegmentOrder::wait(Memory& memory, uint64_t begin) {
  if (memory.has_only()) append_waiting(memory, memory.only);
  append_waiting(memory, begin);
  ++memory.count;
}

void SegmentOrder::append_waiting(Memory& memory, uint64_t begin) {
  if (free_waiting_ == kNone) {
    INTERLOCK_CHECK(waiting_.size() < kNone);
    waiting_.push_back({begin, memory.last_waiting});
    memory.last_waiting = static_cast<uint32_t>(waiting_.size() - 1);
    return;
  }
  const uint32_t place = free_waiting_;
  free_waiting_ = waiting_[place].next;
  waiting_[place] = {begin, memory.last_waiting};
  memory.last_waiting = place;
}

void SegmentOrder::enter(MemoryId id, uint64_t begin) {
  Memory& memory = memories_[id.index];
  sort(memory);
  if (begin != 0) index_.insert(memory.tree, begin);
  ++memory.count;
}

// Gives the memory a tree that has all of its segments.
void SegmentOrder::sort(Memory& memory) {
  if (memory.tree.root == BoundaryIndex::kNone) {
    if (memory.has_only()) append_waiting(memory, memory.only);
    index_.insert(memory.tree, 0);
  }
  if (memory.last_waiting == kNone) return;
  sorted_.clear();
  uint32_t first = memory.last_waiting;
  for (uint32_t place = first; place != kNone; place = waiting_[place].next) {
    sorted_.push_back(waiting_[place].begin);
    first = place;
  }
  waiting_[first].next = free_waiting_;
  free_waiting_ = memory.last_waiting;
  memory.last_waiting = kNone;
  std::sort(sorted_.begin(), sorted_.end());
  for (const uint64_t begin : sorted_) {
    if (begin != 0) index_.insert(memory.tree, begin);
  }
}

uint64_t SegmentOrder::last_until(MemoryId id, uint64_t offset) {
  Memory& memory = memory_at(id);
  if (memory.count == 0) return kNowhere;
  memory.was_asked = true;
  if (memory.has_only()) return memory.only <= offset ? memory.only : kNowhere;
  sort(memory);
  return index_.find(memory.tree, offset);
}

uint64_t SegmentOrder::first_after(MemoryId id, uint64_t offset) {
  Memory& memory = memory_at(id);
  if (memory.count == 0) return kNowhere;
  if (memory.has_only()) return memory.only > offset ? memory.only : kNowhere;
  sort(memory);
  return index_.find_after(memory.tree, offset);
}

void SegmentOrder::erase(MemoryId id, uint64_t first, uint64_t last, size_t count) {
  if (count == 0) return;
  Memory& memory = memories_[id.index];
  sort(memory);
  index_.erase(memory.tree, first, last);
  memory.count -= static_cast<uint32_t>(count);
}

// What was asked for stays in order: it is likely to be asked for again.
template <typename Segment>
void SegmentOrder::restart(const std::vector<Segment>& segments,
                           BasicSegmentTable<Segment>& table) {
  std::vector<uint64_t> begins;
  for (uint32_t i = 0; i < memories_.size(); ++i) {
    Memory& memory = memories_[i];
    memory.was_asked &= memory.tree.root != BoundaryIndex::kNone;
    memory.count = 0;
    if (!memory.was_asked) continue;
    sort(memory);
    const size_t begin_count = begins.size();
    index_.append_all(memory.tree, begins);
    keep_those_of(table, i, begins, begin_count);
    memory.count = static_cast<uint32_t>(begins.size() - begin_count);
  }
  index_.clear();
  marks_.clear();
  waiting_.clear(waiting_.size());
  free_waiting_ = kNone;
  const uint64_t* next = begins.data();
  for (Memory& memory : memories_) {
    const uint32_t count = memory.count;
    memory.tree = {};
    memory.last_waiting = kNone;
    memory.only_bytes = 0;
    memory.is_marked_in_full = true;
    if (count > 0) memory.only = *next;
    if (count > 1) append_sorted(memory, {next, count});
    next += count;
  }
  for (const Segment& segment : segments) {
    memories_[segment.memory()].is_marked_in_full &=
        GranuleSet::takes({segment.begin, segment.end});
  }
  for (const Segment& segment : segments) {
    enter_again(MemoryId(segment.memory()), {segment.begin, segment.end});
  }
  for (Memory& memory : memories_) memory.was_asked = false;
}

// Removes those, from the one at `first` on, at which no segment begins any more.
template <typename Segment>
void SegmentOrder::keep_those_of(BasicSegmentTable<Segment>& table, uint32_t memory,
                                 std::vector<uint64_t>& begins, size_t first) {
  constexpr size_t kPrefetchDistance = 16;
  size_t kept = first;
  for (size_t i = first; i < begins.size(); ++i) {
    table.prefetch_slot(memory, begins[std::min(i + kPrefetchDistance, begins.size() - 1)]);
    if (table.find(memory, begins[i]) != nullptr) begins[kept++] = begins[i];
  }
  begins.resize(kept);
}

void SegmentOrder::append_sorted(Memory& memory, std::span<const uint64_t> begins) {
  index_.insert(memory.tree, 0);
  for (const uint64_t begin : begins) {
    if (begin != 0) index_.insert(memory.tree, begin);
  }
}

void SegmentOrder::enter_again(MemoryId id, ByteRange range) {
  Memory& memory = memories_[id.index];
  if (!memory.was_asked) {
    if (memory.count == 0) return enter_first(memory, range);
    if (memory.is_marked_in_full) mark_first(id);
    wait(memory, range.begin);
  }
  if (memory.is_marked_in_full) marks_.mark(id.index, range);
}

size_t SegmentOrder::size_bytes() const {
  return memories_.capacity() * sizeof(Memory) + marks_.size_bytes() + index_.size_bytes() +
         waiting_.size_bytes() + sorted_.capacity() * sizeof(uint64_t);
}

template void SegmentOrder::restart(const std::vector<Segment>&, BasicSegmentTable<Segment>&);
template void SegmentOrder::restart(const std::vector<QueueSegment>&,
                                    BasicSegmentTable<QueueSegment>&);

}  // namespace interlock
