// The basic idea: a serial queue does one statement after another, so a state is how far each queue
// and the host have come, and what the semaphores hold. Nothing is known of order or of pairs.
#include "tests/simulator/judges/payload_runs.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

namespace interlock {
namespace {

class PayloadRuns {
 public:
  PayloadRuns(const Program& program, uint64_t state_limit)
      : program_(program), state_limit_(state_limit), is_taken_(program.semaphores.size()) {
    queue_count_ = program.queue_count();
    statements_.resize(queue_count_);
    for (size_t i = 0; i < program.statements.size(); ++i) {
      const QueueIndex queue = program.statements[i].queue;
      if (queue != kNoQueue && !is_step(i, SyncKind::kSubmit)) statements_[queue].push_back(i);
    }
    for (const SyncStep& step : program.syncs) {
      const bool is_paired = step.semaphore.is_some() && step.partner != SyncStep::kNoPartner;
      if (is_paired) is_taken_[step.semaphore.index] = true;
    }
  }

  std::optional<bool> explore() {
    State begin = {std::vector<size_t>(queue_count_ + 1, 0), {}};
    for (const Semaphore& semaphore : program_.semaphores) begin.held.push_back(semaphore.initial);
    std::vector<State> open = {begin};
    seen_ = {begin};
    while (!open.empty() && !is_broken_) {
      if (seen_.size() > state_limit_) return std::nullopt;
      const State state = open.back();
      open.pop_back();
      for (size_t place = 0; place <= queue_count_; ++place) {
        State next = state;
        if (step(place, next) && seen_.insert(next).second) open.push_back(next);
      }
    }
    return is_broken_;
  }

 private:
  struct State {
    std::vector<size_t> positions;  // Of the queues; of the host, in the text.
    // By semaphore: the value; of a binary one, the number of the signal that it holds, or 0.
    std::vector<uint64_t> held;

    auto operator<=>(const State&) const = default;
  };

  const SyncStep* step_at(size_t t) const {
    const Statement& statement = program_.statements[t];
    return statement.kind == StatementKind::kSync ? &program_.syncs[statement.index] : nullptr;
  }
  bool is_step(size_t t, SyncKind kind) const {
    return step_at(t) != nullptr && step_at(t)->kind == kind;
  }

  // Where the host hands it over.
  size_t submission_of(size_t t) const {
    for (size_t s = t; s < program_.statements.size(); ++s) {
      const bool is_here = program_.statements[s].queue == program_.statements[t].queue;
      if (is_here && is_step(s, SyncKind::kSubmit)) return s;
    }
    return t;
  }

  // One statement of a queue, or of the host; false if it cannot go on.
  bool step(size_t place, State& state) {
    size_t& position = state.positions[place];
    if (place < queue_count_) {
      if (position == statements_[place].size()) return false;
      const size_t t = statements_[place][position];
      if (submission_of(t) >= state.positions[queue_count_]) return false;
      if (step_at(t) != nullptr && !carry_out(*step_at(t), state)) return false;
    } else {
      if (position == program_.statements.size()) return false;
      const SyncStep* const of_host = step_at(position);
      const bool is_sync = of_host != nullptr && program_.statements[position].queue == kNoQueue;
      if (is_sync && !carry_out(*of_host, state)) return false;
    }
    ++position;
    return true;
  }

  bool is_idle(const State& state, QueueIndex queue) const {
    const size_t done = state.positions[queue];
    if (done == statements_[queue].size()) return true;
    return submission_of(statements_[queue][done]) >= state.positions[queue_count_];
  }

  bool carry_out(const SyncStep& step, State& state) {
    if (step.kind == SyncKind::kHostIdle) {
      for (size_t q = 0; q < queue_count_; ++q) {
        const QueueIndex queue = static_cast<QueueIndex>(q);
        const bool is_asked = step.idle_queue == kNoQueue || step.idle_queue == queue;
        if (is_asked && !is_idle(state, queue)) return false;
      }
    }
    for (const SignalPart& part : program_.parts_of(step)) {
      uint64_t& held = state.held[part.semaphore.index];
      const bool is_bit =
          program_.semaphores[part.semaphore.index].is_binary && is_taken_[part.semaphore.index];
      if (is_bit && held != 0) is_broken_ = true;
      held = part.value;
    }
    if (!step.semaphore.is_some() || step.is_from_outside) return true;
    uint64_t& held = state.held[step.semaphore.index];
    if (!program_.semaphores[step.semaphore.index].is_binary) return held >= step.value;
    if (held == 0) return false;
    if (held != step.value) is_broken_ = true;
    held = 0;
    return true;
  }

  const Program& program_;
  const uint64_t state_limit_;
  size_t queue_count_ = 0;
  std::vector<std::vector<size_t>> statements_;  // By queue.
  std::vector<bool> is_taken_;                   // By semaphore: the program waits for it.
  std::set<State> seen_;
  bool is_broken_ = false;
};

}  // namespace

std::optional<bool> breaks_a_payload(const Program& program, uint64_t state_limit) {
  return PayloadRuns(program, state_limit).explore();
}

}  // namespace interlock
