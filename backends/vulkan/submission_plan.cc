#include "backends/vulkan/submission_plan.h"

#include <volk.h>

#include <algorithm>
#include <utility>

#include "backends/interface/poison.h"
#include "backends/vulkan/barrier_lowering.h"
#include "backends/vulkan/poison_lowering.h"
#include "backends/vulkan/program_lowering.h"
#include "encoder/program/check.h"
#include "simulator/order/signal_order.h"
#include "simulator/order/submissions.h"

namespace interlock {
namespace {

constexpr uint64_t kAllCommands = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;

class SubmissionPlanner {
 public:
  SubmissionPlanner(const VulkanLowering& lowering, uint32_t device_queue_count, uint64_t rotation)
      : lowering_(lowering),
        program_(lowering.program),
        elsewhere_(runs_elsewhere(lowering)),
        poison_(lowering.program),
        device_queue_count_(device_queue_count),
        queues_(program_.queue_count()),
        is_taken_outside_(binary_semaphores_taken_outside(program_)),
        counts_(program_.semaphores.size()),
        values_(program_.signal_parts.size()),
        events_(program_.syncs.size()),
        operations_(program_.dispatches.size()) {
    plan_.semaphore_count = static_cast<uint32_t>(program_.semaphores.size());
    for (size_t q = 0; q < queues_.size(); ++q) {
      queues_[q].progress = plan_.semaphore_count++;
      queues_[q].device_queue = static_cast<uint32_t>((q + rotation) % device_queue_count);
    }
  }

  Result<Success> add(StatementId id) {
    const Statement& statement = program_.statements[id.index];
    lowering_.list.statement = id.index;
    if (is_of_host(program_, statement)) {
      add_of_host(statement);
      return Success{};
    }
    if (!runs_on_its_queue(program_, statement)) {
      queues_[statement.queue].ends_buffer = true;  // Whatever it is: a buffer may always end.
      return Success{};
    }
    keep_order(statement.queue);
    if (is_graph(statement.queue)) return add_on_graph(statement);
    join(statement.queue);
    const size_t begin = lowering_.list.commands.size();
    switch (statement.kind) {
      case StatementKind::kDispatch: {
        auto lowered = add_dispatch(statement.queue, DispatchId(size_t{statement.index}));
        if (!lowered) return lowered;
        break;
      }
      case StatementKind::kBarrier:
        lower_barrier(program_, program_.barriers[statement.index], lowering_.layout,
                      lowering_.list, elsewhere_);
        take_commands(statement.queue, begin);
        break;
      case StatementKind::kSync:
        add_sync(statement.queue, statement.index);
        break;
      case StatementKind::kLifetime:
        break;
    }
    return Success{};
  }

  SubmissionPlan finish() && {
    flush_all();
    QueueSubmission last;
    last.waits = all_over();
    const size_t begin = lowering_.list.commands.size();
    lowering_.list.add_full_barrier();
    last.buffers = {{{begin, begin + 1}}};
    const TimelinePoint end{plan_.semaphore_count++, 1, kAllCommands};
    last.signals = {end};
    plan_.actions.emplace_back(std::move(last));
    plan_.actions.emplace_back(HostAction{HostAction::Kind::kWait, {}, {end}});
    return std::move(plan_);
  }

 private:
  using Points = std::vector<TimelinePoint>;

  struct QueueState {
    uint32_t device_queue = 0;
    uint32_t progress = 0;  // A semaphore that says how far it is, where something waits for that.
    uint64_t progress_count = 0;
    uint64_t operation_count = 0;  // Of a graph.
    bool has_progressed = false;   // Since `outstanding`.
    QueueSubmission open;          // What comes next.
    bool ends_buffer = false;      // The next command begins another buffer.
    Points outstanding;            // Once these are there, all of it that was submitted is over.
    Points gates;                  // Of a graph: what each operation to come waits for.
    std::vector<uint64_t> joined_counts;  // By queue: which count of its progress was waited for.
  };

