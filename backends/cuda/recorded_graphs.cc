#include "backends/cuda/recorded_graphs.h"

#include <algorithm>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

// Mix has what tells a dispatch from others, and so a replay from others; no graph of real kernels
// has anything like it.
bool differs_by_replay(const CudaCommand& command) {
  return command.launch.function != DeviceFunction::kRunSlices ||
         command.launch.kernel == mix_kernel();
}

// What a graph freezes is the same in every replay.
void check_is_same_recording(const CudaCommandList& list, const CudaCommand& first,
                             const CudaCommand& other) {
  INTERLOCK_CHECK(std::ranges::equal(list.operands_of(first), list.operands_of(other)));
  INTERLOCK_CHECK(first.launch.function == other.launch.function &&
                  first.launch.kernel == other.launch.kernel &&
                  first.launch.block_count == other.launch.block_count &&
                  first.launch.arguments.first_slice == other.launch.arguments.first_slice);
  INTERLOCK_CHECK(differs_by_replay(first) ||
                  first.launch.arguments.params == other.launch.arguments.params);
}

}  // namespace

std::vector<GraphReplay> graph_replays_of(const Program& program, const Poison& poison) {
  std::vector<GraphReplay> replays;
  for (const Replay& replay : program.replays) {
    uint32_t begin = UINT32_MAX;
    uint32_t end = 0;
    bool finds_poison = false;
    for (uint32_t i = 0; i < replay.statement_count; ++i) {
      const Statement& statement = program.statements[replay.first.index + i];
      if (statement.kind != StatementKind::kDispatch) continue;
      begin = std::min(begin, statement.index);
      end = statement.index + 1;
      finds_poison |= !poison.ended_before(DispatchId(statement.index)).empty();
    }
    if (begin >= end || finds_poison) continue;
    replays.push_back({replay.capture, {DispatchId(begin), DispatchId(end)}});
  }
  return replays;
}

RecordedGraphs::~RecordedGraphs() {
  // An error is of no use here, but a loss is noted.
  for (const Graph& graph : graphs_) {
    if (graph.executable != nullptr && !device_->lost()) {
      static_cast<void>(device_->check(device_->runtime().destroy_executable(graph.executable),
                                       "destroying a graph"));
    }
    if (graph.source != nullptr && !device_->lost()) {
      static_cast<void>(
          device_->check(device_->runtime().destroy_graph(graph.source), "destroying a graph"));
    }
  }
}

Result<std::vector<CommandNode>> RecordedGraphs::build(const Issuing& issuing,
                                                       const DispatchGraph& order) {
  CudaGraphSource source = nullptr;
  auto created = device_->check(device_->runtime().create_graph(source), "creating a graph");
  if (!created) return created.error();
  graphs_.push_back({source, nullptr});
  auto nodes = add_to_graph(issuing, order, source);
  if (!nodes) return nodes;
  auto done = instantiate();
  if (!done) return done.error();
  return nodes;
}

// The graph that was added last.
Result<Success> RecordedGraphs::instantiate() {
  Graph& graph = graphs_.back();
  return device_->check(device_->runtime().instantiate(graph.source, graph.executable),
                        "instantiating a graph");
}

Result<Success> RecordedGraphs::launch_once(DispatchRange range) {
  launches_.push_back({range, graphs_.back().executable, {}});
  const CudaGraphSource source = std::exchange(graphs_.back().source, nullptr);
  return device_->check(device_->runtime().destroy_graph(source), "destroying a graph");
}

Result<Success> RecordedGraphs::add(const Issuing& issuing, DispatchRange range,
                                    const GraphParts& whole) {
  auto nodes = build(issuing, whole.part(range));
  return nodes ? launch_once(range) : nodes.error();
}

Result<Success> RecordedGraphs::add_captured(const Issuing& issuing, DispatchRange range,
                                             const StreamPlan& plan) {
  // All there before, because not every call may be made during a capture.
  for (uint32_t s = 0; s < plan.stream_count; ++s) {
    auto created = device_->stream(s);
    if (!created) return created.error();
  }
  auto event = device_->event(plan.event_count);
  if (!event) return event.error();
  auto stream = device_->stream(0);
  if (!stream) return stream.error();
  auto begun = device_->check(device_->runtime().begin_capture(*stream), "capturing a stream");
  if (!begun) return begun;
  auto issued = issue_streams(issuing, plan, true);
  if (device_->lost()) return issued;
  CudaGraphSource source = nullptr;
  auto ended = device_->check(device_->runtime().end_capture(*stream, source), "ending a capture");
  if (ended) graphs_.push_back({source, nullptr});
  if (!issued) return issued;
  if (ended) ended = instantiate();
  return ended ? launch_once(range) : ended;
}

Result<Success> RecordedGraphs::add_replay(const Issuing& issuing, const GraphReplay& replay,
                                           const GraphParts& whole) {
  const auto found = captured_.find(replay.capture);
  if (found == captured_.end()) {
    auto nodes = build(issuing, whole.part(replay.dispatches));
    if (!nodes) return nodes.error();
    const CudaGraphExecutable executable = graphs_.back().executable;
    captured_[replay.capture] = {executable, std::move(*nodes), launches_.size()};
    launches_.push_back({replay.dispatches, executable, {}});
    return Success{};
  }
  const CapturedGraph& captured = found->second;
  launches_.push_back({replay.dispatches, captured.executable,
                       updates_of(issuing.lowered, captured, replay.dispatches)});
  // From the second execution on, the first replay comes after the last one.
  GraphLaunch& first = launches_[captured.first_launch];
  if (first.updates.empty()) {
    first.updates = updates_of(issuing.lowered, captured, first.dispatches);
  }
  return Success{};
}

std::vector<CommandNode> RecordedGraphs::updates_of(const LoweredProgram& lowered,
                                                    const CapturedGraph& captured,
                                                    DispatchRange range) const {
  const auto commands = lowered.list.commands();
  const size_t begin = lowered.dispatches[range.begin.index].begin;
  INTERLOCK_CHECK(lowered.dispatches[range.end.index - 1].end - begin == captured.nodes.size());
  const DispatchRange recorded = launches_[captured.first_launch].dispatches;
  const size_t recorded_begin = lowered.dispatches[recorded.begin.index].begin;
  std::vector<CommandNode> updates;
  for (const CommandNode& node : captured.nodes) {
    const size_t command = begin + (node.command - recorded_begin);
    check_is_same_recording(lowered.list, commands[node.command], commands[command]);
    if (differs_by_replay(commands[command])) updates.push_back({command, node.node});
  }
  return updates;
}

}  // namespace interlock
