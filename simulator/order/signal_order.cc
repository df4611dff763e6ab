// The basic idea: how many signals of a semaphore have fired is one more number of the clocks, and
// where a signal finds less than all lower ones, nothing orders it after the next lower. Of a
// binary semaphore the waits that are over are counted instead, by signals and by waits.
#include "simulator/order/signal_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/stop.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_clocks.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/signal_statements.h"

namespace interlock {
namespace {

// Of signal parts, and of waits for binary semaphores that are used again.
struct Signals {
  explicit Signals(const Program& program)
      : statements(signal_statements_of(program)),
        parts(program.semaphores.size()),
        is_reused(reused_binary_semaphores(program)),
        is_taken_outside(binary_semaphores_taken_outside(program)),
        waits(program.semaphores.size()) {
    for (uint32_t part = 0; part < statements.size(); ++part) {
      if (!statements[part].is_some()) continue;
      parts[program.signal_parts[part].semaphore.index].push_back(part);
    }
    for (std::vector<uint32_t>& of_one : parts) {
      std::ranges::sort(of_one, {},
                        [&](uint32_t part) { return program.signal_parts[part].value; });
    }
    ranks.assign(statements.size(), 0);
    for (const std::vector<uint32_t>& of_one : parts) {
      for (uint32_t k = 0; k < of_one.size(); ++k) ranks[of_one[k]] = k + 1;
    }
    for (const SyncStep& step : program.syncs) {
      const bool is_paired = step.semaphore.is_some() && step.partner != SyncStep::kNoPartner;
      if (!is_paired || !is_reused[step.semaphore.index]) continue;
      std::vector<StatementId>& of_one = waits[step.semaphore.index];
      of_one.resize(parts[step.semaphore.index].size());
      of_one[ranks[step.partner] - 1] = step.statement;
    }
  }

  // The wait that has to be over before a use of a reused binary semaphore, of this rank; if there
  // is none, the signal.
  StatementId before(SemaphoreId semaphore, uint32_t rank) const {
    const std::vector<StatementId>& of_one = waits[semaphore.index];
    const size_t last = rank - 2;
    if (of_one[last].is_some()) return of_one[last];
    return statements[parts[semaphore.index][last]];
  }

