// The basic idea: a part that may run stays so until it does (queue_machine.h), so whatever order a
// walk draws, it comes to the end.
#include "simulator/schedules/queue_walk.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/schedules/queue_steps.h"

namespace interlock {
namespace {

// An operation that has begun goes on in so many cases of kGoesOnOf.
constexpr uint64_t kGoesOn = 7;
constexpr uint64_t kGoesOnOf = 8;
constexpr uint64_t kEarlyOneOf = 8;  // Of what the host's cache may fetch early.

QueueMachine walked_machine(const Program& program) {
  return QueueMachine(program, {.splits_memory = true});
}

OperationPart drawn_from(const std::set<OperationPart>& parts, Choice& choice) {
  return *std::next(parts.begin(), static_cast<std::ptrdiff_t>(choice.below(parts.size())));
}

// The first part of the dispatch that the host or a queue has come to, and that may run.
std::optional<OperationPart> enabled_part_of(const QueueMachine& machine, DispatchId dispatch) {
  const auto next = machine.enabled().lower_bound({dispatch, kStages.front(), PartRole::kFetch});
  if (next == machine.enabled().end() || next->dispatch != dispatch) return std::nullopt;
  return *next;
}

}  // namespace

Schedule random_queue_schedule(const Program& program, Choice& choice) {
  QueueMachine machine = walked_machine(program);
  std::vector<OperationPart> parts;
  while (!machine.enabled().empty() && !is_stopped()) {
    std::optional<OperationPart> next;
    if (!parts.empty() && choice.chance(kGoesOn, kGoesOnOf)) {
      next = enabled_part_of(machine, parts.back().dispatch);
    }
    if (!next) {
      const bool is_early = !machine.early().empty() && choice.chance(1, kEarlyOneOf);
      next = drawn_from(is_early ? machine.early() : machine.enabled(), choice);
    }
    machine.run(*next);
    parts.push_back(*next);
  }
  INTERLOCK_CHECK(machine.is_done() || is_stopped());
  return steps_of(program, machine, parts);
}

QueuePctSchedules::QueuePctSchedules(const Program& program, uint64_t depth)
    : program_(program), depth_(depth) {
  INTERLOCK_CHECK(depth >= 1);
  const QueueMachine machine = walked_machine(program);
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    part_count_ += machine.parts_of(DispatchId(i)).size();
  }
}

namespace {

// The priorities of one schedule: the higher, the more urgent.
class Priorities {
 public:
  Priorities(const Program& program, const QueueMachine& machine, uint64_t depth,
             uint64_t part_count, Choice& choice)
      : values_(part_count) {
    for (size_t i = 0; i < values_.size(); ++i) {  // Fisher and Yates, inside out.
      const auto j = static_cast<size_t>(choice.below(i + 1));
      values_[i] = values_[j];
      values_[j] = depth + i;
    }
    for (size_t i = 0; i < program.dispatches.size(); ++i) {
      for (const OperationPart& part : machine.parts_of(DispatchId(i))) parts_.push_back(part);
    }
    std::ranges::sort(parts_);
  }

  uint64_t& of(const OperationPart& part) {
    const auto at = std::ranges::lower_bound(parts_, part);
    INTERLOCK_CHECK(at != parts_.end() && *at == part);
    return values_[static_cast<size_t>(at - parts_.begin())];
  }

 private:
  std::vector<OperationPart> parts_;  // Ascending.
  std::vector<uint64_t> values_;      // By position there.
};

// Null if nothing may run.
const OperationPart* most_urgent(const QueueMachine& machine, Priorities& priorities) {
  const OperationPart* best = nullptr;
  for (const auto* const parts : {&machine.enabled(), &machine.early()}) {
    for (const OperationPart& part : *parts) {
      if (best == nullptr || priorities.of(part) > priorities.of(*best)) best = &part;
    }
  }
  return best;
}

}  // namespace

Schedule QueuePctSchedules::schedule(Choice& choice) const {
  QueueMachine machine = walked_machine(program_);
  Priorities priorities(program_, machine, depth_, part_count_, choice);
  using Change = std::pair<uint64_t, uint64_t>;  // Before which step, to which priority.
  std::vector<Change> changes;
  for (uint64_t i = 1; i < depth_ && part_count_ > 0; ++i) {
    changes.emplace_back(choice.below(part_count_), i);
  }
  std::ranges::sort(changes, std::greater<>());
  std::vector<OperationPart> parts;
  while (const OperationPart* const next = most_urgent(machine, priorities)) {
    if (is_stopped()) break;
    if (!changes.empty() && changes.back().first <= parts.size()) {
      priorities.of(*next) = changes.back().second;
      changes.pop_back();
      continue;
    }
    parts.push_back(*next);
    machine.run(parts.back());
  }
  INTERLOCK_CHECK(machine.is_done() || is_stopped());
  return steps_of(program_, machine, parts);
}

}  // namespace interlock
