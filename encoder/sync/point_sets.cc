#include "encoder/sync/point_sets.h"

#include <utility>

namespace interlock {

PointSet PointSets::new_row() {
  if (free_rows_.empty()) {
    const uint64_t row = rows_.size() / queue_count_;
    rows_.resize(rows_.size() + queue_count_, 0);
    return PointSet::of_row(row);
  }
  const PointSet set = PointSet::of_row(free_rows_.back());
  free_rows_.pop_back();
  std::fill_n(row_of(set), queue_count_, 0);
  return set;
}

void PointSets::give_back_row(PointSet set) { free_rows_.push_back(set.row()); }

PointSet PointSets::both(PointSet one, PointSet other) {
  if (one.is_empty()) return other;
  if (other.is_empty()) return one;
  if (!one.is_row()) std::swap(one, other);
  if (!one.is_row()) {
    if (one.queue() == other.queue()) return one.number() > other.number() ? one : other;
    const PointSet point = one;
    one = new_row();
    row_of(one)[point.queue()] = point.number();
  }
  uint64_t* const row = row_of(one);
  for_each(other,
           [&](uint32_t queue, uint64_t number) { row[queue] = std::max(row[queue], number); });
  give_back(other);
  return one;
}

PointSet PointSets::copy(PointSet set) {
  if (!set.is_row()) return set;
  const PointSet result = new_row();
  std::copy_n(row_of(set), queue_count_, row_of(result));
  return result;
}

}  // namespace interlock
