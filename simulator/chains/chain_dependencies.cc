#include "simulator/chains/chain_dependencies.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "encoder/kernel/kernel_table.h"

namespace interlock {
namespace {

constexpr AccessMask kAccessesOfDevices = kAllAccesses & static_cast<AccessMask>(~kAccessesOfHost);
constexpr int64_t kNoPosition = std::numeric_limits<int64_t>::max();

// Compute, or graphics, as a first scope includes the arguments that it was dispatched with; those
// as a second scope include what is dispatched with them.
StageMask with_earlier_stages(StageMask stages) {
  const bool has_work =
      (stages & bit_of(Stage::kCompute)) != 0 || (stages & bit_of(Stage::kGraphics)) != 0;
  return has_work ? static_cast<StageMask>(stages | bit_of(Stage::kIndirect)) : stages;
}
StageMask with_later_stages(StageMask stages) {
  const bool has_indirect = (stages & bit_of(Stage::kIndirect)) != 0;
  return has_indirect
             ? static_cast<StageMask>(stages | bit_of(Stage::kCompute) | bit_of(Stage::kGraphics))
             : stages;
}

AccessMask accesses_of_stages(StageMask stages) {
  AccessMask accesses = 0;
  for (size_t s = 0; s < kScopeSortCount; ++s) {
    const StageAccess access = static_cast<StageAccess>(s);
    if ((stages & bit_of(stage_of(access))) != 0) accesses |= bit_of(access);
  }
  return accesses & kAccessesOfDevices;
}

ChainEnd source_at(QueueIndex queue, int64_t position, Scope scope) {
  return {queue, position, with_earlier_stages(scope.stages), scope.accesses, {}};
}
ChainEnd destination_at(QueueIndex queue, int64_t position, Scope scope) {
  return {queue, position, with_later_stages(scope.stages), scope.accesses, {}};
}

// Semaphores never touch host accesses, and cover those of implied stages, too.
// `stages` on a graph queue is all: there they mean the whole queue.
ChainEnd signal_end(QueueIndex queue, int64_t position, StageMask stages) {
  const StageMask all = with_earlier_stages(stages);
  return {queue, position, all, accesses_of_stages(all), {}};
}
ChainEnd wait_end(QueueIndex queue, int64_t position, StageMask stages) {
  const StageMask all = with_later_stages(stages);
  return {queue, position, all, accesses_of_stages(all), {}};
}
ChainEnd host_end(int64_t position, AccessMask accesses) {
  return {kNoQueue, position, bit_of(Stage::kHost), accesses, {}};
}

// What only the host does, and what is nothing to a device.
bool runs_on_a_device(const Program& program, const Statement& statement) {
  if (statement.queue == kNoQueue || statement.kind == StatementKind::kLifetime) return false;
  if (statement.kind != StatementKind::kSync) return true;
  const SyncKind kind = program.syncs[statement.index].kind;
  return kind != SyncKind::kSplit && kind != SyncKind::kSubmit;
}

bool is_step(const Program& program, const Statement& statement, SyncKind kind) {
  return statement.kind == StatementKind::kSync && program.syncs[statement.index].kind == kind;
}

class ChainDependencies {
 public:
  explicit ChainDependencies(const Program& program) : program_(program) {}

  std::vector<ChainDependency> all() {
    add_submissions();
    add_serial_order();
    add_joins();
    add_barriers();
    add_transitions();
    add_events();
    add_semaphores();
    add_idles();
    add_edges();
    return std::move(dependencies_);
  }

 private:
  void add(const ChainEnd& source, const ChainEnd& destination,
           std::span<const Access> operands = {}) {
    dependencies_.push_back({source, destination, operands});
  }

  // Each statement for itself says the same as the first of each submission does.
  void add_submissions() {
    for (size_t t = 0; t < program_.statements.size(); ++t) {
      const Statement& statement = program_.statements[t];
      if (!runs_on_a_device(program_, statement)) continue;
      const int64_t point = position_of_statement(submission_of(program_, t));
      add(host_end(point, bit_of(StageAccess::kHostWrite)),
          destination_at(statement.queue, position_of_statement(t) - 1,
                         {kAllStages, kAccessesOfDevices}));
    }
  }

  void add_serial_order() {
    for (size_t t = 0; t < program_.statements.size(); ++t) {
      const Statement& statement = program_.statements[t];
      if (!runs_on_a_device(program_, statement)) continue;
      if (!is_serial(program_.kind_of(statement.queue))) continue;
      if (is_transition_at(t + 1)) continue;  // It is part of this statement.
      const bool is_last =
          std::none_of(program_.statements.begin() + static_cast<std::ptrdiff_t>(t) + 1,
                       program_.statements.end(), [&](const Statement& later) {
                         return later.queue == statement.queue && runs_on_a_device(program_, later);
                       });
      if (is_last) continue;
      add(source_at(statement.queue, position_of_statement(t) + 2, kEverything),
          destination_at(statement.queue, position_of_statement(t) + 2, kEverything));
    }
  }

