// The basic idea is that a global barrier splits issue order into epochs, so that the whole partial
// order is two numbers per dispatch. A full barrier starts a new epoch of both sorts; an
// execution-only barrier starts a new execution epoch and leaves the memory epoch as it is. Scoped
// barriers are scoped_order.h's.
#include "simulator/order/happens_before.h"

#include <algorithm>

#include "encoder/kernel/kernel_table.h"

namespace interlock {

namespace {

// Numbers the epochs that contain a dispatch; barriers in a row start one epoch. Where only full
// barriers count, those of memory.
void count_epochs(const Program& program, bool only_full_count, std::vector<uint32_t>& epochs,
                  std::vector<DispatchId>& begins) {
  epochs.resize(program.dispatches.size());
  begins.reserve(program.barriers.size() + 1);
  bool starts_new_epoch = true;
  uint32_t epoch = UINT32_MAX;
  size_t next = 0;
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kDispatch) {
      INTERLOCK_CHECK(statement.index == next);
      if (starts_new_epoch) {
        begins.emplace_back(next);
        starts_new_epoch = false;
        ++epoch;
      }
      epochs[next++] = epoch;
    } else if (statement.kind == StatementKind::kBarrier) {
      starts_new_epoch = starts_new_epoch || !only_full_count ||
                         program.barriers[statement.index].kind == BarrierKind::kFull;
    }
  }
  INTERLOCK_CHECK(next == epochs.size());
}

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
  bool are_all_full = true;
  for (const Barrier& barrier : program.barriers) {
    if (barrier.kind == BarrierKind::kScoped) {
      scopes_ = std::make_shared<const ScopedOrder>(program);
      return;
    }
    are_all_full &= barrier.kind == BarrierKind::kFull;
  }
  count_epochs(program, false, execution_epoch_, execution_begin_);
  if (are_all_full) {
    memory_epoch_ = execution_epoch_;
    memory_begin_ = execution_begin_;
  } else {
    count_epochs(program, true, memory_epoch_, memory_begin_);
  }
}

}  // namespace interlock
