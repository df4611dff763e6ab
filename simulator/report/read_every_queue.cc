#include "simulator/report/read_every_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/scope.h"
#include "simulator/order/dependency_ends.h"
#include "simulator/order/signal_order.h"

namespace interlock {

namespace {

// A queue that is not serial goes on to its next wait, for another semaphore, while an earlier one
// holds back some stages of the device only.
bool goes_on_to_next_wait(const Program& program, const SyncStep& step) {
  const QueueKind kind = program.kind_of(program.statements[step.statement.index].queue);
  return step.kind == SyncKind::kWait && kind == QueueKind::kConcurrent &&
         (with_later(step.stages) & kDeviceStages) != kDeviceStages;
}

// Whether the two would be in order if the waits of the queue of `pair.higher` before it held back
// all that the queue does.
bool would_whole_waits_order(const Program& program, const UnorderedSignals& pair) {
  const QueueIndex queue = program.statements[pair.higher.index].queue;
  if (queue == kNoQueue) return false;
  Program whole = program;
  bool has_changed = false;
  for (SyncStep& step : whole.syncs) {
    const bool is_before =
        step.statement < pair.higher && program.statements[step.statement.index].queue == queue;
    if (!is_before || !goes_on_to_next_wait(program, step)) continue;
    step.stages = kAllStages;
    has_changed = true;
  }
  if (!has_changed) return false;
  const std::optional<UnorderedSignals> left = find_unordered_signals(whole);
  return !left || *left != pair;
}

// The value that the statement signals. Requires: it signals the semaphore.
uint64_t value_in(const Program& program, StatementId statement, SemaphoreId semaphore) {
  const SyncStep& step = program.syncs[program.statements[statement.index].index];
  const auto parts = program.parts_of(step);
  return std::ranges::find(parts, semaphore, &SignalPart::semaphore)->value;
}

// Ends before the line of `pair.lower`.
std::string fault_text(const Program& program, const UnorderedSignals& pair) {
  const Semaphore& semaphore = program.semaphores[pair.semaphore.index];
  const std::string_view name = program.name(semaphore.name);
  const auto is_signal = [&](StatementId statement) {
    return program.parts_of(program.syncs[program.statements[statement.index].index]).size() > 0;
  };
  if (!is_signal(pair.higher)) {
    return fmt::format(
        "nothing orders this wait for the binary semaphore '{}' after the one before it, so that "
        "it is open which of them takes which signal{}; let it come after that one",
        name,
        would_whole_waits_order(program, pair)
            ? " (an earlier wait of this queue is before some stages, and so does not hold this one "
              "back)"
            : "");
  }
  if (!is_signal(pair.lower)) {
    return fmt::format(
        "nothing orders this signal of the binary semaphore '{}' after the wait for the one before "
        "it, so that '{}' may be signaled still, and a wait takes both; let it come after that one",
        name, name);
  }
  if (reused_binary_semaphores(program)[pair.semaphore.index]) {
    return fmt::format(
        "the binary semaphore '{0}' is signaled still: nothing waits for the signal before this "
        "one; let a wait for it come between (a fence that is reset without a wait has 'host waits "
        "{0}' there), or leave out that one",
        name);
  }
  // Signals of one queue fire one after another, and so do those of the host.
  const bool is_of_one_queue =
      program.statements[pair.lower.index].queue == program.statements[pair.higher.index].queue;
  if (is_of_one_queue && pair.higher < pair.lower) {
    return fmt::format(
        "the values of '{}' fall: this signal of {} fires before that of {}, which stands after it "
        "{}, and values of a timeline rise; let it come after that one",
        name, value_in(program, pair.higher, pair.semaphore),
        value_in(program, pair.lower, pair.semaphore),
        program.statements[pair.lower.index].queue == kNoQueue ? "among those of the host"
                                                               : "on its queue");
  }
  return fmt::format(
      "nothing orders this signal of '{}' after the one of the next lower value, so that it is "
      "open which of them a wait is for; let it come after that one",
      name);
}

// That there are more than kReusedSemaphoresMax; none if there are not.
std::optional<ProgramFault> find_too_many_reused(const Program& program) {
  const std::vector<bool> is_reused = reused_binary_semaphores(program);
  if (std::ranges::count(is_reused, true) <= ptrdiff_t{kReusedSemaphoresMax}) return std::nullopt;
  std::vector<bool> is_seen(is_reused.size(), false);
  uint32_t count = 0;
  StatementId first;
  for (const SyncStep& step : program.syncs) {
    for (const SignalPart& part : program.parts_of(step)) {
      const uint32_t semaphore = part.semaphore.index;
      if (!is_reused[semaphore] || is_seen[semaphore]) continue;
      is_seen[semaphore] = true;
      if (count == 0) first = step.statement;
      if (++count > kReusedSemaphoresMax) {
        return ProgramFault{
            step.statement, first,
            fmt::format(
                "more than {} binary semaphores are signaled again after a wait, which is the "
                "limit; the first of them is signaled",
                kReusedSemaphoresMax)};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

void read_every_queue(ParseOptions& options) {
  options.reads_every_queue = true;
  options.find_fault = [](const Program& program) -> std::optional<ProgramFault> {
    if (auto fault = find_too_many_reused(program)) return fault;
    const std::optional<UnorderedSignals> pair = find_unordered_signals(program);
    if (!pair) return std::nullopt;
    return ProgramFault{pair->higher, pair->lower, fault_text(program, *pair)};
  };
}

}  // namespace interlock
