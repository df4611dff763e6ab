// The basic idea is that a global barrier splits issue order into epochs, so that the whole partial
// order is two numbers per dispatch. A full barrier starts a new epoch of both sorts; an
// execution-only barrier starts a new execution epoch and leaves the memory epoch as it is. Scoped
// barriers are scoped_order.h's.
#include "simulator/order/happens_before.h"

#include <algorithm>

#include "encoder/kernel/kernel_table.h"

namespace interlock {

namespace {

// Numbers the epochs that contain a dispatch; barriers in a row start one epoch.
class EpochCounter {
 public:
  void see_barrier() { starts_new_epoch_ = true; }

  uint32_t see_dispatch(DispatchId dispatch, std::vector<DispatchId>& begin) {
    if (starts_new_epoch_) {
      begin.push_back(dispatch);
      starts_new_epoch_ = false;
      ++epoch_;
    }
    return epoch_;
  }

 private:
  bool starts_new_epoch_ = true;
  uint32_t epoch_ = UINT32_MAX;
};

}  // namespace

bool HappensBefore::executes_before_on_queues(DispatchId first, DispatchId second) const {
  return queues_->executes_before(first, stage_of(program_->dispatch(first)), second,
                                  stage_of(program_->dispatch(second)));
}

bool HappensBefore::executes_before_on_queues(DispatchId first, const Access& first_access,
                                              DispatchId second,
                                              const Access& second_access) const {
  return queues_->executes_before(first, stage_of(program_->dispatch(first), first_access), second,
                                  stage_of(program_->dispatch(second), second_access));
}

HappensBefore::HappensBefore(const Program& program, const Program* exact,
                             std::optional<PathPart> part) {
  if (needs_queue_order(program)) {
    queues_ = std::make_shared<const QueueOrder>(program, exact, part);
    program_ = &program;
    return;
  }
  order_one_queue(program);
}

HappensBefore HappensBefore::of_one_queue(const Program& program) {
  HappensBefore order;
  order.order_one_queue(program);
  return order;
}

void HappensBefore::order_one_queue(const Program& program) {
  if (std::ranges::find(program.barriers, BarrierKind::kScoped, &Barrier::kind) !=
      program.barriers.end()) {
    scopes_ = std::make_shared<const ScopedOrder>(program);
    return;
  }
  execution_epoch_.resize(program.dispatches.size());
  memory_epoch_.resize(program.dispatches.size());
  execution_begin_.reserve(program.barriers.size() + 1);
  memory_begin_.reserve(program.barriers.size() + 1);
  EpochCounter execution;
  EpochCounter memory;
  size_t next = 0;
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kDispatch) {
      const DispatchId dispatch(statement.index);
      INTERLOCK_CHECK(dispatch.index == next++);
      execution_epoch_[dispatch.index] = execution.see_dispatch(dispatch, execution_begin_);
      memory_epoch_[dispatch.index] = memory.see_dispatch(dispatch, memory_begin_);
      continue;
    }
    if (statement.kind != StatementKind::kBarrier) continue;
    execution.see_barrier();
    if (program.barriers[statement.index].kind == BarrierKind::kFull) {
      memory.see_barrier();
    }
  }
  INTERLOCK_CHECK(next == program.dispatches.size());
}

}  // namespace interlock
