// SyncOrder: which dispatches the sync of a program with several queues orders, for planners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// True iff the program has sync that no encoder for one queue places anew: several queues, or
// signals, waits, events, the host. Cost: linear in the sync statements.
bool has_sync_of_queues(const Program& program);

// A subset of what is ordered, and made visible whole, that needs no stages, bytes or runs: serial
// queues, full barriers, signals of all stages with the waits for them that come later in the text
// and hold back all stages, and full edges. What the host does, events, narrower sync, and what
// legacy-default queues join is left out: bytes are then reused less, and never wrongly.
//
// What is ordered so is ordered in each execution, whatever the data: so accesses of a value that
// all come before all of another one leave its bytes free.
class SyncOrder {
 public:
  // One bit for each pair.
  static constexpr size_t kDispatchCountMax = 16'384;
  // What signals cover, all together. A signal beyond it covers nothing.
  static constexpr uint64_t kSnapshotBytesMax = uint64_t{1} << 28;

  // Requires: at most kDispatchCountMax dispatches. At a stop (stop.h) the rest is not ordered.
  // Cost: n / 64 steps for each statement and edge, and n^2 / 16 bytes, for n dispatches.
  explicit SyncOrder(const Program& program);

  // True also for a dispatch and itself. Cost: constant.
  bool is_ordered(uint32_t earlier, uint32_t later) const {
    if (earlier >= later) return earlier == later;
    return (bits_[first_word_[later] + earlier / 64] >> (earlier % 64) & 1) != 0;
  }

 private:
  class Walk;

  std::vector<uint64_t> bits_;  // By dispatch: the earlier ones that come before it.
  std::vector<size_t> first_word_;
};

}  // namespace interlock
