// Happens-before: the strict partial order that synchronization leaves among the dispatches of a
// program. docs/theory.md: execution dependencies order; memory dependencies also make writes
// available and visible.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/program.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/scoped_order.h"

namespace interlock {

// Built once per program. With one queue and global barriers it is two numbers per dispatch: its
// execution epoch and its memory epoch. With scoped barriers it is a ScopedOrder, and with several
// queues, the host or indirect dispatches a QueueOrder. Callers that work for all of them ask
// executes_before and find_invisible; epochs, scopes and queues are for the algorithms that are
// faster with them.
class HappensBefore {
 public:
  // Keeps nothing of `program`, unless it has_queues(): then that outlives this, and is in
  // reference order (reference_order.h). `exact`, `part`: as QueueOrder has them. Cost: linear.
  explicit HappensBefore(const Program& program, const Program* exact = nullptr,
                         std::optional<PathPart> part = std::nullopt);

  // The same of a program that is known not to be one for needs_queue_order(), whose
  // answer takes a look at all of it.
  static HappensBefore of_one_queue(const Program& program);

  // What `first` does in its own stage has finished before `second` starts in its own, in every
  // legal schedule. Cost: constant.
  bool executes_before(DispatchId first, DispatchId second) const {
    if (has_queues()) return executes_before_on_queues(first, second);
    return has_scopes() ? scopes_->executes_before(first, second)
                        : execution_epoch_[first.index] < execution_epoch_[second.index];
  }

  // `first` has done the first access before `second` does the other one. Cost: constant.
  bool executes_before(DispatchId first, const Access& first_access, DispatchId second,
                       const Access& second_access) const {
    return has_queues() ? executes_before_on_queues(first, first_access, second, second_access)
                        : executes_before(first, second);
  }

  // Returns the first maximal run of `bytes` in which what `first` writes is not visible to
  // accesses of sort `sort` by `second`; none if it is visible in all of them. Visible bytes imply
  // that `first` executes before `second`. Adds its work to `step_count`, if given.
  // Requires: first < second, and `first` writes `bytes`.
  // Cost: constant, unless dependencies have operands: then the commands between the two.
  std::optional<ByteRange> find_invisible(DispatchId first, DispatchId second, StageAccess sort,
                                          MemoryId memory, ByteRange bytes,
                                          uint64_t* step_count = nullptr) const {
    if (has_queues()) {
      return queues_->find_invisible(first, second, sort, memory, bytes, step_count);
    }
    if (has_scopes()) {
      return scopes_->find_invisible(first, second, sort, memory, bytes, step_count);
    }
    const bool is_visible = memory_epoch_[first.index] < memory_epoch_[second.index];
    return is_visible || bytes.is_empty() ? std::nullopt : std::optional(bytes);
  }

  // What `first` writes is visible to accesses of sort `sort` by `second`, whatever its bytes are:
  // find_invisible then returns none. Requires: no queues. Cost: constant.
  bool is_visible_everywhere(DispatchId first, DispatchId second, StageAccess sort) const {
    return has_scopes()
               ? first.index < scopes_->invisible_begin(scopes_->stage_of(first), sort, second)
               : memory_epoch_[first.index] < memory_epoch_[second.index];
  }

  // Of `second`. Cost: constant.
  OrderWindow window_of(DispatchId second) const {
    if (has_queues()) return {};
    if (has_scopes()) return scopes_->window_of(second);
    return {execution_begin_[execution_epoch_[second.index]].index,
            memory_begin_[memory_epoch_[second.index]].index};
  }

  // True iff needs_queue_order(). Then there are no epochs and no scopes.
  bool has_queues() const { return queues_ != nullptr; }

  // Requires: has_queues().
  const QueueOrder& queues() const {
    INTERLOCK_CHECK(has_queues());
    return *queues_;
  }

  // True iff the program has a scoped barrier, and no queues. Then there are no epochs.
  bool has_scopes() const { return scopes_ != nullptr; }

  // Requires: has_scopes().
  const ScopedOrder& scopes() const {
    INTERLOCK_CHECK(has_scopes());
    return *scopes_;
  }

  // The first dispatch of the maximal run without an execution (memory) barrier that contains
  // `dispatch`: everything earlier is ordered before it (visible to it).
  // Requires: no scopes, and no queues. So below.
  DispatchId execution_epoch_begin(DispatchId dispatch) const {
    return execution_begin_[execution_epoch(dispatch)];
  }
  DispatchId memory_epoch_begin(DispatchId dispatch) const {
    return memory_begin_[memory_epoch(dispatch)];
  }

  uint32_t execution_epoch(DispatchId dispatch) const {
    INTERLOCK_CHECK(dispatch.index < execution_epoch_.size());
    return execution_epoch_[dispatch.index];
  }
  uint32_t memory_epoch(DispatchId dispatch) const {
    INTERLOCK_CHECK(dispatch.index < memory_epoch_.size());
    return memory_epoch_[dispatch.index];
  }

 private:
  HappensBefore() = default;
  void order_one_queue(const Program& program);
  // Apart, so that what one queue asks for stays small enough to be inlined.
  bool executes_before_on_queues(DispatchId first, DispatchId second) const;
  bool executes_before_on_queues(DispatchId first, const Access& first_access, DispatchId second,
                                 const Access& second_access) const;

  std::vector<uint32_t> execution_epoch_;      // By dispatch; never decreases.
  std::vector<uint32_t> memory_epoch_;         // By dispatch; never decreases.
  std::vector<DispatchId> execution_begin_;    // By epoch.
  std::vector<DispatchId> memory_begin_;       // By epoch.
  std::shared_ptr<const ScopedOrder> scopes_;  // Null: global barriers only, or queues.
  std::shared_ptr<const QueueOrder> queues_;   // Null: one queue.
  const Program* program_ = nullptr;           // With queues.
};

}  // namespace interlock
