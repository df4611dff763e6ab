// Which signal each wait is for. It can stand after the wait, so that only the whole program tells.
#include <algorithm>
#include <string>
#include <tuple>

#include "encoder/build/program_builder.h"
#include "encoder/program/names.h"

namespace interlock {

// Those of all semaphores by value; of one value, as they stand.
std::vector<ProgramBuilder::Signaled> ProgramBuilder::sorted_signals() const {
  std::vector<Signaled> signals;
  for (uint32_t sync = 0; sync < program_.syncs.size(); ++sync) {
    const SyncStep& step = program_.syncs[sync];
    const uint32_t count = static_cast<uint32_t>(program_.parts_of(step).size());
    for (uint32_t i = 0; i < count; ++i) {
      const SignalPart& part = program_.signal_parts[step.first + i];
      signals.push_back({part.semaphore, part.value, step.first + i, sync});
    }
  }
  std::ranges::sort(signals, {},
                    [](const Signaled& s) { return std::tuple(s.semaphore, s.value, s.part); });
  return signals;
}

// Calls `fault(signal, is_low)` for each signal whose value does not rise: it is not above the
// initial one, or stands twice. By value, not as they stand.
template <typename Fault>
void ProgramBuilder::find_faulty_signals(const std::vector<Signaled>& signals, Fault fault) const {
  for (size_t i = 0; i < signals.size(); ++i) {
    const Signaled& signal = signals[i];
    const Semaphore& semaphore = program_.semaphores[signal.semaphore.index];
    const bool is_low = !semaphore.is_binary && signal.value <= semaphore.initial;
    const bool is_twice = i > 0 && signals[i - 1].semaphore == signal.semaphore &&
                          signals[i - 1].value == signal.value;
    if (is_low || is_twice) fault(signal, is_low);
  }
}

// Waits get the signals that meet them: of a semaphore, the one of the smallest value that is not
// below the wait's. That stands for all, if signals rise. Calls `fault(sync)` where there is none,
// until that returns false.
template <typename Fault>
void ProgramBuilder::pair_waits(const std::vector<Signaled>& signals, Fault fault) {
  for (uint32_t sync = 0; sync < program_.syncs.size(); ++sync) {
    SyncStep& step = program_.syncs[sync];
    step.partner = step.kind == SyncKind::kAwait ? step.partner : SyncStep::kNoPartner;
    if (!step.semaphore.is_some() || step.is_from_outside) continue;
    const Semaphore& semaphore = program_.semaphores[step.semaphore.index];
    if (!semaphore.is_binary && step.value <= semaphore.initial) continue;
    const auto met =
        std::ranges::lower_bound(signals, std::pair(step.semaphore, step.value), {},
                                 [](const Signaled& s) { return std::pair(s.semaphore, s.value); });
    if (met != signals.end() && met->semaphore == step.semaphore) {
      step.partner = met->part;
    } else if (!fault(sync)) {
      return;
    }
  }
}

// The first fault of the text.
std::optional<FaultyStatement> ProgramBuilder::settle_waits() {
  const std::vector<Signaled> signals = sorted_signals();
  const Signaled* first = nullptr;
  bool first_is_low = false;
  find_faulty_signals(signals, [&](const Signaled& signal, bool is_low) {
    if (first != nullptr && first->part < signal.part) return;
    first = &signal;
    first_is_low = is_low;
  });
  std::optional<FaultyStatement> faulty;
  if (first != nullptr) {
    const SyncStep& step = program_.syncs[first->sync];
    const Semaphore& semaphore = program_.semaphores[first->semaphore.index];
    const std::string name = in_quotes(program_.name(semaphore.name));
    faulty = FaultyStatement{
        step.statement,
        {ItemPart::kOperand, first->part - step.first},
        first_is_low
            ? fmt::format(
                  "semaphore {} is signaled with {}, and has {} at first; its values must rise.",
                  name, first->value, semaphore.initial)
            : fmt::format("semaphore {} is signaled with {} twice; its values must rise.", name,
                          first->value)};
  }
  pair_waits(signals, [&](uint32_t sync) {
    const SyncStep& step = program_.syncs[sync];
    if (!faulty || step.statement < faulty->statement) {
      faulty = FaultyStatement{step.statement, ItemPart::kItem, unmet_text(step)};
    }
    return false;
  });
  return faulty;
}

// What is dropped changes what binary semaphores count, once: waits that are dropped are the last
// ones of theirs.
void ProgramBuilder::drop_faulty_syncs() {
  if (program_.syncs.empty()) return;
  std::vector<uint32_t> faulty;
  find_faulty_signals(sorted_signals(), [&](const Signaled& signal, bool /*is_low*/) {
    faulty.push_back(signal.sync);
  });
  for (const uint32_t sync : faulty) drop_sync(program_.syncs[sync].statement);
  number_binary_signals();
  faulty.clear();
  pair_waits(sorted_signals(), [&](uint32_t sync) {
    faulty.push_back(sync);
    return true;
  });
  for (const uint32_t sync : faulty) drop_sync(program_.syncs[sync].statement);
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