  // Statements join each other: nothing passes through a blocking queue that has none between.
  void add_joins() {
    const auto add_join = [&](size_t from, size_t to) {
      add(source_at(program_.statements[from].queue, position_of_statement(from) + 1, kEverything),
          destination_at(program_.statements[to].queue, position_of_statement(to) - 1,
                         kEverything));
    };
    const auto has_kind = [&](size_t t, QueueKind kind) {
      const Statement& statement = program_.statements[t];
      return runs_on_a_device(program_, statement) && program_.kind_of(statement.queue) == kind;
    };
    for (size_t t = 0; t < program_.statements.size(); ++t) {
      for (size_t s = 0; s < t; ++s) {
        const bool is_joined =
            has_kind(t, QueueKind::kLegacyDefault)
                ? has_kind(s, QueueKind::kSerialBlocking)
                : has_kind(t, QueueKind::kSerialBlocking) && has_kind(s, QueueKind::kLegacyDefault);
        if (is_joined) add_join(s, t);
      }
    }
  }

  void add_halves(BarrierKind kind, std::span<const Dependency> dependencies, QueueIndex queue,
                  int64_t from, int64_t to) {
    if (kind != BarrierKind::kScoped) {
      const Scope scope = {kAllStages, kind == BarrierKind::kFull ? kAllAccesses : AccessMask{0}};
      add(source_at(queue, from, scope), destination_at(queue, to, scope));
    }
    for (const Dependency& dependency : dependencies) {
      add(source_at(queue, from, dependency.source),
          destination_at(queue, to, dependency.destination), program_.operands_of(dependency));
    }
  }

  void add_barriers() {
    for (const Barrier& barrier : program_.barriers) {
      const QueueIndex queue = program_.statements[barrier.statement.index].queue;
      const int64_t place = position_of_statement(barrier.statement.index);
      add_halves(barrier.kind, program_.dependencies_of(barrier), queue, place,
                 place_after_transitions(barrier.statement));
    }
  }

  // What a dependency does to its operands: after its first scope, before its second one, and after
  // all transitions of its queue that stand before it.
  void add_transitions() {
    for (size_t d = 0; d < program_.dispatches.size(); ++d) {
      const Dispatch& dispatch = program_.dispatches[d];
      if (!dispatch.is_transition()) continue;
      const Dependency& dependency = program_.dependencies[dispatch.transition];
      const QueueIndex queue = program_.queue_of(dispatch);
      const int64_t place = place_of_barrier_before(dispatch.statement);
      const auto operands = program_.operands_of(dependency);
      add(source_at(queue, place, dependency.source), transition_end(queue, 0, DispatchId(d)),
          operands);
      add(transition_end(queue, kNoPosition, DispatchId(d)),
          destination_at(queue, place_after_transitions(dispatch.statement),
                         dependency.destination),
          operands);
      for (size_t e = 0; e < d; ++e) {
        const Dispatch& earlier = program_.dispatches[e];
        if (!earlier.is_transition() || program_.queue_of(earlier) != queue) continue;
        add(transition_end(queue, kNoPosition, DispatchId(e)),
            transition_end(queue, 0, DispatchId(d)));
      }
    }
  }

  static ChainEnd transition_end(QueueIndex queue, int64_t position, DispatchId operation) {
    return {queue, position, bit_of(Stage::kTransition), 0, operation};
  }

  bool is_transition_at(size_t t) const {
    return t < program_.statements.size() &&
           program_.statements[t].kind == StatementKind::kDispatch &&
           program_.dispatches[program_.statements[t].index].is_transition();
  }

  // Where the barrier and what it does to operands are over: that is no later command.
  int64_t place_after_transitions(StatementId statement) const {
    size_t last = statement.index;
    while (is_transition_at(last + 1)) ++last;
    return position_of_statement(last);
  }

  int64_t place_of_barrier_before(StatementId transition) const {
    size_t t = transition.index;
    while (program_.statements[t].kind != StatementKind::kBarrier) --t;
    return position_of_statement(t);
  }

  // An await is for the last set before it.
  void add_events() {
    for (size_t t = 0; t < program_.statements.size(); ++t) {
      const Statement& await = program_.statements[t];
      if (!is_step(program_, await, SyncKind::kAwait)) continue;
      const NameId event = program_.syncs[await.index].event;
      for (size_t s = t; s-- > 0;) {
        const Statement& other = program_.statements[s];
        if (other.queue != await.queue || !is_step(program_, other, SyncKind::kSet)) continue;
        const SyncStep& set = program_.syncs[other.index];
        if (set.event != event) continue;
        add_halves(set.barrier_kind, program_.dependencies_of(set), await.queue,
                   position_of_statement(s), position_of_statement(t));
        break;
      }
    }
  }

