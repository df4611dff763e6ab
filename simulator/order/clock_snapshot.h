// ClockSnapshots: what rows of clocks were at some moments, such as the signals of a queue. From
// one to the next few numbers change, so a snapshot is what has changed since the one before.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "simulator/order/clock_rows.h"

namespace interlock {

class ClockSnapshot {
 public:
  // The rows as they were. Cost: their numbers, and what has changed since the last snapshot that
  // was kept whole.
  OrderRows rows() const;

 private:
  friend class ClockSnapshots;

  std::shared_ptr<const ClockSnapshot> base_;         // Null: `whole_` is all of it.
  std::vector<std::pair<uint32_t, uint32_t>> since_;  // Index, number: where it is not the base's.
  OrderRows whole_;
};

// Takes snapshots of rows of one length.
class ClockSnapshots {
 public:
  // Cost: the numbers of the rows. What it takes: as many as have changed since the last call, and
  // every now and then all of them.
  std::shared_ptr<const ClockSnapshot> take(const OrderRows& rows);

 private:
  std::shared_ptr<const ClockSnapshot> base_;  // The latest one that is whole.
  size_t since_count_ = 0;                     // Numbers that snapshots since have besides.
};

}  // namespace interlock
