#include "simulator/report/sync_edit.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "encoder/program/draft.h"
#include "encoder/program/fresh_names.h"
#include "encoder/text/printer.h"

namespace interlock {

SyncEdit::SyncEdit(const Program& program) : before_(program), after_(program) {
  after_.captures.clear();
  after_.replays.clear();
  after_.backwards.clear();
  after_.witness.clear();
  after_.expectations.clear();
}

void SyncEdit::insert(Place place, StatementKind kind, QueueIndex queue, size_t index) {
  insertions_.push_back(
      {place, {.kind = kind, .queue = queue, .index = static_cast<uint32_t>(index)}});
}

void SyncEdit::insert_sync(Place place, QueueIndex queue, SyncStep step) {
  // Stands for where it will be, until program() says so.
  step.statement = place.at;
  insert(place, StatementKind::kSync, queue, after_.syncs.size());
  after_.syncs.push_back(step);
}

void SyncEdit::add_barrier(Place place, QueueIndex queue, BarrierKind kind) {
  insert(place, StatementKind::kBarrier, queue, after_.barriers.size());
  after_.barriers.push_back({.statement = place.at, .kind = kind});
}

void SyncEdit::add_barrier(Place place, QueueIndex queue, Scope source, Scope destination,
                           std::span<const Access> bytes) {
  const Dependency dependency{
      .source = source,
      .destination = destination,
      .first_operand = static_cast<uint32_t>(after_.barrier_operands.size()),
      .operand_count = static_cast<uint32_t>(bytes.size())};
  after_.barrier_operands.insert(after_.barrier_operands.end(), bytes.begin(), bytes.end());
  insert(place, StatementKind::kBarrier, queue, after_.barriers.size());
  after_.barriers.push_back({.statement = place.at,
                             .kind = BarrierKind::kScoped,
                             .first_dependency = static_cast<uint32_t>(after_.dependencies.size()),
                             .dependency_count = 1});
  after_.dependencies.push_back(dependency);
}

uint32_t SyncEdit::add_signal(Place place, QueueIndex queue) {
  std::vector<std::string_view> taken;
  for (const Semaphore& semaphore : after_.semaphores) taken.push_back(after_.name(semaphore.name));
  std::string name = FreshNames(std::move(taken)).claim("repaired");
  const NameId id(after_.names.size());
  after_.names.push_back(std::move(name));
  const SemaphoreId semaphore(after_.semaphores.size());
  after_.semaphores.push_back({.name = id});
  const auto part = static_cast<uint32_t>(after_.signal_parts.size());
  after_.signal_parts.push_back({.semaphore = semaphore, .value = 1});
  const SyncKind kind = queue == kNoQueue ? SyncKind::kHostSignals : SyncKind::kSignal;
  insert_sync(place, queue, {.kind = kind, .first = part, .count = 1});
  return part;
}

void SyncEdit::add_wait(Place place, QueueIndex queue, uint32_t part) {
  const SignalPart& signal = after_.signal_parts[part];
  insert_sync(place, queue,
              {.kind = queue == kNoQueue ? SyncKind::kHostWaits : SyncKind::kWait,
               .semaphore = signal.semaphore,
               .value = signal.value,
               .partner = part});
}

void SyncEdit::add_host_move(Place place, SyncKind kind, std::span<const Access> bytes) {
  insert_sync(place, kNoQueue,
              {.kind = kind,
               .first = static_cast<uint32_t>(after_.barrier_operands.size()),
               .count = static_cast<uint32_t>(bytes.size())});
  after_.barrier_operands.insert(after_.barrier_operands.end(), bytes.begin(), bytes.end());
}

void SyncEdit::add_submit(Place place, QueueIndex queue) {
  insert_sync(place, queue, {.kind = SyncKind::kSubmit});
}

QueueIndex SyncEdit::add_queue(Place place) {
  std::vector<std::string_view> taken;
  for (const Queue& queue : after_.queues) taken.push_back(after_.name(queue.name));
  std::string name = FreshNames(std::move(taken)).claim("passing");
  declarations_.push_back({place.is_after ? RepairPlace::kAfter : RepairPlace::kBefore, place.at,
                           print(QueueDraft{.name = name})});
  const NameId id(after_.names.size());
  after_.names.push_back(std::move(name));
  after_.queues.push_back({.name = id});
  return static_cast<QueueIndex>(after_.queues.size() - 1);
}

void SyncEdit::remove(StatementId statement) { removed_ = statement; }

void SyncEdit::move(StatementId statement, Place place, QueueIndex queue) {
  Statement moved = after_.statements[statement.index];
  moved.queue = queue;
  removed_ = statement;
  insertions_.push_back({place, moved});
}

void SyncEdit::add_edge(DispatchId from, DispatchId to) {
  for (Edge& edge : after_.edges) {
    if (edge.to == to) edge.is_programmatic = false;
  }
  const bool is_there = std::ranges::any_of(
      after_.edges, [&](const Edge& edge) { return edge.to == to && edge.from == from; });
  if (!is_there) {
    const auto place = std::ranges::upper_bound(after_.edges, to, {}, &Edge::to);
    after_.edges.insert(place, Edge{.to = to, .from = from});
  }
  change(after_.dispatch(to).statement);
}

void SyncEdit::wait_for(StatementId wait, uint32_t part) {
  SyncStep& step = after_.syncs[after_.statements[wait.index].index];
  step.semaphore = after_.signal_parts[part].semaphore;
  step.value = after_.signal_parts[part].value;
  step.partner = part;
  change(wait);
}

void SyncEdit::change(StatementId statement) { changed_.push_back(statement); }

void SyncEdit::widen(StatementId statement, uint32_t dependency, bool is_source, Scope by) {
  Dependency& widened = after_.dependencies[dependency];
  Scope& scope = is_source ? widened.source : widened.destination;
  scope.stages = static_cast<StageMask>(scope.stages | by.stages);
  scope.accesses = static_cast<AccessMask>(scope.accesses | by.accesses);
  change(statement);
}

void SyncEdit::add_operands(StatementId statement, uint32_t dependency,
                            std::span<const Access> bytes) {
  // They stand one after another, so all of them move to the end.
  Dependency& widened = after_.dependencies[dependency];
  const auto first = static_cast<uint32_t>(after_.barrier_operands.size());
  for (uint32_t i = 0; i < widened.operand_count; ++i) {
    const Access operand = after_.barrier_operands[widened.first_operand + i];
    after_.barrier_operands.push_back(operand);
  }
  after_.barrier_operands.insert(after_.barrier_operands.end(), bytes.begin(), bytes.end());
  widened.first_operand = first;
  widened.operand_count += static_cast<uint32_t>(bytes.size());
  change(statement);
}

void SyncEdit::cover(StatementId signal, uint32_t part, StageMask stages) {
  StageMask& covered = after_.signal_parts[part].stages;
  covered = static_cast<StageMask>(covered | stages);
  change(signal);
}

void SyncEdit::hold_back(StatementId wait, StageMask stages) {
  StageMask& held = after_.syncs[after_.statements[wait.index].index].stages;
  held = static_cast<StageMask>(held | stages);
  change(wait);
}

void SyncEdit::make_full(StatementId statement) {
  const Statement& changed = after_.statements[statement.index];
  if (changed.kind == StatementKind::kBarrier) {
    after_.barriers[changed.index].kind = BarrierKind::kFull;
  } else {
    after_.syncs[changed.index].barrier_kind = BarrierKind::kFull;
  }
  change(statement);
}

std::string SyncEdit::text_of(StatementId statement) const {
  Statement unlabelled = after_.statements[statement.index];
  unlabelled.label = NameId();
  return print(draft_of(after_, unlabelled));
}

std::vector<RepairLine> SyncEdit::lines() const {
  // What a draft says of its queue it asks the statement that a sync step names.
  const Program edited = program();
  std::vector<RepairLine> lines = declarations_;
  for (const Insertion& insertion : insertions_) {
    const StatementId id = insertion.statement.kind == StatementKind::kBarrier
                               ? edited.barriers[insertion.statement.index].statement
                               : edited.syncs[insertion.statement.index].statement;
    lines.push_back({insertion.place.is_after ? RepairPlace::kAfter : RepairPlace::kBefore,
                     insertion.place.at, print(draft_of(edited, edited.statements[id.index]))});
  }
  for (const StatementId statement : changed_) {
    lines.push_back({RepairPlace::kInstead, statement,
                     print(draft_of(after_, after_.statements[statement.index]))});
  }
  if (removed_.is_some()) lines.push_back({RepairPlace::kInstead, removed_, ""});
  return lines;
}

Program SyncEdit::program() const {
  Program edited = after_;
  edited.statements.clear();
  std::vector<std::vector<const Insertion*>> around(2 * before_.statements.size());
  for (const Insertion& insertion : insertions_) {
    around[2 * insertion.place.at.index + (insertion.place.is_after ? 1 : 0)].push_back(&insertion);
  }
  const auto add = [&edited](const Statement& statement) {
    const StatementId id(edited.statements.size());
    switch (statement.kind) {
      case StatementKind::kDispatch:
        edited.dispatches[statement.index].statement = id;
        break;
      case StatementKind::kBarrier:
        edited.barriers[statement.index].statement = id;
        break;
      case StatementKind::kLifetime:
        edited.lifetimes[statement.index].statement = id;
        break;
      case StatementKind::kSync:
        edited.syncs[statement.index].statement = id;
        break;
    }
    edited.statements.push_back(statement);
  };
  for (size_t i = 0; i < before_.statements.size(); ++i) {
    for (const Insertion* insertion : around[2 * i]) add(insertion->statement);
    if (removed_ != StatementId(i)) add(after_.statements[i]);
    for (const Insertion* insertion : around[2 * i + 1]) add(insertion->statement);
  }
  return edited;
}

}  // namespace interlock