  std::vector<StatementId> statements;          // By part.
  std::vector<std::vector<uint32_t>> parts;     // By semaphore, rising by value.
  std::vector<uint32_t> ranks;                  // By part: its place among these, from 1.
  std::vector<bool> is_reused;                  // By semaphore: reused_binary_semaphores().
  std::vector<bool> is_taken_outside;           // Likewise: binary_semaphores_taken_outside().
  std::vector<std::vector<StatementId>> waits;  // Of reused ones, by the signals that they are for.
};

// Those that several queues signal, or the host and a queue: others fire in the order of the text.
// And binary ones that are used again.
std::vector<SemaphoreId> crossing_semaphores(const Program& program, const Signals& signals) {
  std::vector<SemaphoreId> crossing;
  for (size_t s = 0; s < signals.parts.size(); ++s) {
    if (signals.is_taken_outside[s]) continue;
    const auto queue_of = [&](uint32_t part) {
      return program.statements[signals.statements[part].index].queue;
    };
    const std::vector<uint32_t>& parts = signals.parts[s];
    const bool is_crossing = std::ranges::any_of(
        parts, [&](uint32_t part) { return queue_of(part) != queue_of(parts.front()); });
    if (is_crossing || signals.is_reused[s]) crossing.push_back(SemaphoreId(s));
  }
  return crossing;
}

// Where on one queue, or on the host, a higher value stands before a lower one.
bool fall_in_text(const Signals& signals) {
  return std::ranges::any_of(signals.parts, [&](const std::vector<uint32_t>& parts) {
    return !std::ranges::is_sorted(parts, {},
                                   [&](uint32_t part) { return signals.statements[part]; });
  });
}

// The first signal of the run that fires before the one of the next lower value, or without it: of
// one queue, or where some wait holds the lower one forever that the higher one would release. Of a
// reused binary semaphore, before the wait that takes the one before.
std::optional<UnorderedSignals> find_falling(const Program& program, const Signals& signals,
                                             const ReferenceOrder& reference) {
  constexpr uint32_t kNever = UINT32_MAX;
  std::vector<uint32_t> position(program.statements.size(), kNever);
  for (uint32_t i = 0; i < reference.statements.size(); ++i) {
    position[reference.statements[i].index] = i;
  }
  std::optional<UnorderedSignals> first;
  uint32_t first_position = kNever;
  for (size_t s = 0; s < signals.parts.size(); ++s) {
    if (signals.is_taken_outside[s]) continue;
    const std::vector<uint32_t>& parts = signals.parts[s];
    for (size_t k = 1; k < parts.size(); ++k) {
      const StatementId lower = signals.is_reused[s]
                                    ? signals.before(SemaphoreId(s), static_cast<uint32_t>(k + 1))
                                    : signals.statements[parts[k - 1]];
      const StatementId higher = signals.statements[parts[k]];
      const uint32_t fires_at = position[higher.index];
      if (fires_at >= first_position || position[lower.index] < fires_at) continue;
      first_position = fires_at;
      first = {SemaphoreId(s), lower, higher};
    }
  }
  return first;
}

SignalWatch watch_of(const Program& program, const Signals& signals,
                     std::span<const SemaphoreId> semaphores) {
  SignalWatch watch{.columns = std::vector<uint32_t>(program.semaphores.size(), SignalWatch::kNone),
                    .ranks = signals.ranks,
                    .counts_waits = signals.is_reused};
  for (const SemaphoreId semaphore : semaphores) {
    watch.columns[semaphore.index] = watch.column_count++;
  }
  return watch;
}

}  // namespace

std::vector<bool> reused_binary_semaphores(const Program& program) {
  std::vector<uint32_t> signal_counts(program.semaphores.size(), 0);
  for (const SyncStep& step : program.syncs) {
    for (const SignalPart& part : program.parts_of(step)) ++signal_counts[part.semaphore.index];
  }
  std::vector<bool> is_reused(program.semaphores.size(), false);
  for (const SyncStep& step : program.syncs) {
    const bool is_paired = step.semaphore.is_some() && step.partner != SyncStep::kNoPartner;
    if (!is_paired || !program.semaphores[step.semaphore.index].is_binary) continue;
    is_reused[step.semaphore.index] = signal_counts[step.semaphore.index] > 1;
  }
  return is_reused;
}

std::vector<bool> binary_semaphores_taken_outside(const Program& program) {
  std::vector<bool> is_taken_outside;
  for (const Semaphore& semaphore : program.semaphores) {
    is_taken_outside.push_back(semaphore.is_binary);
  }
  for (const SyncStep& step : program.syncs) {
    const bool is_paired = step.semaphore.is_some() && step.partner != SyncStep::kNoPartner;
    if (is_paired) is_taken_outside[step.semaphore.index] = false;
  }
  return is_taken_outside;
}

std::vector<std::vector<StatementId>> crossing_signals_of(const Program& program) {
  const Signals signals(program);
  std::vector<std::vector<StatementId>> crossing(program.semaphores.size());
  for (const SemaphoreId semaphore : crossing_semaphores(program, signals)) {
    if (signals.is_reused[semaphore.index]) continue;
    for (const uint32_t part : signals.parts[semaphore.index]) {
      crossing[semaphore.index].push_back(signals.statements[part]);
    }
  }
  return crossing;
}

std::vector<RankedSignal> find_signals_out_of_order(const Program& program,
                                                    std::span<const SemaphoreId> timelines) {
  const Signals signals(program);
  const Places places(program);
  const SyncUses uses(program);
  std::vector<RankedSignal> found;
  for (size_t begin = 0; begin < timelines.size(); begin += kSemaphoresAtOnce) {
    const size_t count = std::min<size_t>(timelines.size() - begin, kSemaphoresAtOnce);
    SignalWatch watch = watch_of(program, signals, timelines.subspan(begin, count));
    QueueClocks clocks(program, places, uses, &watch);
    for (size_t i = 0; i < program.statements.size() && !is_stopped(); ++i) {
      clocks.arrive();
      clocks.leave();
    }
    for (const SignalWatch::Use& use : watch.unordered) found.push_back({use.semaphore, use.rank});
  }
  return found;
}

std::optional<UnorderedSignals> find_unordered_signals(const Program& program) {
  const Signals in_text_order(program);
  const bool is_crossing = !crossing_semaphores(program, in_text_order).empty();
  if (!is_crossing && !fall_in_text(in_text_order)) return std::nullopt;
  const ReferenceOrder reference = find_reference_order(program);
  if (const auto falling = find_falling(program, in_text_order, reference)) return falling;
  const Program run = in_reference_order(program, reference);
  const Signals signals(run);
  const std::vector<SemaphoreId> crossing = crossing_semaphores(run, signals);
  const Places places(run);
  const SyncUses uses(run);
  for (size_t begin = 0; begin < crossing.size(); begin += kSemaphoresAtOnce) {
    const size_t count = std::min<size_t>(crossing.size() - begin, kSemaphoresAtOnce);
    SignalWatch watch = watch_of(run, signals, std::span(crossing).subspan(begin, count));
    QueueClocks clocks(run, places, uses, &watch);
    for (size_t i = 0; i < run.statements.size() && watch.unordered.empty(); ++i) {
      clocks.arrive();
      clocks.leave();
      if (is_stopped()) return std::nullopt;
    }
    if (watch.unordered.empty()) continue;
    const SignalWatch::Use higher = watch.unordered.front();
    const StatementId lower =
        signals.is_reused[higher.semaphore.index]
            ? signals.before(higher.semaphore, higher.rank)
            : signals.statements[signals.parts[higher.semaphore.index][higher.rank - 2]];
    const auto in_text = [&](StatementId statement) {
      return StatementId(size_t{run.text_order->statements[statement.index]});
    };
    return UnorderedSignals{higher.semaphore, in_text(lower), in_text(higher.statement)};
  }
  return std::nullopt;
}

}  // namespace interlock
