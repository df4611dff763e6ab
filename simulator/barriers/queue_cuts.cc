// The basic idea is that of chain_cuts.cc, with more marks: each stage of each queue, what has been
// reached by what the signals of a queue cover (a later signal covers what earlier ones do, 7.4.1),
// and each signal for which something waits between the two. A step adds marks wherever it finds
// others: a signal carries marks of its queue to its own, a wait from there to another queue.
#include "simulator/barriers/queue_cuts.h"

#include <algorithm>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/order/dependency_ends.h"
#include "simulator/order/signal_statements.h"
#include "simulator/order/submissions.h"

namespace interlock {
namespace {

constexpr size_t kQueuesMax = 10;
constexpr uint64_t kSeen = uint64_t{1} << 62;
constexpr uint64_t kStart = uint64_t{1} << 63;
static_assert(kQueuesMax * kStageCount <= 62);
constexpr uint32_t kPartsMax = 64 - kQueuesMax;

uint64_t stages_in(QueueIndex queue, StageMask stages) {
  return uint64_t{stages} << (queue * kStageCount);
}

uint64_t covered_by_signals_of(QueueIndex queue) { return uint64_t{1} << queue; }

bool is_plain(const SyncStep& step) {
  switch (step.kind) {
    case SyncKind::kSplit:
    case SyncKind::kSubmit:
    case SyncKind::kSignal:
      return true;
    case SyncKind::kWait:
      return !step.is_from_outside;
    default:
      return false;
  }
}

// One queue signals it, and it counts.
bool are_semaphores_plain(const Program& program) {
  std::vector<QueueIndex> queues(program.semaphores.size(), kNoQueue);
  for (const SyncStep& step : program.syncs) {
    const QueueIndex queue = program.statements[step.statement.index].queue;
    for (const SignalPart& part : program.parts_of(step)) {
      QueueIndex& first = queues[part.semaphore.index];
      if (first != kNoQueue && first != queue) return false;
      first = queue;
    }
  }
  return std::ranges::none_of(program.semaphores, &Semaphore::is_binary);
}

bool is_plain(const Program& program, const Statement& statement) {
  if (statement.kind == StatementKind::kLifetime || statement.queue == kNoQueue) return false;
  const QueueKind kind = program.kind_of(statement.queue);
  return kind == QueueKind::kConcurrent || kind == QueueKind::kSerial;
}

bool is_plain(const Dispatch& dispatch) {
  const Stage stage = stage_of(dispatch);
  return stage == Stage::kCompute || stage == Stage::kCopy;
}

}  // namespace

bool QueueCuts::can_judge(const Program& program) {
  const auto is_of_arguments = [](const Access& access) {
    return access.mode == AccessMode::kIndirect;
  };
  return program.queue_count() <= kQueuesMax && program.host_dispatches.empty() &&
         program.edges.empty() && program.barrier_operands.empty() && program.lifetimes.empty() &&
         !program.has_program_order && are_semaphores_plain(program) &&
         std::ranges::all_of(program.syncs, [](const SyncStep& step) { return is_plain(step); }) &&
         std::ranges::all_of(program.statements,
                             [&](const Statement& at) { return is_plain(program, at); }) &&
         std::ranges::all_of(program.dispatches,
                             [](const Dispatch& dispatch) { return is_plain(dispatch); }) &&
         std::ranges::none_of(program.accesses, is_of_arguments);
}

QueueCuts::QueueCuts(const Program& program)
    : program_(program),
      signal_steps_(program.signal_parts.size(), UINT32_MAX),
      lower_(lower_signals_of(program)),
      numbers_(program.signal_parts.size(), 0),
      named_in_(program.signal_parts.size(), 0) {
  std::vector<bool> has_statements(program.queue_count());
  for (uint32_t i = 0; i < program.statements.size(); ++i) {
    const Statement& statement = program.statements[i];
    if (is_of_host(program, statement) || !runs_on_its_queue(program, statement)) continue;
    const bool is_serial = program.kind_of(statement.queue) == QueueKind::kSerial;
    if (is_serial && has_statements[statement.queue])
      steps_.push_back({i, statement.queue, true, false});
    has_statements[statement.queue] = true;
    if (statement.kind == StatementKind::kDispatch) {
      steps_before_.push_back(static_cast<uint32_t>(steps_.size()));
      continue;
    }
    if (statement.kind == StatementKind::kSync) {
      const SyncStep& step = program.syncs[statement.index];
      for (uint32_t k = 0; step.kind == SyncKind::kSignal && k < step.count; ++k) {
        signal_steps_[step.first + k] = static_cast<uint32_t>(steps_.size());
      }
    }
    steps_.push_back({i, statement.queue, false, statement.kind == StatementKind::kSync});
  }
}

QueueCuts::Link QueueCuts::link(const QueueConflict& conflict, QueueIndex queue, Scope source,
                                Scope destination) const {
  const StageMask from = with_earlier(source.stages);
  Link link{{stages_in(queue, from)}, {stages_in(queue, with_later(destination.stages))}};
  const bool is_its_queue = queue == conflict.first_queue;
  const bool starts = conflict.is_of_memory
                          ? (source.accesses & bit_of(write_sort_of(conflict.first))) != 0
                          : has_stage(from, conflict.first);
  if (is_its_queue && starts) link.from.places |= kStart;
  const bool shows = conflict.is_of_memory && queue == conflict.second_queue &&
                     (destination.accesses & bit_of(conflict.sort)) != 0;
  if (shows) link.adds.places |= kSeen;
  return link;
}

void QueueCuts::append_barrier(const QueueConflict& conflict, const Statement& statement,
                               const SyncPiece* without) const {
  const Barrier& barrier = program_.barriers[statement.index];
  const bool has_no_memory = without != nullptr && without->kind == SyncPieceKind::kMemory;
  if (barrier.kind != BarrierKind::kScoped) {
    const bool is_full = barrier.kind == BarrierKind::kFull && !has_no_memory;
    const Scope scope = is_full ? kEverything : Scope{kAllStages, 0};
    links_.push_back(link(conflict, statement.queue, scope, scope));
    return;
  }
  for (uint32_t i = 0; i < barrier.dependency_count; ++i) {
    const uint32_t index = barrier.first_dependency + i;
    Scope source = program_.dependencies[index].source;
    Scope destination = program_.dependencies[index].destination;
    if (without != nullptr && without->dependency == index) {
      if (without->kind == SyncPieceKind::kDependency) continue;
      Scope& cut = without->is_source ? source : destination;
      cut.stages = static_cast<StageMask>(cut.stages & ~without->cut.stages);
      cut.accesses = static_cast<AccessMask>(cut.accesses & ~without->cut.accesses);
    }
    links_.push_back(link(conflict, statement.queue, source, destination));
  }
}

QueueMarks QueueCuts::part_mark(uint32_t part) const {
  if (named_in_[part] != conflict_count_) return {};
  return {0, uint64_t{1} << (kQueuesMax + numbers_[part])};
}

// Returns false if there are too many.
bool QueueCuts::name_part(uint32_t part, const QueueConflict& conflict, uint32_t& part_count) {
  if (signal_steps_[part] < conflict.begin || named_in_[part] == conflict_count_) return true;
  if (part_count == kPartsMax) return false;
  named_in_[part] = conflict_count_;
  numbers_[part] = part_count++;
  return true;
}

void QueueCuts::append_signal(const QueueConflict& conflict, const SyncStep& step, QueueIndex queue,
                              const SyncPiece* without) const {
  for (uint32_t k = 0; k < step.count; ++k) {
    const uint32_t part = step.first + k;
    StageMask stages = program_.signal_parts[part].stages;
    if (without != nullptr && without->part == part) {
      if (without->kind == SyncPieceKind::kSignal) continue;
      stages = static_cast<StageMask>(stages & ~without->cut.stages);
    }
    stages = with_earlier(stages);
    Link carried = link(conflict, queue, {stages, device_accesses_of(stages)}, {});
    carried.from.signals |= covered_by_signals_of(queue);
    carried.adds = part_mark(part);
    carried.adds.signals |= covered_by_signals_of(queue);
    links_.push_back(carried);
  }
}

void QueueCuts::links_of(const QueueConflict& conflict, uint32_t step,
                         const SyncPiece* without) const {
  links_.clear();
  const Statement& statement = program_.statements[steps_[step].statement];
  if (steps_[step].is_implied) {
    links_.push_back(link(conflict, statement.queue, kEverything, kEverything));
    return;
  }
  if (statement.kind == StatementKind::kBarrier) {
    append_barrier(conflict, statement, without);
    return;
  }
  const SyncStep& sync = program_.syncs[statement.index];
  if (sync.kind == SyncKind::kSignal) {
    append_signal(conflict, sync, statement.queue, without);
  } else if (sync.partner != SyncStep::kNoPartner) {
    StageMask stages = sync.stages;
    if (without != nullptr) stages = static_cast<StageMask>(stages & ~without->cut.stages);
    stages = with_later(stages);
    Link carried = link(conflict, statement.queue, {}, {stages, device_accesses_of(stages)});
    const bool is_lower = without != nullptr && without->kind == SyncPieceKind::kValue;
    carried.from = part_mark(is_lower ? without->lower : sync.partner);
    links_.push_back(carried);
  }
}

bool QueueCuts::find(const QueueConflict& conflict, uint64_t& work_left,
                     std::vector<QueueCut>& cuts) {
  cuts.clear();
  reached_.clear();
  ++conflict_count_;
  uint64_t steps = 8;
  uint32_t part_count = 0;
  const QueueMarks goal{
      conflict.is_of_memory ? kSeen : stages_in(conflict.second_queue, bit_of(conflict.second))};
  for (uint32_t i = conflict.begin; i < conflict.end; ++i) {
    if (!steps_[i].is_sync) continue;
    const SyncStep& step = program_.syncs[program_.statements[steps_[i].statement].index];
    if (step.kind != SyncKind::kWait || step.partner == SyncStep::kNoPartner) continue;
    // And what the wait may be for in its stead.
    for (const uint32_t part : {step.partner, lower_[step.partner]}) {
      if (part != kNoSignal && !name_part(part, conflict, part_count)) return false;
    }
  }
  uint64_t poll = 0;
  const auto is_too_much = [&] { return steps > work_left || is_stopped_at(++poll); };
  QueueMarks reached{kStart};
  uint32_t last = conflict.begin;  // With it the goal is reached.
  for (;; ++last) {
    INTERLOCK_CHECK(last < conflict.end);
    reached_.push_back(reached);
    ++steps;
    if (is_too_much()) return false;
    // Nothing has got to where it takes from.
    const Step& step = steps_[last];
    const bool is_idle = !step.is_sync && step.queue != conflict.first_queue &&
                         (reached.places & stages_in(step.queue, kAllStages)) == 0;
    if (is_idle) continue;
    links_of(conflict, last, nullptr);
    const QueueMarks before = reached;
    for (const Link& link : links_) {
      if (link.from.meets(before)) reached.add(link.adds);
    }
    steps += links_.size();
    if (reached.meets(goal)) break;
  }
  QueueMarks leading = goal;
  for (uint32_t index = conflict.end; index-- > conflict.begin;) {
    ++steps;
    if (is_too_much()) return false;
    if (index <= last) {
      const QueueMarks there = reached_[index - conflict.begin];
      if (!there.meets(leading)) cuts.push_back({index, there, leading});
    }
    // What it adds leads nowhere.
    const Step& step = steps_[index];
    const bool is_idle = !step.is_sync && step.queue != conflict.second_queue &&
                         (leading.places & stages_in(step.queue, kAllStages)) == 0;
    if (is_idle) continue;
    links_of(conflict, index, nullptr);
    const QueueMarks after = leading;
    for (const Link& link : links_) {
      if (link.adds.meets(after)) leading.add(link.from);
    }
    steps += links_.size();
    if ((leading.places & kStart) != 0) break;
  }
  work_left -= steps;
  return true;
}

bool QueueCuts::needs(const QueueConflict& conflict, const QueueCut& cut,
                      const SyncPiece& piece) const {
  const bool goes = piece.kind == SyncPieceKind::kBarrier || piece.kind == SyncPieceKind::kWait;
  if (goes) return true;
  links_of(conflict, cut.step, &piece);
  QueueMarks reached = cut.reached;
  for (const Link& link : links_) {
    if (link.from.meets(cut.reached)) reached.add(link.adds);
  }
  return !reached.meets(cut.leading);
}

}  // namespace interlock
