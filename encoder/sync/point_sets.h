// PointSets: holds the sets of dispatches that are more than one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/sync/queue_segment.h"

namespace interlock {

// The basic idea is that of FastTrack (C. Flanagan, S. N. Freund, "FastTrack: Efficient and Precise
// Dynamic Race Detection", PLDI 2009): an access that comes after all earlier ones stands for them,
// so that one number does for nearly all bytes, and only what is not ordered takes one for each
// queue.
class PointSets {
 public:
  explicit PointSets(uint32_t queue_count) : queue_count_(queue_count) {}

  // Calls visit(queue, number) for each.
  template <typename Visit>
  void for_each(PointSet set, const Visit& visit) const {
    if (!set.is_row()) {
      if (!set.is_empty()) visit(set.queue(), set.number());
      return;
    }
    const uint64_t* const row = row_of(set);
    for (uint32_t queue = 0; queue < queue_count_; ++queue) {
      if (row[queue] != 0) visit(queue, row[queue]);
    }
  }

  // The same for those that are later than `known` says of their queue. Cost: constant for none and
  // one, else linear in the queues.
  template <typename Visit>
  void for_each_after(const uint64_t* known, PointSet set, const Visit& visit) const {
    if (!set.is_row()) {
      if (set.number() > known[set.queue()]) visit(set.queue(), set.number());
      return;
    }
    const uint64_t* const row = row_of(set);
    for (uint32_t queue = 0; queue < queue_count_; ++queue) {
      if (row[queue] > known[queue]) visit(queue, row[queue]);
    }
  }

  // Adds a dispatch; of its queue none is later. `known`: what comes before it, itself included.
  // Cost: constant, linear in the queues where one becomes several.
  void add(PointSet& set, uint32_t queue, uint64_t number, const uint64_t* known) {
    if (set.is_row()) {
      row_of(set)[queue] = number;
    } else if (set.number() <= known[set.queue()]) {
      set = PointSet::of(queue, number);
    } else {
      set = both(set, PointSet::of(queue, number));
    }
  }

  // Returns all of both, which are given back. Cost: linear in the queues.
  PointSet both(PointSet one, PointSet other);

  PointSet copy(PointSet set);

  // Gives back what the set holds here; it must not be used again.
  void give_back(PointSet set) {
    if (set.is_row()) give_back_row(set);
  }

  // Whether none is later than `known` says.
  bool are_before(const uint64_t* known, PointSet set) const {
    bool is_before = true;
    for_each_after(known, set, [&](uint32_t, uint64_t) { is_before = false; });
    return is_before;
  }

  size_t size_bytes() const {
    return rows_.capacity() * sizeof(uint64_t) + free_rows_.capacity() * sizeof(uint64_t);
  }

 private:
  uint64_t* row_of(PointSet set) { return rows_.data() + set.row() * queue_count_; }
  const uint64_t* row_of(PointSet set) const { return rows_.data() + set.row() * queue_count_; }
  PointSet new_row();
  void give_back_row(PointSet set);

  uint32_t queue_count_;
  std::vector<uint64_t> rows_;  // A number for each queue; 0: none.
  std::vector<uint64_t> free_rows_;
};

}  // namespace interlock
