// The basic idea: the rules of QueueClocks, with marks in the stead of numbers. A later signal of a
// queue covers what earlier ones do (7.4.1); what the halves of an event have in common is a mark
// for each of its dependencies.
#include "simulator/barriers/queue_ways.h"

#include <optional>

#include "simulator/order/dependency_ends.h"

namespace interlock {
namespace {

constexpr Dependency kOfAll = {.source = kEverything, .destination = kEverything};
constexpr Dependency kOfExecution = {.source = {kAllStages, 0}, .destination = {kAllStages, 0}};
constexpr AccessMask kHostWrites = bit_of(StageAccess::kHostWrite);

// Without what is about operands.
QueueWay way_of(const Dependency& dependency, QueueIndex queue) {
  const Scope& source = dependency.source;
  const Scope& destination = dependency.destination;
  const StageMask from = with_earlier(source.stages);
  const StageMask to = with_later(destination.stages);
  return {.from_places = stages_in(queue, from),
          .to_places = stages_in(queue, to),
          .first = {from, source.accesses},
          .first_queue = queue,
          .second_queue = queue,
          .second = destination.accesses,
          .rises_to_reads = (destination.accesses & kHostAccesses) != 0,
          .rises_from_writes = (source.accesses & kHostWrites) != 0,
          .rises_in_unified = (source.accesses | destination.accesses) != 0};
}

Dependency cut_by(Dependency dependency, const SyncPiece* without) {
  if (without == nullptr || without->kind != SyncPieceKind::kScope) return dependency;
  Scope& scope = without->is_source ? dependency.source : dependency.destination;
  scope.stages = static_cast<StageMask>(scope.stages & ~without->cut.stages);
  scope.accesses = static_cast<AccessMask>(scope.accesses & ~without->cut.accesses);
  return dependency;
}

// Of one step.
class WayWriter {
 public:
  WayWriter(const Program& program, const SignalMarks& marks, const SyncPiece* without,
            std::vector<QueueWay>& ways)
      : program_(program), marks_(marks), without_(without), ways_(ways) {}

  void append_join(const QueueStep& step) {
    QueueWay way = way_of(kOfAll, step.from);
    way.to_places = stages_in(step.queue, kAllStages);
    way.second_queue = step.queue;
    ways_.push_back(way);
  }

  // What the host does before a submission is there when it runs (7.9).
  void append_submission(QueueIndex queue) {
    ways_.push_back({.from_places = kAtHost,
                     .to_places = stages_in(queue, kAllStages),
                     .first = kEverything,
                     .second_queue = queue,
                     .second = kAllAccesses,
                     .rises_from_writes = true});
  }

  void append_barrier(const Statement& statement) {
    const Barrier& barrier = program_.barriers[statement.index];
    if (is_without(SyncPieceKind::kBarrier)) return;
    if (barrier.kind != BarrierKind::kScoped) {
      const bool is_full = barrier.kind == BarrierKind::kFull && without_ == nullptr;
      ways_.push_back(way_of(is_full ? kOfAll : kOfExecution, statement.queue));
      return;
    }
    for (uint32_t i = 0; i < barrier.dependency_count; ++i) {
      const auto way = way_of_dependency(barrier.first_dependency + i, statement.queue);
      if (way) ways_.push_back(*way);
    }
  }

  void append_sync(const Statement& statement) {
    const SyncStep& step = program_.syncs[statement.index];
    switch (step.kind) {
      case SyncKind::kSignal:
      case SyncKind::kHostSignals:
        return append_signal(step, statement.queue);
      case SyncKind::kWait:
      case SyncKind::kHostWaits:
        return append_wait(step, statement.queue);
      case SyncKind::kSet:
        return append_event(step, false, statement.queue);
      case SyncKind::kAwait:
        return append_event(program_.syncs[step.partner], true, statement.queue);
      case SyncKind::kHostIdle:
        return append_idle(step);
      case SyncKind::kSplit:
      case SyncKind::kSubmit:
      case SyncKind::kHostFlushes:
      case SyncKind::kHostInvalidates:
        return;
    }
  }

 private:
  bool is_without(SyncPieceKind kind) const {
    return without_ != nullptr && without_->kind == kind;
  }

  // Of a barrier or a `set`; none if it goes.
  std::optional<QueueWay> way_of_dependency(uint32_t index, QueueIndex queue) const {
    const SyncPiece* const without =
        without_ != nullptr && without_->dependency == index ? without_ : nullptr;
    if (without != nullptr && without->kind == SyncPieceKind::kDependency) return std::nullopt;
    const Dependency dependency = cut_by(program_.dependencies[index], without);
    QueueWay way = way_of(dependency, queue);
    if (dependency.operand_count > 0) way.dependency = index;
    return way;
  }

