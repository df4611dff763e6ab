#include "encoder/program/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "encoder/program/check.h"
#include "encoder/program/draft_text.h"
#include "encoder/program/statement_number.h"
#include "encoder/program/words.h"

namespace interlock {

uint64_t size_bytes_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kU8:
      return 1;
  }
  INTERLOCK_CHECK(false);
}

// A new enumerator needs its word.
static_assert(std::size(kDTypeWords) == static_cast<size_t>(DType::kU8) + 1);
static_assert(std::size(kClauseWords) == kAccessModeCount);
static_assert(std::size(kAtomicOpWords) == static_cast<size_t>(AtomicOp::kXor) + 1);
static_assert(std::size(kLifetimeWords) == static_cast<size_t>(LifetimeKind::kAdopt) + 1);
static_assert(std::size(kInitialWords) == static_cast<size_t>(InitialKind::kValues) + 1);
static_assert(std::size(kPlacementWords) == static_cast<size_t>(Placement::kDonation) + 1);
static_assert(std::size(kQueueWords) == static_cast<size_t>(QueueKind::kGraph) + 1);
static_assert(std::size(kSyncWords) == kSyncKindCount);

std::string_view word_of(DType dtype) { return word_in(kDTypeWords, dtype); }
std::string_view clause_of(AccessMode mode) { return word_in(kClauseWords, mode); }
std::string_view word_of(TransitionKind kind) { return word_in(kTransitionWords, kind); }
std::string_view word_of(AtomicOp op) { return word_in(kAtomicOpWords, op); }
std::string_view word_of(LifetimeKind kind) { return word_in(kLifetimeWords, kind); }
std::string_view word_of(QueueKind kind) { return word_in(kQueueWords, kind); }
std::string_view word_of(SyncKind kind) { return word_in(kSyncWords, kind); }

std::string_view noun_of(StatementKind kind) {
  constexpr std::string_view kNouns[] = {"a dispatch", "a barrier", "a lifetime statement",
                                         "a sync statement"};
  return word_in(kNouns, kind);
}

TensorId Program::find_tensor(std::string_view wanted) const {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (name(tensors[i].name) == wanted) return TensorId(i);
  }
  return {};
}

bool Program::has_any(LifetimeKind kind) const {
  return std::ranges::find(lifetimes, kind, &Lifetime::kind) != lifetimes.end();
}

namespace {

// The label of the statement, else `index` in decimal.
std::string reference(const Program& program, StatementId statement, uint32_t index) {
  const NameId label = program.statements[statement.index].label;
  return label.is_some() ? std::string(program.name(label)) : std::to_string(index);
}

// Likewise, of what is counted among all statements alone.
std::string reference_by_statement(const Program& program, StatementId statement) {
  const NameId label = program.statements[statement.index].label;
  return label.is_some() ? std::string(program.name(label))
                         : fmt::format("@{}", text_number_of(program, statement));
}

// Among those of its barrier, from 1.
uint32_t position_of_transition(const Program& program, const Dispatch& dispatch) {
  const auto barrier = std::ranges::find_if(program.barriers, [&](const Barrier& candidate) {
    const uint32_t first = candidate.first_dependency;
    return first <= dispatch.transition && dispatch.transition < first + candidate.dependency_count;
  });
  INTERLOCK_CHECK(barrier != program.barriers.end());
  uint32_t position = 0;
  for (uint32_t i = barrier->first_dependency; i <= dispatch.transition; ++i) {
    position += program.dependencies[i].transition != TransitionKind::kNone;
  }
  return position;
}

}  // namespace

uint32_t Program::number_of(DispatchId id) const {
  if (text_order != nullptr) return text_order->dispatch_numbers[id.index];
  const auto first_after = std::ranges::lower_bound(uncounted_dispatches, id);
  return id.index - static_cast<uint32_t>(first_after - uncounted_dispatches.begin());
}

DispatchId Program::dispatch_of_number(uint64_t number) const {
  // Before number k of those that do not count there are as many others as its index says, less k.
  size_t uncounted = 0;
  for (size_t end = uncounted_dispatches.size(); uncounted < end;) {
    const size_t middle = uncounted + (end - uncounted) / 2;
    if (uncounted_dispatches[middle].index - middle <= number) {
      uncounted = middle + 1;
    } else {
      end = middle;
    }
  }
  const uint64_t index = number + uncounted;
  return index < dispatches.size() ? DispatchId(index) : DispatchId();
}

