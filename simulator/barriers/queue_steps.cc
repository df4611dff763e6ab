// The basic idea: the statements are taken in turn, as QueueClocks does; what a statement of a
// queue implies comes right before it. A flush is a step for each conflict on its atoms and for no
// other one, so moves are found by bytes.
#include "simulator/barriers/queue_steps.h"

#include <algorithm>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "simulator/order/signal_order.h"
#include "simulator/order/submissions.h"

namespace interlock {
namespace {

bool has_reused_semaphores(const Program& program) {
  const std::vector<bool> is_reused = reused_binary_semaphores(program);
  return std::ranges::find(is_reused, true) != is_reused.end();
}

bool is_plain(const Program& program, const Statement& statement) {
  return statement.queue == kNoQueue || program.kind_of(statement.queue) != QueueKind::kGraph;
}

bool is_plain(const Dispatch& dispatch) {
  const Stage stage = stage_of(dispatch);
  return stage != Stage::kIndirect && stage != Stage::kTransition;
}

// What the host does changes what its submissions carry.
bool carries_more(const Program& program, const Statement& statement) {
  if (!is_of_host(program, statement)) return false;
  if (statement.kind != StatementKind::kSync) return true;
  const SyncKind kind = program.syncs[statement.index].kind;
  return kind != SyncKind::kSubmit && kind != SyncKind::kHostSignals;
}

}  // namespace

bool QueueSteps::can_judge(const Program& program) {
  const auto is_of_arguments = [](const Access& access) {
    return access.mode == AccessMode::kIndirect;
  };
  return program.queue_count() <= kQueuesMax && program.edges.empty() &&
         program.lifetimes.empty() && !program.has_program_order &&
         !has_reused_semaphores(program) &&
         std::ranges::all_of(program.statements,
                             [&](const Statement& at) { return is_plain(program, at); }) &&
         std::ranges::all_of(program.dispatches,
                             [](const Dispatch& dispatch) { return is_plain(dispatch); }) &&
         std::ranges::none_of(program.accesses, is_of_arguments);
}

QueueSteps::QueueSteps(const Program& program)
    : program_(program),
      step_of_part_(program.signal_parts.size(), kNone),
      step_of_sync_(program.syncs.size(), kNone),
      operands_(program.memories.size()),
      queues_(program.queue_count()) {
  uint32_t host_count = 0;
  for (uint32_t i = 0; i < program.statements.size(); ++i) {
    const Statement& statement = program.statements[i];
    const bool is_on_queue =
        !is_of_host(program, statement) && runs_on_its_queue(program, statement);
    if (is_on_queue) add_implied(i, statement.queue, host_count);
    add(statement, i);
    if (is_on_queue) queues_[statement.queue].last = i + 1;
    host_count += carries_more(program, statement);
  }
  next_other_.assign(steps_.size() + 1, static_cast<uint32_t>(steps_.size()));
  for (auto i = static_cast<uint32_t>(steps_.size()); i-- > 0;) {
    next_other_[i] = steps_[i].kind == QueueStepKind::kMove ? next_other_[i + 1] : i;
  }
  if (!moves_.empty()) moved_.emplace(program, moves_);
}

// In the order of QueueClocks::arrive().
void QueueSteps::add_implied(uint32_t statement, QueueIndex queue, uint32_t host_count) {
  const QueueKind kind = program_.kind_of(queue);
  const bool is_serial = kind != QueueKind::kConcurrent;
  if (is_serial && queues_[queue].last > 0) {
    steps_.push_back({QueueStepKind::kJoin, statement, queue, queue});
  }
  if (std::exchange(queues_[queue].host_count, host_count) < host_count) {
    steps_.push_back({QueueStepKind::kSubmission, statement, queue});
  }
  if (kind == QueueKind::kLegacyDefault) add_joins(statement, queue, QueueKind::kSerialBlocking);
  if (kind == QueueKind::kSerialBlocking) add_joins(statement, queue, QueueKind::kLegacyDefault);
}

void QueueSteps::add_joins(uint32_t statement, QueueIndex queue, QueueKind others) {
  const uint32_t joined = std::exchange(queues_[queue].joined, statement + 1);
  for (size_t other = 0; other < queues_.size(); ++other) {
    const auto from = static_cast<QueueIndex>(other);
    const bool joins = queues_[other].last > joined && program_.kind_of(from) == others;
    if (joins) steps_.push_back({QueueStepKind::kJoin, statement, queue, from});
  }
}

void QueueSteps::add(const Statement& statement, uint32_t index) {
  const auto at = static_cast<uint32_t>(steps_.size());
  if (statement.kind == StatementKind::kDispatch) before_.push_back(at);
  if (statement.kind == StatementKind::kBarrier) {
    for (const Dependency& dependency :
         program_.dependencies_of(program_.barriers[statement.index])) {
      add_operands(program_.operands_of(dependency));
    }
    steps_.push_back({QueueStepKind::kBarrier, index, statement.queue});
  }
  if (statement.kind != StatementKind::kSync) return;
  const SyncStep& step = program_.syncs[statement.index];
  const bool is_move =
      step.kind == SyncKind::kHostFlushes || step.kind == SyncKind::kHostInvalidates;
  if (step.kind == SyncKind::kSplit || step.kind == SyncKind::kSubmit) return;
  if (step.kind == SyncKind::kSignal || step.kind == SyncKind::kHostSignals) {
    for (uint32_t k = 0; k < step.count; ++k) step_of_part_[step.first + k] = at;
  }
  if (step.kind == SyncKind::kSet) {
    step_of_sync_[statement.index] = at;
    for (const Dependency& dependency : program_.dependencies_of(step)) {
      add_operands(program_.operands_of(dependency));
    }
  }
  if (is_move) {
    add_operands(program_.operands_of(step));
    moves_.push_back({step.statement, at, at});
  }
  const QueueStepKind kind = is_move ? QueueStepKind::kMove : QueueStepKind::kSync;
  steps_.push_back({kind, index, statement.queue});
}

void QueueSteps::add_operands(std::span<const Access> operands) {
  const auto at = static_cast<uint32_t>(steps_.size());
  for (const Access& operand : operands) {
    operands_[operand.memory.index].push_back({at, operand.range});
  }
}

void QueueSteps::take_path(uint32_t begin, uint32_t end, std::vector<uint32_t>& path) const {
  path.clear();
  for (uint32_t i = next_other_[begin]; i < end; i = next_other_[i + 1]) path.push_back(i);
}

void QueueSteps::take_path(uint32_t begin, uint32_t end, MemoryRange bytes,
                           std::vector<uint32_t>& path) const {
  take_path(begin, end, path);
  if (!moved_ || begin == end) return;
  moved_->for_each_on(bytes, begin, end - 1, [&](size_t step) {
    path.push_back(static_cast<uint32_t>(step));
    return true;
  });
  std::ranges::sort(path);
  path.erase(std::unique(path.begin(), path.end()), path.end());
}

uint64_t QueueSteps::append_ends(uint32_t begin, uint32_t end, MemoryRange bytes,
                                 std::vector<uint64_t>& ends) const {
  const auto& operands = operands_[bytes.memory.index];
  auto operand = std::ranges::lower_bound(operands, begin, {}, &Operand::step);
  uint64_t count = 0;
  for (; operand != operands.end() && operand->step < end; ++operand, ++count) {
    for (const uint64_t at : {operand->bytes.begin, operand->bytes.end}) {
      if (bytes.range.begin < at && at < bytes.range.end) ends.push_back(at);
    }
  }
  return count;
}

}  // namespace interlock