  // One half of an event.
  void append_event(const SyncStep& set, bool is_await, QueueIndex queue) {
    if (is_without(SyncPieceKind::kEvent)) return;
    const auto append_half = [&](QueueWay way, uint64_t mark) {
      if (is_await) {
        way.from_places = 0;
        way.from_signals = mark;
        way.first = {};
        way.rises_from_writes = way.rises_in_unified = false;
      } else {
        way.to_places = 0;
        way.to_signals = mark;
        way.second = 0;
        way.rises_to_reads = false;
      }
      ways_.push_back(way);
    };
    if (set.barrier_kind != BarrierKind::kScoped) {
      const bool is_full = set.barrier_kind == BarrierKind::kFull && without_ == nullptr;
      const auto sync = static_cast<uint32_t>(&set - program_.syncs.data());
      append_half(way_of(is_full ? kOfAll : kOfExecution, queue), marks_.of_set(sync));
      return;
    }
    for (uint32_t index = set.first; index < set.first + set.count; ++index) {
      const auto way = way_of_dependency(index, queue);
      if (way) append_half(*way, marks_.of_dependency(index));
    }
  }

  void append_signal(const SyncStep& step, QueueIndex queue) {
    for (uint32_t part = step.first; part < step.first + step.count; ++part) {
      StageMask stages = program_.signal_parts[part].stages;
      if (without_ != nullptr && without_->part == part) {
        if (without_->kind != SyncPieceKind::kScope) continue;
        stages = static_cast<StageMask>(stages & ~without_->cut.stages);
      }
      const uint64_t mark = marks_.of_part(part);
      if (queue == kNoQueue) {
        // Of the host: execution only, but for what unified memory holds.
        ways_.push_back({.from_places = kAtHost,
                         .to_signals = mark,
                         .first = kEverything,
                         .rises_in_unified = true});
        continue;
      }
      stages = with_earlier(stages);
      QueueWay way = way_of({.source = {stages, device_accesses_of(stages)}}, queue);
      way.from_signals = covered_by_signals_of(queue);
      way.to_places = 0;
      way.to_signals = mark | covered_by_signals_of(queue);
      ways_.push_back(way);
    }
  }

  void append_wait(const SyncStep& step, QueueIndex queue) {
    if (step.partner == SyncStep::kNoPartner || is_without(SyncPieceKind::kWait)) return;
    uint32_t part = step.partner;
    StageMask stages = step.stages;
    if (without_ != nullptr) {
      if (without_->kind == SyncPieceKind::kValue) part = without_->lower;
      stages = static_cast<StageMask>(stages & ~without_->cut.stages);
    }
    QueueWay way{.to_places = kAtHost};
    way.from_signals = marks_.of_part(part);
    if (queue != kNoQueue) {
      stages = with_later(stages);
      way.to_places = stages_in(queue, stages);
      way.second_queue = queue;
      way.second = device_accesses_of(stages);
    }
    ways_.push_back(way);
  }

  void append_idle(const SyncStep& step) {
    if (is_without(SyncPieceKind::kHostIdle)) return;
    const QueueIndex only = without_ != nullptr ? without_->queue : step.idle_queue;
    for (size_t q = 0; q < program_.queue_count(); ++q) {
      const auto queue = static_cast<QueueIndex>(q);
      if (only != kNoQueue && only != queue) continue;
      QueueWay way = way_of({.source = {kAllStages, kDeviceAccesses}}, queue);
      way.to_places = kAtHost;
      ways_.push_back(way);
    }
  }

  const Program& program_;
  const SignalMarks& marks_;
  const SyncPiece* const without_;
  std::vector<QueueWay>& ways_;
};

}  // namespace

bool takes_from_ways(const Program& program, const SyncPiece& piece, uint32_t statement) {
  if (piece.statement.index == statement) return true;
  if (piece.partner.is_some() && piece.partner.index == statement) return true;
  const Statement& at = program.statements[statement];
  if (at.kind != StatementKind::kSync) return false;
  const SyncStep& step = program.syncs[at.index];
  return step.kind == SyncKind::kAwait && piece.is_word() &&
         program.syncs[step.partner].statement == piece.statement;
}

void append_ways(const Program& program, const QueueStep& step, const SignalMarks& marks,
                 const SyncPiece* without, std::vector<QueueWay>& ways) {
  const bool takes = without != nullptr && !step.is_implied() &&
                     takes_from_ways(program, *without, step.statement);
  const Statement& statement = program.statements[step.statement];
  WayWriter writer(program, marks, takes ? without : nullptr, ways);
  switch (step.kind) {
    case QueueStepKind::kJoin:
      return writer.append_join(step);
    case QueueStepKind::kSubmission:
      return writer.append_submission(step.queue);
    case QueueStepKind::kBarrier:
      return writer.append_barrier(statement);
    case QueueStepKind::kSync:
      return writer.append_sync(statement);
    case QueueStepKind::kMove:
      return;
  }
}

}  // namespace interlock
