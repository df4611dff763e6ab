#include "simulator/chains/counter_run.h"

#include <algorithm>
#include <utility>

namespace interlock {
namespace {

class CounterRun {
 public:
  explicit CounterRun(const Program& program)
      : program_(program), is_done_(program.statements.size()) {
    for (const Semaphore& semaphore : program.semaphores) counters_.push_back(semaphore.initial);
  }

  // Where these have run.
  CounterRun(const Program& program, const std::vector<bool>& have_run) : CounterRun(program) {
    is_done_ = have_run;
    for (size_t t = 0; t < have_run.size(); ++t) {
      if (have_run[t]) count_signals(t);
    }
  }

  std::vector<StatementId> run() {
    size_t t = 0;
    while (t < program_.statements.size()) {
      if (is_done_[t] || !may_run(t)) {
        ++t;
        continue;
      }
      is_done_[t] = true;
      count_signals(t);
      done_.push_back(StatementId(t));
      t = 0;
    }
    return std::move(done_);
  }

  bool may_run(size_t t) const {
    const SyncStep* step = step_at(t);
    if (step != nullptr && (step->kind == SyncKind::kWait || step->kind == SyncKind::kHostWaits) &&
        !step->is_from_outside && counters_[step->semaphore.index] < step->value) {
      return false;
    }
    const auto is_host = [&](size_t s) { return is_host_action(s); };
    if (is_host_action(t)) return all_done_before(t, is_host) && (step == nullptr || is_idle(t));
    return is_submitted(t) && is_next_of_its_queue(t) && has_joined(t) && has_sources(t);
  }

 private:
  const SyncStep* step_at(size_t t) const {
    const Statement& statement = program_.statements[t];
    return statement.kind == StatementKind::kSync ? &program_.syncs[statement.index] : nullptr;
  }
  bool is_step(size_t t, SyncKind kind) const {
    return step_at(t) != nullptr && step_at(t)->kind == kind;
  }
  QueueKind kind_at(size_t t) const { return program_.kind_of(program_.statements[t].queue); }

  // A submission is something that the host does.
  bool is_host_action(size_t t) const {
    return program_.statements[t].queue == kNoQueue || is_step(t, SyncKind::kSubmit);
  }

  size_t submission_of(size_t t) const {
    for (size_t s = t; s < program_.statements.size(); ++s) {
      const bool is_here = program_.statements[s].queue == program_.statements[t].queue;
      if (is_here && is_step(s, SyncKind::kSubmit)) return s;
    }
    return t;
  }

  template <typename Claim>
  bool all_done_before(size_t end, Claim is_asked) const {
    for (size_t s = 0; s < end; ++s) {
      if (!is_done_[s] && is_asked(s)) return false;
    }
    return true;
  }

  bool is_submitted(size_t t) const {
    const size_t submission = submission_of(t);
    const auto is_host = [&](size_t s) { return is_host_action(s); };
    return all_done_before(submission, is_host) && (submission == t || is_done_[submission]);
  }

  bool is_next_of_its_queue(size_t t) const {
    return all_done_before(t, [&](size_t s) {
      return program_.statements[s].queue == program_.statements[t].queue && !is_host_action(s);
    });
  }

  // Legacy-default queues and blocking ones wait for each other, and where a value ends for what
  // the other side does before that.
  bool has_joined(size_t t) const {
    if (is_step(t, SyncKind::kSplit)) return true;
    const QueueKind kind = kind_at(t);
    if (kind != QueueKind::kLegacyDefault && kind != QueueKind::kSerialBlocking) return true;
    const QueueKind other =
        kind == QueueKind::kLegacyDefault ? QueueKind::kSerialBlocking : QueueKind::kLegacyDefault;
    return all_done_before(
        t, [&](size_t s) { return !is_host_action(s) && !is_end(s) && kind_at(s) == other; });
  }

  // Of a command buffer, or of a value: nothing that a queue does.
  bool is_end(size_t t) const {
    return is_step(t, SyncKind::kSplit) || program_.statements[t].kind == StatementKind::kLifetime;
  }

  bool has_sources(size_t t) const {
    const Statement& statement = program_.statements[t];
    if (statement.kind != StatementKind::kDispatch) return true;
    const auto edges = program_.edges_to(DispatchId(statement.index));
    return std::ranges::all_of(edges, [&](const Edge& edge) {
      return is_done_[program_.dispatch(edge.from).statement.index];
    });
  }

  // Requires: a sync statement of the host.
  bool is_idle(size_t t) const {
    if (!is_step(t, SyncKind::kHostIdle)) return true;
    const QueueIndex only = step_at(t)->idle_queue;
    return all_done_before(t, [&](size_t s) {
      const bool is_asked = only == kNoQueue || program_.statements[s].queue == only;
      return !is_host_action(s) && is_asked && submission_of(s) < t;
    });
  }

  void count_signals(size_t t) {
    if (!is_step(t, SyncKind::kSignal) && !is_step(t, SyncKind::kHostSignals)) return;
    for (const SignalPart& part : program_.parts_of(*step_at(t))) {
      uint64_t& counter = counters_[part.semaphore.index];
      counter = program_.semaphores[part.semaphore.index].is_binary ? counter + 1
                                                                    : std::max(counter, part.value);
    }
  }

  const Program& program_;
  std::vector<bool> is_done_;
  std::vector<uint64_t> counters_;  // By semaphore.
  std::vector<StatementId> done_;
};

}  // namespace

std::vector<StatementId> run_by_counters(const Program& program) {
  return CounterRun(program).run();
}

bool may_run_by_counters(const Program& program, const std::vector<bool>& have_run,
                         StatementId statement) {
  return CounterRun(program, have_run).may_run(statement.index);
}

}  // namespace interlock