  static void append(Points& points, const Points& more) {
    points.insert(points.end(), more.begin(), more.end());
  }

  bool is_graph(QueueIndex q) const { return program_.kind_of(q) == QueueKind::kGraph; }

  static bool has_work(const QueueSubmission& open) {
    return !open.buffers.empty() || !open.signals.empty();
  }

  void flush(QueueIndex q) {
    QueueState& queue = queues_[q];
    if (!has_work(queue.open) && queue.open.waits.empty()) return;
    queue.open.device_queue = queue.device_queue;
    queue.has_progressed = true;
    queue.ends_buffer = false;
    plan_.actions.emplace_back(std::exchange(queue.open, {}));
  }

  void flush_all() {
    for (size_t q = 0; q < queues_.size(); ++q) flush(static_cast<QueueIndex>(q));
  }

  // Once these are there, all of the queue so far is over. A signal of its own: one more in each
  // submission would be covered by all signals after it, and so cover for them what they do not.
  const Points& over(QueueIndex q) {
    flush(q);
    QueueState& queue = queues_[q];
    if (!queue.has_progressed || is_graph(q)) return queue.outstanding;
    queue.has_progressed = false;
    QueueSubmission progress;
    progress.device_queue = queue.device_queue;
    queue.outstanding = {{queue.progress, ++queue.progress_count, kAllCommands}};
    progress.signals = queue.outstanding;
    plan_.actions.emplace_back(std::move(progress));
    return queue.outstanding;
  }

  Points all_over() {
    Points points;
    for (size_t q = 0; q < queues_.size(); ++q) append(points, over(static_cast<QueueIndex>(q)));
    return points;
  }

  // A queue of the device executes what it has in the order of issue, not queue by queue of the
  // program.
  void keep_order(QueueIndex q) {
    if (last_queue_ != q && queues_[last_queue_].device_queue == queues_[q].device_queue) {
      flush(last_queue_);
    }
    last_queue_ = q;
  }

  // All that comes next on the queue waits.
  void wait(QueueIndex q, const Points& points) {
    if (points.empty()) return;
    if (is_graph(q)) {
      pass_gate(q, points);
      return;
    }
    if (has_work(queues_[q].open)) flush(q);
    append(queues_[q].open.waits, points);
  }

  // The commands from `begin` on are next on the queue.
  void take_commands(QueueIndex q, size_t begin) {
    const size_t end = lowering_.list.commands.size();
    if (begin == end) return;
    QueueState& queue = queues_[q];
    if (queue.open.buffers.empty() || queue.ends_buffer) queue.open.buffers.emplace_back();
    queue.ends_buffer = false;
    queue.open.buffers.back().push_back({begin, end});
  }

  // Legacy-default queues join the blocking ones at each of their statements, and the other way
  // round.
  void join(QueueIndex q) {
    const QueueKind kind = program_.kind_of(q);
    const bool is_legacy = kind == QueueKind::kLegacyDefault;
    if (!is_legacy && kind != QueueKind::kSerialBlocking) return;
    const QueueKind other = is_legacy ? QueueKind::kSerialBlocking : QueueKind::kLegacyDefault;
    queues_[q].joined_counts.resize(queues_.size());
    for (size_t o = 0; o < queues_.size(); ++o) {
      if (program_.kind_of(static_cast<QueueIndex>(o)) != other) continue;
      const Points& points = over(static_cast<QueueIndex>(o));
      if (queues_[q].joined_counts[o] == queues_[o].progress_count) continue;
      queues_[q].joined_counts[o] = queues_[o].progress_count;
      wait(q, points);
    }
  }

