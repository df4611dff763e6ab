#include "simulator/order/clock_snapshot.h"

namespace interlock {

OrderRows ClockSnapshot::rows() const {
  if (base_ == nullptr) return whole_;
  OrderRows rows = base_->whole_;
  for (const auto& [index, number] : since_) rows[index] = number;
  return rows;
}

std::shared_ptr<const ClockSnapshot> ClockSnapshots::take(const OrderRows& rows) {
  auto snapshot = std::make_shared<ClockSnapshot>();
  if (base_ != nullptr) {
    for (uint32_t i = 0; i < rows.size(); ++i) {
      if (rows[i] != base_->whole_[i]) snapshot->since_.emplace_back(i, rows[i]);
    }
    since_count_ += snapshot->since_.size();
    // Changes add up: all snapshots since take as much as the whole one, and it is time for
    // another.
    if (since_count_ <= rows.size()) {
      snapshot->base_ = base_;
      snapshot->since_.shrink_to_fit();
      return snapshot;
    }
    snapshot->since_ = {};
  }
  snapshot->whole_ = rows;
  base_ = snapshot;
  since_count_ = 0;
  return snapshot;
}

}  // namespace interlock
