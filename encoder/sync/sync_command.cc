#include "encoder/sync/sync_command.h"

#include "encoder/sync/submission.h"

namespace interlock {
namespace {

void issue_barrier_of(const SyncCommand& command, CommandSink& sink) {
  const bool is_simple = command.barrier == BarrierKind::kScoped &&
                         command.dependencies.size() == 1 &&
                         command.dependencies[0].operands.empty();
  if (is_simple) {
    const DependencyCommand& dependency = command.dependencies[0];
    sink.issue_scoped_barrier(dependency.source, dependency.destination);
  } else {
    const bool is_full = command.barrier != BarrierKind::kExecution;
    sink.issue_barrier(is_full ? BarrierKind::kFull : BarrierKind::kExecution);
  }
}

}  // namespace

void CommandSink::issue_submission(QueueIndex queue, std::span<const QueuePoint> waits,
                                   DispatchId id, uint64_t number) {
  issue_one_by_one(*this, queue, waits, id, number);
}

void CommandSink::issue_sync(const SyncCommand& command) {
  if (command.is_barrier) return issue_barrier_of(command, *this);
  switch (command.kind) {
    case SyncKind::kSignal:
      for (const SemaphorePoint& point : command.points) issue_signal(point);
      return;
    case SyncKind::kWait:
      if (command.is_from_outside) return;
      for (const SemaphorePoint& point : command.points) issue_wait(point);
      return;
    case SyncKind::kAwait:
      return issue_await(command.event);
    case SyncKind::kSplit:
      return issue_split();
    case SyncKind::kHostWaits:
    case SyncKind::kHostIdle:
      return issue_barrier(BarrierKind::kFull);
    case SyncKind::kSet:
    case SyncKind::kSubmit:
    case SyncKind::kHostSignals:
    case SyncKind::kHostFlushes:
    case SyncKind::kHostInvalidates:
      return;
  }
}

}  // namespace interlock
