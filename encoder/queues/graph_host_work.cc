// The basic idea is that to the host a graph is a serial queue, since its signals cover all before
// them in the text: so the host waits as it does for one, and edges order what that leaves.
#include "encoder/queues/graph_host_work.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "encoder/program/stop.h"
#include "encoder/queues/dispatch_conflicts.h"
#include "encoder/queues/given_queues.h"
#include "encoder/queues/host_work.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/sync/recording_sink.h"
#include "encoder/sync/sync_command.h"

namespace interlock {
namespace {

constexpr uint32_t kGraph = 0;    // The queues, and their semaphores.
constexpr uint32_t kHandsOn = 1;  // Serial: what it waits for gets to the host.

QueuesOfDispatches queues_of(const Program& program) {
  QueuesOfDispatches result{numbered_queues(QueueKind::kGraph, 1), {}};
  for (const Dispatch& dispatch : program.dispatches) {
    result.queue_of.push_back(dispatch.host == HostAccess::kNone ? kGraph : UINT32_MAX);
  }
  return result;
}

bool is_host_wait(const Command& command, const RecordingSink& issued) {
  return command.is_whole && issued.syncs()[command.detail].kind == SyncKind::kHostWaits;
}

bool is_signal(const Command& command) {
  return command.kind == StatementKind::kSync && !command.is_whole &&
         command.sync == SyncKind::kSignal;
}

// By dispatch: the earlier ones of the graph that it conflicts with, without those that the host
// has waited for in between.
Predecessors conflicts_within(const Program& program, const RecordingSink& issued) {
  const Predecessors conflicts = conflicts_of(program);
  std::vector<uint32_t> signalled;  // By value, from 1 on: the dispatch before the signal.
  std::vector<uint32_t> ends(program.dispatches.size(), 0);  // Those below are left out.
  uint32_t last = 0;
  uint32_t end = 0;
  for (const Command& command : issued.commands()) {
    if (is_host_wait(command, issued)) {
      end = signalled[issued.syncs()[command.detail].points[0].value - 1] + 1;
    } else if (command.kind == StatementKind::kDispatch) {
      last = command.dispatch.index;
      ends[last] = end;
    } else if (is_signal(command)) {
      signalled.push_back(last);
    }
  }
  const auto is_of_host = [&](uint32_t dispatch) {
    return program.dispatches[dispatch].host != HostAccess::kNone;
  };
  Predecessors within;
  within.reserve(conflicts.size(), conflicts.pair_count());
  for (uint32_t i = 0; i < conflicts.size(); ++i) {
    for (const uint32_t earlier : conflicts[i]) {
      if (earlier < ends[i] || is_of_host(earlier) || is_of_host(i)) continue;
      within.push_back(earlier);
    }
    within.end_operation();
  }
  return within;
}

void issue_host_wait(const SyncCommand& command, bool hands_on, uint64_t wait_count,
                     RecordingSink& sink) {
  if (!hands_on) return sink.issue_sync(command);
  sink.use_queue(kHandsOn);
  sink.issue_wait(command.points[0]);
  const SemaphorePoint handed_on = {.semaphore = kHandsOn, .value = wait_count};
  sink.issue_signal(handed_on);
  sink.issue_sync({.kind = SyncKind::kHostWaits, .points = {handed_on}});
}

void issue_on_graph(const Command& command, const RecordingSink& issued,
                    const OrderReduction& order, RecordingSink& sink) {
  sink.use_queue(kGraph);
  if (command.kind == StatementKind::kLifetime) {
    return sink.issue_lifetime(LifetimeId(size_t{command.detail}));
  }
  if (is_signal(command)) {
    return sink.issue_signal(issued.details()[command.detail].point);
  }
  // A graph has no command buffers.
  if (command.kind != StatementKind::kDispatch) return;
  for (const uint32_t earlier : order.predecessors(command.dispatch.index)) {
    sink.issue_edge(DispatchId(size_t{earlier}), command.dispatch);
  }
  sink.issue_dispatch(command.dispatch);
}

}  // namespace

Result<Program> encode_graph_beside_host(const Program& program) {
  QueuesOfDispatches queues = queues_of(program);
  const RecordingSink issued = commands_beside_host(program, queues, SignalPlaces::kWhereAwaited);
  const OrderReduction order(conflicts_within(program, issued));
  if (is_stopped()) return Program{};
  const bool hands_on = host_has_copies(program);
  RecordingSink sink;
  uint64_t wait_count = 0;
  for (const Command& command : issued.commands()) {
    if (is_host_wait(command, issued)) {
      issue_host_wait(issued.syncs()[command.detail], hands_on, ++wait_count, sink);
    } else {
      issue_on_graph(command, issued, order, sink);
    }
  }
  std::vector<QueueDraft> names = std::move(queues.queues);
  if (hands_on && wait_count > 0) {
    names.push_back(numbered_queues(QueueKind::kSerial, kHandsOn + 1).back());
  }
  return program_by_rules(program, names, sink);
}

}  // namespace interlock
