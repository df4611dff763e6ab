// Of QueueClocks, what signals are watched for: how many of a semaphore have fired, or how many
// waits for a binary one are over.
#include <algorithm>

#include "encoder/program/scope.h"
#include "simulator/order/queue_clocks.h"
#include "simulator/order/scoped_order.h"

namespace interlock {

// It fires after what the row says, and from then on the row says that it has; or that the wait for
// it is over, once that is.
void QueueClocks::watch_signal(uint32_t part_index, StatementId statement, Row& row) {
  const SemaphoreId semaphore = program_.signal_parts[part_index].semaphore;
  const uint32_t column = columns_.signals + watch_->columns[semaphore.index];
  const uint32_t rank = watch_->ranks[part_index];
  if (row[column] + 1 < rank) watch_->unordered.push_back({semaphore, statement, rank});
  if (!watch_->counts_waits[semaphore.index]) row[column] = std::max(row[column], rank);
}

// A queue comes to a wait after its submission, and after its earlier waits: of these, those for
// the same semaphore, and those that hold back all that it does. One that is serial has finished
// what stands before, and so has the host.
void QueueClocks::watch_wait(const SyncStep& step, QueueIndex queue, Row& row) {
  const uint32_t semaphore = step.semaphore.index;
  const bool is_counted = is_watched(step.semaphore) && watch_->counts_waits[semaphore];
  const uint32_t column = columns_.signals + watch_->columns[semaphore];
  const uint32_t rank = watch_->ranks[step.partner];
  const auto take = [&](std::span<uint32_t> taken) {
    if (is_counted) taken[column] = std::max(taken[column], rank);
  };
  uint32_t come_to = 0;  // So many waits are over when it comes to this one.
  const auto see = [&](std::span<const uint32_t> over) {
    if (is_counted && column < over.size()) come_to = std::max(come_to, over[column]);
  };
  if (queue == kNoQueue) {
    if (is_counted) see(executed(kNoQueue, Stage::kHost));
  } else {
    Row& of_queue = queues_[queue].come_to;
    of_queue.resize(columns_.count);
    see(of_queue);
    const QueueKind kind = program_.kind_of(queue);
    const bool is_serial = kind != QueueKind::kConcurrent && kind != QueueKind::kGraph;
    if (is_counted && is_serial) see(executed(queue, Stage::kCompute));
    const StageMask stages = is_graph(queue) ? kAllStages : with_later(step.stages);
    const bool holds_all = (stages & kDeviceStages) == kDeviceStages;
    if (holds_all) raise_row(of_queue, ClockRow(row).first(columns_.count));
    take(of_queue);
  }
  if (is_counted && come_to + 1 < rank) {
    watch_->unordered.push_back({step.semaphore, step.statement, rank});
  }
  take(row);
}

}  // namespace interlock
