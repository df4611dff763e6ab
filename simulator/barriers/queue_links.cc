// The basic idea: the rules of QueueClocks, for one pair of accesses and with marks in the stead of
// numbers. A later signal of a queue covers what earlier ones do (7.4.1); what the halves of an
// event have in common is a mark for each of its dependencies.
#include "simulator/barriers/queue_links.h"

#include "simulator/order/dependency_ends.h"
#include "simulator/order/signal_statements.h"

namespace interlock {
namespace {

constexpr uint64_t kAtHost = uint64_t{1} << 60;
constexpr uint64_t kMoved = uint64_t{1} << 61;  // What the host wrote has left its cache.
constexpr uint64_t kSeen = uint64_t{1} << 62;
constexpr uint64_t kStart = uint64_t{1} << 63;
static_assert(QueueSteps::kQueuesMax * kStageCount <= 60);
constexpr uint64_t kMarks = ~uint64_t{0} << QueueSteps::kQueuesMax;

uint64_t stages_in(QueueIndex queue, StageMask stages) {
  return uint64_t{stages} << (queue * kStageCount);
}

uint64_t covered_by_signals_of(QueueIndex queue) { return uint64_t{1} << queue; }

QueueMarks in_upper(const QueueMarks& marks) { return {0, 0, marks.places, marks.signals}; }

constexpr Dependency kOfAll = {.source = kEverything, .destination = kEverything};
constexpr Dependency kOfExecution = {.source = {kAllStages, 0}, .destination = {kAllStages, 0}};

bool is_a_wait(const SyncStep& step) {
  return step.kind == SyncKind::kWait || step.kind == SyncKind::kHostWaits;
}

}  // namespace

bool QueueMarks::has_stage_of(QueueIndex queue) const {
  return ((places | upper_places) & stages_in(queue, kAllStages)) != 0;
}

QueueLinks::QueueLinks(const Program& program, const QueueSteps& steps)
    : program_(program),
      steps_(steps),
      lower_(lower_signals_of(program)),
      marks_(token_count(), kMarks) {}

bool QueueLinks::begin(const QueueConflict& conflict, std::span<const uint32_t> path) {
  conflict_ = conflict;
  marks_.clear();
  levels_ = Levels::kOne;
  if (conflict.is_of_memory && conflict.first_queue == kNoQueue) levels_ = Levels::kHostWrites;
  const bool is_read_by_host = conflict.is_of_memory && conflict.second_queue == kNoQueue;
  if (is_read_by_host && !is_unified()) levels_ = Levels::kHostReads;
  start_place_ = levels_ == Levels::kHostWrites && has_atoms() ? kMoved : kStart;
  for (const uint32_t at : path) {
    if (steps_[at].kind != QueueStepKind::kSync) continue;
    const SyncStep& step = program_.syncs[program_.statements[steps_[at].statement].index];
    if (step.partner == SyncStep::kNoPartner) continue;
    if (is_a_wait(step)) {
      // And what the wait may be for in its stead.
      for (const uint32_t part : {step.partner, lower_[step.partner]}) {
        if (part != kNoSignal) open(part, steps_.of_part(part), at);
      }
    } else if (step.kind == SyncKind::kAwait) {
      const SyncStep& set = program_.syncs[step.partner];
      const uint32_t set_at = steps_.of_set(step.partner);
      const bool is_scoped = set.barrier_kind == BarrierKind::kScoped;
      if (!is_scoped) open(token_of_set(step.partner), set_at, at);
      for (uint32_t i = 0; is_scoped && i < set.count; ++i) {
        open(token_of_dependency(set.first + i), set_at, at);
      }
    }
  }
  return marks_.give_out();
}

void QueueLinks::open(uint32_t token, uint32_t made, uint32_t waited) {
  if (made >= conflict_.begin && made < conflict_.end) marks_.open(token, made, waited);
}

QueueMarks QueueLinks::start() { return {kStart}; }

QueueMarks QueueLinks::goal() const {
  if (conflict_.second_queue == kNoQueue) {
    if (!conflict_.is_of_memory || is_unified()) return {kAtHost};
    return has_atoms() ? QueueMarks{kSeen} : in_upper({kAtHost});
  }
  if (conflict_.is_of_memory) return {kSeen};
  return {stages_in(conflict_.second_queue, bit_of(conflict_.second))};
}

void QueueLinks::append(const Way& way) {
  QueueLink lower{way.from, way.to};
  if (way.starts) lower.from.places |= start_place_;
  QueueMarks shown;
  if (way.shows) shown.places = kSeen;
  if (levels_ == Levels::kHostWrites) {
    QueueLink upper{in_upper(way.from), in_upper(way.to)};
    upper.adds.add(shown);
    if (way.rises) upper.from.add(lower.from);
    links_.push_back(upper);
  } else {
    lower.adds.add(shown);
  }
  if (levels_ == Levels::kHostReads) {
    links_.push_back({in_upper(way.from), in_upper(way.to)});
    if (way.rises) lower.adds.add(in_upper(way.to));
  }
  links_.push_back(lower);
}

// Without what is about operands.
QueueLinks::Way QueueLinks::way_of(const Dependency& dependency, QueueIndex queue) const {
  const Scope& source = dependency.source;
  const Scope& destination = dependency.destination;
  const StageMask from = with_earlier(source.stages);
  const StageMask to = with_later(destination.stages);
  Way way{.from = {stages_in(queue, from)}, .to = {stages_in(queue, to)}};
  if (!conflict_.is_of_memory) {
    way.starts = queue == conflict_.first_queue && has_stage(from, conflict_.first);
    return way;
  }
  way.starts = queue == conflict_.first_queue &&
               (source.accesses & bit_of(write_sort_of(conflict_.first))) != 0;
  way.shows =
      queue == conflict_.second_queue && (destination.accesses & bit_of(conflict_.sort)) != 0;
  if (levels_ == Levels::kHostReads) way.rises = (destination.accesses & kHostAccesses) != 0;
  if (levels_ == Levels::kHostWrites) {
    const bool is_of_memory = (source.accesses | destination.accesses) != 0;
    way.rises =
        (source.accesses & bit_of(StageAccess::kHostWrite)) != 0 || (is_unified() && is_of_memory);
  }
  return way;
}

Dependency QueueLinks::cut(Dependency dependency, const SyncPiece* without) {
  if (without == nullptr || without->kind != SyncPieceKind::kScope) return dependency;
  Scope& scope = without->is_source ? dependency.source : dependency.destination;
  scope.stages = static_cast<StageMask>(scope.stages & ~without->cut.stages);
  scope.accesses = static_cast<AccessMask>(scope.accesses & ~without->cut.accesses);
  return dependency;
}

// `first`: where the operands begin in Program::barrier_operands.
bool QueueLinks::covers(std::span<const Access> operands, uint32_t first,
                        const SyncPiece* without) const {
  uint32_t gone = SyncPiece::kNone;
  uint32_t stride = Access::kNotStrided;
  if (without != nullptr && without->kind == SyncPieceKind::kOperand) {
    gone = without->operand;
    stride = program_.barrier_operands[gone].stride;
  }
  for (const Access& operand : operands) {
    ++visit_count_;
    const bool is_row_of_it = stride != Access::kNotStrided && operand.stride == stride;
    if (first++ == gone || is_row_of_it) continue;
    const bool touches = operand.memory == conflict_.bytes.memory &&
                         share_a_byte(operand.range, conflict_.bytes.range);
    if (touches) return true;
  }
  return false;
}

// Of a dependency of a barrier or a `set`; none if it goes.
std::optional<QueueLinks::Way> QueueLinks::way_without(uint32_t index, QueueIndex queue,
                                                       const SyncPiece* without) const {
  if (without != nullptr && without->dependency != index) without = nullptr;
  if (without != nullptr && without->kind == SyncPieceKind::kDependency) return std::nullopt;
  const Dependency dependency = cut(program_.dependencies[index], without);
  Way way = way_of(dependency, queue);
  const auto operands = program_.operands_of(dependency);
  const bool is_narrow = conflict_.is_of_memory && !operands.empty() &&
                         !covers(operands, dependency.first_operand, without);
  if (is_narrow) way.starts = way.shows = way.rises = false;
  return way;
}

// The piece takes something from what the statement does.
bool QueueLinks::is_without(const SyncPiece& piece, uint32_t statement) const {
  if (piece.statement.index == statement) return true;
  if (piece.partner.is_some() && piece.partner.index == statement) return true;
  const Statement& at = program_.statements[statement];
  if (at.kind != StatementKind::kSync) return false;
  const SyncStep& step = program_.syncs[at.index];
  return step.kind == SyncKind::kAwait && piece.is_word() &&
         program_.syncs[step.partner].statement == piece.statement;
}

std::span<const QueueLink> QueueLinks::of(uint32_t step, const SyncPiece* without) {
  links_.clear();
  const QueueStep& at = steps_[step];
  const bool is_implied = at.kind == QueueStepKind::kJoin || at.kind == QueueStepKind::kSubmission;
  if (without != nullptr && (is_implied || !is_without(*without, at.statement))) without = nullptr;
  const Statement& statement = program_.statements[at.statement];
  switch (at.kind) {
    case QueueStepKind::kJoin:
      append_join(at);
      break;
    case QueueStepKind::kSubmission:
      append_submission(at.queue);
      break;
    case QueueStepKind::kBarrier:
      append_barrier(statement, without);
      break;
    case QueueStepKind::kSync:
      append_sync(statement.index, statement.queue, without);
      break;
    case QueueStepKind::kMove:
      append_move(program_.syncs[statement.index], without);
      break;
  }
  return links_;
}

void QueueLinks::append_join(const QueueStep& step) {
  Way way = way_of(kOfAll, step.from);
  way.to = {stages_in(step.queue, kAllStages)};
  way.shows = conflict_.is_of_memory && step.queue == conflict_.second_queue;
  append(way);
}

// What the host does before a submission is there when it runs (7.9).
void QueueLinks::append_submission(QueueIndex queue) {
  append({.from = {kAtHost},
          .to = {stages_in(queue, kAllStages)},
          .starts = conflict_.first_queue == kNoQueue,
          .shows = conflict_.is_of_memory && queue == conflict_.second_queue,
          .rises = levels_ == Levels::kHostWrites});
}

void QueueLinks::append_barrier(const Statement& statement, const SyncPiece* without) {
  const Barrier& barrier = program_.barriers[statement.index];
  if (without != nullptr && without->kind == SyncPieceKind::kBarrier) return;
  if (barrier.kind != BarrierKind::kScoped) {
    const bool is_full = barrier.kind == BarrierKind::kFull && without == nullptr;
    append(way_of(is_full ? kOfAll : kOfExecution, statement.queue));
    return;
  }
  for (uint32_t i = 0; i < barrier.dependency_count; ++i) {
    const auto way = way_without(barrier.first_dependency + i, statement.queue, without);
    if (way) append(*way);
  }
}

// One half of an event.
void QueueLinks::append_event(const SyncStep& set, bool is_await, QueueIndex queue,
                              const SyncPiece* without) {
  if (without != nullptr && without->kind == SyncPieceKind::kEvent) return;
  const auto append_half = [&](Way way, uint32_t token) {
    if (is_await) {
      way.from = mark_of(token);
      way.starts = false;
      if (levels_ == Levels::kHostWrites) way.rises = false;
    } else {
      way.to = mark_of(token);
      way.shows = false;
      if (levels_ == Levels::kHostReads) way.rises = false;
    }
    append(way);
  };
  if (set.barrier_kind != BarrierKind::kScoped) {
    const bool is_full = set.barrier_kind == BarrierKind::kFull && without == nullptr;
    const auto sync = static_cast<uint32_t>(&set - program_.syncs.data());
    append_half(way_of(is_full ? kOfAll : kOfExecution, queue), token_of_set(sync));
    return;
  }
  for (uint32_t index = set.first; index < set.first + set.count; ++index) {
    const auto way = way_without(index, queue, without);
    if (way) append_half(*way, token_of_dependency(index));
  }
}

void QueueLinks::append_signal(const SyncStep& step, QueueIndex queue, const SyncPiece* without) {
  for (uint32_t part = step.first; part < step.first + step.count; ++part) {
    StageMask stages = program_.signal_parts[part].stages;
    if (without != nullptr && without->part == part) {
      if (without->kind != SyncPieceKind::kScope) continue;
      stages = static_cast<StageMask>(stages & ~without->cut.stages);
    }
    if (queue == kNoQueue) {
      // Of the host: execution only, but for what unified memory holds.
      append({.from = {kAtHost},
              .to = mark_of(part),
              .starts = conflict_.first_queue == kNoQueue,
              .rises = levels_ == Levels::kHostWrites && is_unified()});
      continue;
    }
    stages = with_earlier(stages);
    Way way = way_of({.source = {stages, device_accesses_of(stages)}}, queue);
    way.from.signals |= covered_by_signals_of(queue);
    way.to = mark_of(part);
    way.to.signals |= covered_by_signals_of(queue);
    append(way);
  }
}

void QueueLinks::append_wait(const SyncStep& step, QueueIndex queue, const SyncPiece* without) {
  if (step.partner == SyncStep::kNoPartner) return;
  uint32_t part = step.partner;
  StageMask stages = step.stages;
  if (without != nullptr) {
    if (without->kind == SyncPieceKind::kWait) return;
    if (without->kind == SyncPieceKind::kValue) part = without->lower;
    stages = static_cast<StageMask>(stages & ~without->cut.stages);
  }
  Way way{.from = mark_of(part), .to = {kAtHost}};
  if (queue != kNoQueue) {
    stages = with_later(stages);
    way.to = {stages_in(queue, stages)};
    way.shows = conflict_.is_of_memory && queue == conflict_.second_queue &&
                (device_accesses_of(stages) & bit_of(conflict_.sort)) != 0;
  }
  append(way);
}

void QueueLinks::append_idle(const SyncStep& step, const SyncPiece* without) {
  QueueIndex only = step.idle_queue;
  if (without != nullptr) {
    if (without->kind == SyncPieceKind::kHostIdle) return;
    only = without->queue;
  }
  for (size_t q = 0; q < program_.queue_count(); ++q) {
    const auto queue = static_cast<QueueIndex>(q);
    if (only != kNoQueue && only != queue) continue;
    Way way = way_of({.source = {kAllStages, kDeviceAccesses}}, queue);
    way.to = {kAtHost};
    append(way);
  }
}

void QueueLinks::append_move(const SyncStep& step, const SyncPiece* without) {
  const bool is_gone = without != nullptr && without->kind == SyncPieceKind::kHostMove;
  if (is_gone || !has_atoms()) return;
  if (!covers(program_.operands_of(step), step.first, without)) return;
  if (levels_ == Levels::kHostWrites) {
    links_.push_back({{kStart}, {kMoved}});
  } else if (levels_ == Levels::kHostReads && step.kind == SyncKind::kHostInvalidates) {
    links_.push_back({in_upper({kAtHost}), {kSeen}});
  }
}

void QueueLinks::append_sync(uint32_t index, QueueIndex queue, const SyncPiece* without) {
  const SyncStep& step = program_.syncs[index];
  switch (step.kind) {
    case SyncKind::kSignal:
    case SyncKind::kHostSignals:
      append_signal(step, queue, without);
      break;
    case SyncKind::kWait:
    case SyncKind::kHostWaits:
      append_wait(step, queue, without);
      break;
    case SyncKind::kSet:
      append_event(step, false, queue, without);
      break;
    case SyncKind::kAwait:
      append_event(program_.syncs[step.partner], true, queue, without);
      break;
    case SyncKind::kHostIdle:
      append_idle(step, without);
      break;
    case SyncKind::kSplit:
    case SyncKind::kSubmit:
    case SyncKind::kHostFlushes:
    case SyncKind::kHostInvalidates:
      break;
  }
}

}  // namespace interlock
