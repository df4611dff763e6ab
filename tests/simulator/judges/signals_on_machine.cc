// The basic idea: a signal need not come after another one iff it fires while that one is withheld;
// nor after a wait. A wait need not come after another one iff that is withheld and it is come to.
#include "tests/simulator/judges/signals_on_machine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/stop.h"
#include "simulator/schedules/queue_machine.h"

namespace interlock {
namespace {

struct ValueSignal {
  uint64_t value = 0;
  uint32_t part = 0;  // In Program::signal_parts.
  StatementId statement;
};

// By semaphore, rising by value.
std::vector<std::vector<ValueSignal>> signals_of(const Program& program) {
  std::vector<std::vector<ValueSignal>> signals(program.semaphores.size());
  for (const SyncStep& step : program.syncs) {
    const auto parts = program.parts_of(step);
    for (uint32_t k = 0; k < parts.size(); ++k) {
      signals[parts[k].semaphore.index].push_back({parts[k].value, step.first + k, step.statement});
    }
  }
  for (std::vector<ValueSignal>& of_one : signals) {
    std::ranges::sort(of_one, {}, &ValueSignal::value);
  }
  return signals;
}

// Those of one queue, and of the host, are in the order of the text.
bool are_of_one_place(const Program& program, const ValueSignal& lower, const ValueSignal& higher) {
  const QueueIndex queue = program.statements[lower.statement.index].queue;
  return queue == program.statements[higher.statement.index].queue &&
         lower.statement < higher.statement;
}

bool fires_without(const Program& program, FrontEnds front_ends, SemaphoreId semaphore,
                   const ValueSignal& lower, const ValueSignal& higher) {
  QueueMachine machine(program, {.front_ends = front_ends, .withheld = lower.part});
  while (machine.counter(semaphore) < higher.value && !machine.enabled().empty()) {
    machine.run(*machine.enabled().begin());
  }
  return machine.counter(semaphore) >= higher.value;
}

// Of a binary semaphore, by what they count.
std::vector<const SyncStep*> waits_of(const Program& program, SemaphoreId semaphore) {
  std::vector<const SyncStep*> waits;
  for (const SyncStep& step : program.syncs) {
    const bool is_paired = step.semaphore == semaphore && step.partner != SyncStep::kNoPartner;
    if (is_paired) waits.push_back(&step);
  }
  std::ranges::sort(waits, {}, [](const SyncStep* step) { return step->value; });
  return waits;
}

// Waits for the semaphore may take another signal than their own, or one signal fires on another.
std::optional<UnorderedSignals> find_unordered_uses(const Program& program, FrontEnds front_ends,
                                                    SemaphoreId semaphore,
                                                    const std::vector<ValueSignal>& signals) {
  const std::vector<const SyncStep*> waits = waits_of(program, semaphore);
  for (size_t k = 0; k + 1 < signals.size() && !is_stopped(); ++k) {
    QueueMachineOptions options{.front_ends = front_ends};
    const bool is_taken = k < waits.size();
    if (is_taken) options.withheld_wait = static_cast<uint32_t>(waits[k] - program.syncs.data());
    QueueMachine machine(program, options);
    while (!machine.enabled().empty()) machine.run(*machine.enabled().begin());
    if (machine.counter(semaphore) > signals[k].value) {
      const StatementId lower = is_taken ? waits[k]->statement : signals[k].statement;
      return UnorderedSignals{semaphore, lower, signals[k + 1].statement};
    }
    if (k + 1 >= waits.size()) continue;
    const auto queue_of = [&](const SyncStep* step) {
      return program.statements[step->statement.index].queue;
    };
    // A queue comes to its waits one after another.
    if (queue_of(waits[k]) == queue_of(waits[k + 1])) continue;
    if (machine.has_come_to(*waits[k + 1])) {
      return UnorderedSignals{semaphore, waits[k]->statement, waits[k + 1]->statement};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<UnorderedSignals> find_unordered_on_machine(const Program& program,
                                                          FrontEnds front_ends) {
  const std::vector<std::vector<ValueSignal>> signals = signals_of(program);
  for (size_t s = 0; s < signals.size(); ++s) {
    if (program.semaphores[s].is_binary) {
      // Who is outside takes those signals, and orders them.
      if (waits_of(program, SemaphoreId(s)).empty()) continue;
      if (const auto uses = find_unordered_uses(program, front_ends, SemaphoreId(s), signals[s])) {
        return uses;
      }
      continue;
    }
    for (size_t k = 1; k < signals[s].size() && !is_stopped(); ++k) {
      const ValueSignal& lower = signals[s][k - 1];
      const ValueSignal& higher = signals[s][k];
      if (are_of_one_place(program, lower, higher)) continue;
      if (fires_without(program, front_ends, SemaphoreId(s), lower, higher)) {
        return UnorderedSignals{SemaphoreId(s), lower.statement, higher.statement};
      }
    }
  }
  return std::nullopt;
}

}  // namespace interlock