  Result<Success> add_dispatch(QueueIndex q, DispatchId id) {
    const QueueKind kind = program_.kind_of(q);
    const std::span<const EndedBytes> ended = poison_.ended_before(id);
    if (!ended.empty()) wait_for_all(q);
    const size_t begin = lowering_.list.commands.size();
    if (kind != QueueKind::kConcurrent) lowering_.list.add_full_barrier();
    lower_poison(lowering_, ended);
    auto lowered = lower_dispatch(lowering_, id);
    if (!lowered) return lowered;
    if (!ended.empty()) lowering_.list.add_full_barrier();
    take_commands(q, begin);
    if (!ended.empty()) let_all_wait(q);
    return Success{};
  }

  // Poison stands where issue order has it: after all that was issued, and before all that is to
  // come.
  void wait_for_all(QueueIndex q) {
    for (size_t o = 0; o < queues_.size(); ++o) {
      if (o != q) wait(q, over(static_cast<QueueIndex>(o)));
    }
  }
  void let_all_wait(QueueIndex q) {
    const Points points = over(q);
    for (size_t o = 0; o < queues_.size(); ++o) {
      if (o != q) wait(static_cast<QueueIndex>(o), points);
    }
  }

  void add_sync(QueueIndex q, uint32_t index) {
    const SyncStep& step = program_.syncs[index];
    const size_t begin = lowering_.list.commands.size();
    switch (step.kind) {
      case SyncKind::kSignal:
        append(queues_[q].open.signals, signals_of(step));
        flush(q);
        break;
      case SyncKind::kWait:
        wait(q, wait_of(step));
        break;
      case SyncKind::kSet:
        events_[index] = plan_.event_count++;
        lower_set(program_, step, events_[index], lowering_.layout, lowering_.list, elsewhere_);
        take_commands(q, begin);
        break;
      case SyncKind::kAwait:
        lower_await(program_, program_.syncs[step.partner], events_[step.partner], lowering_.layout,
                    lowering_.list, elsewhere_);
        take_commands(q, begin);
        break;
      default:
        break;
    }
  }

  Points signals_of(const SyncStep& step) {
    Points points;
    for (size_t k = 0; k < program_.parts_of(step).size(); ++k) {
      const SignalPart& part = program_.parts_of(step)[k];
      if (is_taken_outside_[part.semaphore.index]) continue;
      const uint64_t value = values_[step.first + k] = ++counts_[part.semaphore.index];
      points.push_back({part.semaphore.index, value, stages_of_semaphore(part.stages)});
    }
    return points;
  }

  // Nothing where the initial value meets it.
  Points wait_of(const SyncStep& step) const {
    if (step.partner == SyncStep::kNoPartner) return {};
    const uint32_t semaphore = program_.signal_parts[step.partner].semaphore.index;
    INTERLOCK_CHECK(values_[step.partner] > 0);
    return {{semaphore, values_[step.partner], stages_of_semaphore(step.stages)}};
  }

  uint64_t stages_of_semaphore(StageMask stages) const {
    if (stages == kAllStages) return kAllCommands;
    const uint64_t host = VK_PIPELINE_STAGE_2_HOST_BIT;
    const uint64_t mask = device_stages_of(stages, elsewhere_) & ~host;
    return mask == 0 ? kAllCommands : mask;
  }

  // --- Graphs: every operation is a submission with a semaphore of its own.

  Result<Success> add_on_graph(const Statement& statement) {
    const QueueIndex g = statement.queue;
    if (statement.kind == StatementKind::kSync) {
      const SyncStep& step = program_.syncs[statement.index];
      if (step.kind == SyncKind::kWait) wait(g, wait_of(step));
      if (step.kind == SyncKind::kSignal) signal_whole_graph(g, signals_of(step));
      return Success{};
    }
    if (statement.kind != StatementKind::kDispatch) return Success{};
    const DispatchId id(size_t{statement.index});
    const std::span<const EndedBytes> ended = poison_.ended_before(id);
    QueueSubmission operation;
    operation.waits = queues_[g].gates;
    if (!ended.empty()) append(operation.waits, all_over());
    for (const Edge& edge : program_.edges_to(id)) {
      operation.waits.push_back(operations_[edge.from.index]);
    }
    const size_t begin = lowering_.list.commands.size();
    lower_poison(lowering_, ended);
    auto lowered = lower_dispatch(lowering_, id);
    if (!lowered) return lowered;
    operation.buffers = {{{begin, lowering_.list.commands.size()}}};
    operations_[id.index] = submit_on_graph(g, std::move(operation));
    if (!ended.empty()) {
      for (size_t o = 0; o < queues_.size(); ++o) {
        wait(static_cast<QueueIndex>(o), {operations_[id.index]});
      }
    }
    return Success{};
  }

