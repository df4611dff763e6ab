#include "encoder/sync/recording_sink.h"

#include <map>

namespace interlock {
namespace {

void issue(const Command& command, const CommandDetail& detail, CommandSink& sink) {
  switch (command.sync) {
    case SyncKind::kSignal:
      return sink.issue_signal(detail.point);
    case SyncKind::kWait:
      return sink.issue_wait(detail.point);
    case SyncKind::kSet:
      return sink.issue_set(detail.event, detail.source, detail.destination);
    case SyncKind::kAwait:
      return sink.issue_await(detail.event);
    default:
      return sink.issue_split();
  }
}

}  // namespace

void RecordingSink::issue_again(CommandSink& sink) const {
  std::multimap<DispatchId, DispatchId> edges_to;
  for (const CommandEdge& edge : edges_) edges_to.emplace(edge.to, edge.from);
  QueueIndex queue = kDefaultQueue;
  for (const Command& command : commands_) {
    if (command.queue != queue) sink.use_queue(command.queue);
    queue = command.queue;
    const CommandDetail detail =
        command.detail == Command::kNone ? CommandDetail{} : details_[command.detail];
    if (command.kind == StatementKind::kDispatch) {
      const auto [first, last] = edges_to.equal_range(command.dispatch);
      for (auto edge = first; edge != last; ++edge) sink.issue_edge(edge->second, edge->first);
      sink.issue_dispatch(command.dispatch);
    } else if (command.kind == StatementKind::kSync) {
      issue(command, detail, sink);
    } else if (command.barrier == BarrierKind::kScoped) {
      sink.issue_scoped_barrier(detail.source, detail.destination);
    } else {
      sink.issue_barrier(command.barrier);
    }
  }
}

}  // namespace interlock