std::span<const Dependency> Program::dependencies_of(const SyncStep& step) const {
  if (step.kind != SyncKind::kSet) return {};
  return std::span(dependencies).subspan(step.first, step.count);
}

std::span<const Access> Program::operands_of(const SyncStep& step) const {
  const bool has_operands =
      step.kind == SyncKind::kHostFlushes || step.kind == SyncKind::kHostInvalidates;
  if (!has_operands) return {};
  return std::span(barrier_operands).subspan(step.first, step.count);
}

std::span<const SignalPart> Program::parts_of(const SyncStep& step) const {
  if (step.kind != SyncKind::kSignal && step.kind != SyncKind::kHostSignals) return {};
  return std::span(signal_parts).subspan(step.first, step.count);
}

std::string_view Program::name_of(QueueIndex queue) const {
  return queues.empty() ? kDefaultQueueName : name(queues[queue].name);
}

QueueIndex Program::launching_queue_of(QueueIndex queue) const {
  const bool is_launched =
      !queues.empty() && queue != kNoQueue && queues[queue].launched_on != kNoQueue;
  return is_launched ? queues[queue].launched_on : queue;
}

QueueKind Program::kind_of(QueueIndex queue) const {
  return queues.empty() ? QueueKind::kConcurrent : queues[queue].kind;
}

std::span<const Edge> Program::edges_to(DispatchId id) const {
  const auto first = std::ranges::lower_bound(edges, id, {}, &Edge::to);
  const auto last = std::ranges::upper_bound(first, edges.end(), id, {}, &Edge::to);
  return {first, last};
}

const InitialValue* Program::host_value_of(DispatchId id) const {
  const auto found = std::ranges::lower_bound(host_values, id, {}, &HostValue::dispatch);
  return found != host_values.end() && found->dispatch == id ? &found->value : nullptr;
}

std::string Program::reference_of(DispatchId id) const {
  const Dispatch& d = dispatch(id);
  if (d.is_counted() || statements[d.statement.index].label.is_some()) {
    return reference(*this, d.statement, number_of(id));
  }
  const std::string text = reference_by_statement(*this, d.statement);
  const uint32_t position = d.is_transition() ? position_of_transition(*this, d) : 1;
  return position == 1 ? text : fmt::format("{}@{}", text, position);
}

std::string Program::reference_of(BarrierId id) const {
  const uint32_t number = text_order != nullptr ? text_order->barriers[id.index] : id.index;
  return reference(*this, barriers[id.index].statement, number);
}

std::string Program::reference_of(LifetimeId id) const {
  const uint32_t number = text_order != nullptr ? text_order->lifetimes[id.index] : id.index;
  return reference(*this, lifetimes[id.index].statement, number);
}

std::string Program::reference_of(SyncId id) const {
  return reference_by_statement(*this, syncs[id.index].statement);
}

std::string Program::reference_of(StatementId id) const {
  const Statement& statement = statements[id.index];
  if (statement.kind == StatementKind::kDispatch) return reference_of(DispatchId(statement.index));
  return reference_by_statement(*this, id);
}

std::string Program::text_of(const Lifetime& lifetime) const {
  return interlock::text_of(draft_of(*this, lifetime, NameId()));
}

std::string Program::description_of(DispatchId id) const {
  const Dispatch& d = dispatch(id);
  const NameId label = statements[d.statement.index].label;
  if (!d.is_counted()) {
    return label.is_some() ? fmt::format("{} ({})", name(label), name(d.kernel_name))
                           : fmt::format("{} (statement {})", name(d.kernel_name),
                                         text_number_of(*this, d.statement));
  }
  return fmt::format("{} (dispatch {})", name(label.is_some() ? label : d.kernel_name),
                     number_of(id));
}

std::string Program::description_of(LifetimeId id) const {
  return fmt::format("{} (lifetime statement {})", text_of(lifetimes[id.index]),
                     text_order != nullptr ? text_order->lifetimes[id.index] : id.index);
}

std::string Program::text_of(const Access& access) const {
  return interlock::text_of(draft_of(*this, access));
}

}  // namespace interlock