  // Returns the point at which it is over.
  TimelinePoint submit_on_graph(QueueIndex g, QueueSubmission submission) {
    QueueState& queue = queues_[g];
    const uint64_t position = queue.device_queue + queue.operation_count++;
    submission.device_queue = static_cast<uint32_t>(position % device_queue_count_);
    const TimelinePoint end{plan_.semaphore_count++, 1, kAllCommands};
    submission.signals.push_back(end);
    queue.outstanding.push_back(end);
    plan_.actions.emplace_back(std::move(submission));
    return end;
  }

  void pass_gate(QueueIndex g, const Points& points) {
    QueueSubmission gate;
    gate.waits = queues_[g].gates;
    append(gate.waits, points);
    queues_[g].gates = {submit_on_graph(g, std::move(gate))};
  }

  void signal_whole_graph(QueueIndex g, Points signals) {
    QueueSubmission all;
    all.waits = std::exchange(queues_[g].outstanding, {});
    all.signals = std::move(signals);
    submit_on_graph(g, std::move(all));
  }

  void add_of_host(const Statement& statement) {
    if (statement.kind == StatementKind::kDispatch) {
      flush_all();
      plan_.actions.emplace_back(
          HostAction{HostAction::Kind::kDispatch, DispatchId(size_t{statement.index}), {}});
      return;
    }
    if (statement.kind != StatementKind::kSync) return;
    const SyncStep& step = program_.syncs[statement.index];
    switch (step.kind) {
      case SyncKind::kSubmit:
        flush(statement.queue);
        break;
      case SyncKind::kHostWaits:
        act(HostAction::Kind::kWait, wait_of(step));
        break;
      case SyncKind::kHostSignals:
        act(HostAction::Kind::kSignal, signals_of(step));
        break;
      case SyncKind::kHostIdle:
        act(HostAction::Kind::kWait,
            step.idle_queue == kNoQueue ? all_over() : over(step.idle_queue));
        break;
      default:
        break;  // The memory is coherent: there is nothing to flush or to invalidate.
    }
  }

  void act(HostAction::Kind kind, Points points) {
    flush_all();
    if (!points.empty()) plan_.actions.emplace_back(HostAction{kind, {}, std::move(points)});
  }

  const VulkanLowering& lowering_;
  const Program& program_;
  const RunsElsewhere elsewhere_;
  const Poison poison_;
  const uint32_t device_queue_count_;
  std::vector<QueueState> queues_;
  QueueIndex last_queue_ = kDefaultQueue;  // Of the last statement.
  std::vector<bool> is_taken_outside_;     // By semaphore, so is the next: its signals so far.
  std::vector<uint64_t> counts_;
  std::vector<uint64_t> values_;           // By signal part.
  std::vector<uint32_t> events_;           // By sync step, a set.
  std::vector<TimelinePoint> operations_;  // By dispatch of a graph queue.
  SubmissionPlan plan_;
};

}  // namespace

Result<SubmissionPlan> plan_submissions(const VulkanLowering& lowering,
                                        std::span<const StatementId> order,
                                        uint32_t device_queue_count, uint64_t rotation) {
  INTERLOCK_CHECK(device_queue_count > 0);
  SubmissionPlanner planner(lowering, device_queue_count, rotation);
  for (const StatementId statement : order) {
    auto added = planner.add(statement);
    if (!added) return added.error();
  }
  return std::move(planner).finish();
}

}  // namespace interlock
