// Which signal each wait is for. It can stand after the wait, so that only the whole program tells.
#include <algorithm>
#include <string>
#include <tuple>

#include "encoder/build/program_builder.h"
#include "encoder/program/names.h"

namespace interlock {

// Waits get the signals that meet them: of a semaphore, the one of the smallest value that is not
// below the wait's. That stands for all, if signals rise (docs/theory.md).
std::optional<FaultyStatement> ProgramBuilder::pair_waits() {
  struct Signaled {
    SemaphoreId semaphore;
    uint64_t value;
    uint32_t part;
    StatementId statement;
  };
  std::vector<Signaled> signals;
  for (const SyncStep& step : program_.syncs) {
    for (uint32_t i = 0; i < program_.parts_of(step).size(); ++i) {
      const SignalPart& part = program_.signal_parts[step.first + i];
      signals.push_back({part.semaphore, part.value, step.first + i, step.statement});
    }
  }
  const auto key = [](const Signaled& s) { return std::tuple(s.semaphore, s.value, s.part); };
  std::ranges::sort(signals, {}, key);
  for (size_t i = 0; i < signals.size(); ++i) {
    const Signaled& signal = signals[i];
    const Semaphore& semaphore = program_.semaphores[signal.semaphore.index];
    const std::string name = in_quotes(program_.name(semaphore.name));
    if (!semaphore.is_binary && signal.value <= semaphore.initial) {
      return FaultyStatement{signal.statement,
                             fmt::format("semaphore {} is signaled with {}, and has {} at first; "
                                         "its values must rise.",
                                         name, signal.value, semaphore.initial)};
    }
    if (i > 0 && signals[i - 1].semaphore == signal.semaphore &&
        signals[i - 1].value == signal.value) {
      return FaultyStatement{
          signal.statement,
          fmt::format("semaphore {} is signaled with {} twice; its values must rise.", name,
                      signal.value)};
    }
  }
  for (SyncStep& step : program_.syncs) {
    const bool waits = step.kind == SyncKind::kWait || step.kind == SyncKind::kHostWaits;
    if (!waits) continue;
    const Semaphore& semaphore = program_.semaphores[step.semaphore.index];
    if (!semaphore.is_binary && step.value <= semaphore.initial) continue;
    const auto met =
        std::ranges::lower_bound(signals, std::pair(step.semaphore, step.value), {},
                                 [](const Signaled& s) { return std::pair(s.semaphore, s.value); });
    if (met == signals.end() || met->semaphore != step.semaphore) {
      return FaultyStatement{step.statement, unmet_text(step)};
    }
    step.partner = met->part;
  }
  return std::nullopt;
}

// One at a time, as pair_waits() finds them: what is right depends on what is left.
void ProgramBuilder::drop_faulty_syncs() {
  bool has_dropped = false;
  while (const auto fault = pair_waits()) {
    drop_sync(fault->statement);
    has_dropped = true;
  }
  if (has_dropped) number_binary_signals();
}

// A split orders nothing, keeps the label, and moves no other statement.
void ProgramBuilder::drop_sync(StatementId dropped) {
  Statement& statement = program_.statements[dropped.index];
  if (statement.queue == kNoQueue) statement.queue = kDefaultQueue;
  SyncStep& step = program_.syncs[statement.index];
  step = SyncStep{};
  step.statement = dropped;
}

// A dropped signal may have been one of binary semaphores, too.
void ProgramBuilder::number_binary_signals() {
  std::vector<uint64_t> counts(program_.semaphores.size(), 0);
  for (const SyncStep& step : program_.syncs) {
    for (uint32_t i = 0; i < program_.parts_of(step).size(); ++i) {
      SignalPart& part = program_.signal_parts[step.first + i];
      if (program_.semaphores[part.semaphore.index].is_binary) {
        part.value = ++counts[part.semaphore.index];
      }
    }
  }
  for (size_t i = 0; i < binary_uses_.size(); ++i) binary_uses_[i].signal_count = counts[i];
  drop_faulty_syncs();
}

// Declared ones first, then the others in the order in which statements name them: only this order
// survives canonical text. What dropped signals did goes, too.
void ProgramBuilder::number_semaphores() {
  std::vector<SemaphoreId> new_ids(program_.semaphores.size());
  std::vector<Semaphore> semaphores;
  const auto number = [&](SemaphoreId& id) {
    SemaphoreId& new_id = new_ids[id.index];
    if (!new_id.is_some()) {
      new_id = SemaphoreId(semaphores.size());
      semaphores.push_back(program_.semaphores[id.index]);
    }
    id = new_id;
  };
  for (size_t i = 0; i < program_.semaphores.size(); ++i) {
    SemaphoreId id(i);
    if (program_.semaphores[i].is_declared) number(id);
  }
  std::vector<SignalPart> parts;
  std::vector<uint32_t> new_parts(program_.signal_parts.size(), SyncStep::kNoPartner);
  for (SyncStep& step : program_.syncs) {
    if (step.semaphore.is_some()) number(step.semaphore);
    const uint32_t count = static_cast<uint32_t>(program_.parts_of(step).size());
    if (count == 0) continue;
    const uint32_t first = static_cast<uint32_t>(parts.size());
    for (uint32_t i = 0; i < count; ++i) {
      new_parts[step.first + i] = first + i;
      number(parts.emplace_back(program_.signal_parts[step.first + i]).semaphore);
    }
    step.first = first;
  }
  for (SyncStep& step : program_.syncs) {
    const bool is_met = step.semaphore.is_some() && step.partner != SyncStep::kNoPartner;
    if (is_met) step.partner = new_parts[step.partner];
  }
  program_.semaphores = std::move(semaphores);
  program_.signal_parts = std::move(parts);
}

std::string ProgramBuilder::unmet_text(const SyncStep& wait) const {
  const Semaphore& semaphore = program_.semaphores[wait.semaphore.index];
  const std::string name = in_quotes(program_.name(semaphore.name));
  if (semaphore.is_binary) {
    const uint64_t count = binary_uses_[wait.semaphore.index].signal_count;
    return count == 0 ? fmt::format("nothing signals the binary semaphore {}.", name)
                      : fmt::format(
                            "the binary semaphore {} is waited for {} times and signaled "
                            "{} {}; each signal meets one wait.",
                            name, wait.value, count, count == 1 ? "time" : "times");
  }
  uint64_t highest = 0;
  bool has_any = false;
  for (const SignalPart& part : program_.signal_parts) {
    if (part.semaphore != wait.semaphore) continue;
    highest = std::max(highest, part.value);
    has_any = true;
  }
  return has_any ? fmt::format(
                       "nothing signals semaphore {} with {} or more; the highest value is "
                       "{}.",
                       name, wait.value, highest)
                 : fmt::format("nothing signals semaphore {}.", name);
}

}  // namespace interlock
