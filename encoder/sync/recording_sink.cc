#include "encoder/sync/recording_sink.h"

#include <algorithm>
#include <map>

#include "encoder/program/error_of.h"

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

void issue(const CommandEdge& edge, CommandSink& sink) {
  if (edge.is_programmatic) {
    sink.issue_programmatic_edge(edge.from, edge.to);
  } else {
    sink.issue_edge(edge.from, edge.to);
  }
}

}  // namespace

void RecordingSink::issue_sync(const SyncCommand& command) {
  commands_.push_back({.kind = command.is_barrier ? StatementKind::kBarrier : StatementKind::kSync,
                       .barrier = command.barrier,
                       .sync = command.kind,
                       .is_whole = true,
                       .queue = queue_,
                       .detail = static_cast<uint32_t>(syncs_.size())});
  syncs_.push_back(command);
}

void RecordingSink::issue_again(CommandSink& sink) const {
  std::multimap<DispatchId, CommandEdge> edges_to;
  for (const CommandEdge& edge : edges_) edges_to.emplace(edge.to, edge);
  QueueIndex queue = kDefaultQueue;
  for (const Command& command : commands_) {
    if (command.queue != queue) sink.use_queue(command.queue);
    queue = command.queue;
    if (command.is_whole) {
      sink.issue_sync(syncs_[command.detail]);
      continue;
    }
    if (command.kind == StatementKind::kLifetime) {
      sink.issue_lifetime(LifetimeId(size_t{command.detail}));
      continue;
    }
    const CommandDetail detail =
        command.detail == Command::kNone ? CommandDetail{} : details_[command.detail];
    if (command.kind == StatementKind::kDispatch) {
      const auto [first, last] = edges_to.equal_range(command.dispatch);
      for (auto edge = first; edge != last; ++edge) issue(edge->second, sink);
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

Result<Success> check_issued_once(const Program& program, const RecordingSink& issued) {
  std::vector<bool> is_issued(program.dispatches.size(), false);
  for (const Command& command : issued.commands()) {
    const bool has_no_scope = command.kind == StatementKind::kBarrier &&
                              command.barrier == BarrierKind::kScoped &&
                              command.detail == Command::kNone;
    if (has_no_scope) return Error{"The encoder issues a scoped barrier without its scopes."};
    if (command.kind != StatementKind::kDispatch) continue;
    const size_t index = command.dispatch.index;
    if (index >= is_issued.size()) {
      return error_of("The encoder issues dispatch {}; there are {}.", index, is_issued.size());
    }
    if (is_issued[index]) {
      return error_of("The encoder issues {} twice.", program.description_of(command.dispatch));
    }
    is_issued[index] = true;
  }
  const auto dropped = std::ranges::find(is_issued, false);
  if (dropped != is_issued.end()) {
    const DispatchId id(static_cast<size_t>(dropped - is_issued.begin()));
    return error_of("The encoder never issues {}.", program.description_of(id));
  }
  return Success{};
}

}  // namespace interlock
