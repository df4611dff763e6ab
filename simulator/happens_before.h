// Happens-before: the strict partial order that synchronization leaves among the dispatches of a
// program. docs/theory.md: execution dependencies order; memory dependencies also make writes
// available and visible.
#pragma once

#include <vector>

#include "encoder/program.h"

namespace interlock {

// Built once per program. With one queue and global barriers it is two numbers per dispatch: its
// execution epoch and its memory epoch. Callers ask only the questions below, so that scopes and
// several queues can replace the representation.
class HappensBefore {
 public:
  explicit HappensBefore(const Program& program);

  // `first` has finished before `second` starts, in every legal schedule.
  bool executes_before(DispatchId first, DispatchId second) const {
    return execution_epoch_[first.index] < execution_epoch_[second.index];
  }

  // `first` executes before `second`, and its writes are available and visible to `second`.
  bool is_visible_to(DispatchId first, DispatchId second) const {
    return memory_epoch_[first.index] < memory_epoch_[second.index];
  }

  // The first dispatch of the maximal run without an execution (memory) barrier that contains
  // `dispatch`: everything earlier is ordered before it (visible to it).
  DispatchId execution_epoch_begin(DispatchId dispatch) const;
  DispatchId memory_epoch_begin(DispatchId dispatch) const;

  uint32_t execution_epoch(DispatchId dispatch) const { return execution_epoch_[dispatch.index]; }
  uint32_t memory_epoch(DispatchId dispatch) const { return memory_epoch_[dispatch.index]; }

 private:
  std::vector<uint32_t> execution_epoch_;    // By dispatch; never decreases.
  std::vector<uint32_t> memory_epoch_;       // By dispatch; never decreases.
  std::vector<DispatchId> execution_begin_;  // By epoch.
  std::vector<DispatchId> memory_begin_;     // By epoch.
};

}  // namespace interlock