  void add_semaphores() {
    for (size_t t = 0; t < program_.statements.size(); ++t) {
      const Statement& statement = program_.statements[t];
      if (!is_step(program_, statement, SyncKind::kWait) &&
          !is_step(program_, statement, SyncKind::kHostWaits)) {
        continue;
      }
      add_waits_for(program_.syncs[statement.index], StatementId(t));
    }
  }

  // From the signal of the smallest value that is enough, and from all signals of its queue before.
  void add_waits_for(const SyncStep& wait, StatementId statement) {
    const Semaphore& semaphore = program_.semaphores[wait.semaphore.index];
    if (wait.is_from_outside) return;
    if (!semaphore.is_binary && wait.value <= semaphore.initial) return;
    size_t signal = program_.statements.size();
    uint64_t value = std::numeric_limits<uint64_t>::max();
    const auto parts_at = [&](size_t t) -> std::span<const SignalPart> {
      const Statement& at = program_.statements[t];
      const bool is_signal =
          is_step(program_, at, SyncKind::kSignal) || is_step(program_, at, SyncKind::kHostSignals);
      if (!is_signal) return {};
      return program_.parts_of(program_.syncs[at.index]);
    };
    SignalPart met;
    for (size_t t = 0; t < program_.statements.size(); ++t) {
      for (const SignalPart& part : parts_at(t)) {
        if (part.semaphore != wait.semaphore || part.value < wait.value || part.value >= value) {
          continue;
        }
        value = part.value;
        signal = t;
        met = part;
      }
    }
    if (signal == program_.statements.size()) return;
    const QueueIndex from = program_.statements[signal].queue;
    const QueueIndex to = program_.statements[statement.index].queue;
    const int64_t place = position_of_statement(statement.index);
    const auto stages_on = [&](QueueIndex queue, StageMask stages) {
      return program_.kind_of(queue) == QueueKind::kGraph ? kAllStages : stages;
    };
    const ChainEnd end =
        to == kNoQueue ? host_end(place, 0) : wait_end(to, place, stages_on(to, wait.stages));
    if (from == kNoQueue) return add(host_end(position_of_statement(signal), 0), end);
    add(signal_end(from, position_of_statement(signal), stages_on(from, met.stages)), end);
    for (size_t t = 0; t < signal; ++t) {
      if (program_.statements[t].queue != from) continue;
      for (const SignalPart& part : parts_at(t)) {
        add(signal_end(from, position_of_statement(t), stages_on(from, part.stages)), end);
      }
    }
  }

  // What is submitted is a prefix of each queue.
  void add_idles() {
    for (size_t t = 0; t < program_.statements.size(); ++t) {
      if (!is_step(program_, program_.statements[t], SyncKind::kHostIdle)) continue;
      const QueueIndex only = program_.syncs[program_.statements[t].index].idle_queue;
      for (size_t s = 0; s < t; ++s) {
        const Statement& statement = program_.statements[s];
        if (!runs_on_a_device(program_, statement) || submission_of(program_, s) > t) continue;
        if (only != kNoQueue && only != statement.queue) continue;
        add(source_at(statement.queue, position_of_statement(s) + 1,
                      {kAllStages, kAccessesOfDevices}),
            host_end(position_of_statement(t), 0));
      }
    }
  }

  void add_edges() {
    for (const Edge& edge : program_.edges) {
      const AccessMask accesses = edge.is_programmatic ? AccessMask{0} : kAllAccesses;
      add({program_.queue_of(program_.dispatch(edge.from)), kNoPosition,
           stages_of_dispatch(program_, edge.from), accesses, edge.from},
          {program_.queue_of(program_.dispatch(edge.to)), 0, stages_of_dispatch(program_, edge.to),
           accesses, edge.to});
    }
  }

  const Program& program_;
  std::vector<ChainDependency> dependencies_;
};

}  // namespace

StageMask stages_of_dispatch(const Program& program, DispatchId dispatch) {
  const Dispatch& d = program.dispatch(dispatch);
  StageMask stages = bit_of(stage_of(d));
  for (const Access& access : program.accesses_of(d)) stages |= bit_of(stage_of(d, access));
  return stages;
}

size_t submission_of(const Program& program, size_t statement) {
  const QueueIndex queue = program.statements[statement].queue;
  for (size_t t = statement; t < program.statements.size(); ++t) {
    const Statement& other = program.statements[t];
    if (other.queue == queue && is_step(program, other, SyncKind::kSubmit)) return t;
  }
  return statement;
}

std::vector<ChainDependency> chain_dependencies_of(const Program& program) {
  return ChainDependencies(program).all();
}

}  // namespace interlock
