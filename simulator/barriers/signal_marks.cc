// The basic idea: where few signals are open at any time of the program, a mark can stand for the
// same ones between all accesses, so that what a step does need not be found again for each two. A
// mark that stands for more than one means nothing any more where it is made anew; by then what it
// stood for is over. Else marks are given out for each two accesses.
#include "simulator/barriers/signal_marks.h"

#include <utility>

#include "simulator/barriers/queue_marks.h"
#include "simulator/order/signal_statements.h"

namespace interlock {

SignalMarks::SignalMarks(const Program& program, const QueueSteps& steps, bool gives_once)
    : program_(program),
      steps_(steps),
      lower_(lower_signals_of(program)),
      marks_(token_count(), kAllMarks) {
  are_of_program_ = gives_once && give_once();
}

const SyncStep* SignalMarks::sync_of(uint32_t step) const {
  if (steps_[step].kind != QueueStepKind::kSync) return nullptr;
  return &program_.syncs[program_.statements[steps_[step].statement].index];
}

// What the step waits for: visit(token, the step that makes it).
template <typename Visit>
void SignalMarks::for_each_awaited(uint32_t at, Visit visit) const {
  const SyncStep* const step = sync_of(at);
  if (step == nullptr || step->partner == SyncStep::kNoPartner) return;
  if (step->kind == SyncKind::kWait || step->kind == SyncKind::kHostWaits) {
    // And what the wait may be for in its stead.
    for (const uint32_t part : {step->partner, lower_[step->partner]}) {
      if (part != kNoSignal) visit(part, steps_.of_part(part));
    }
  } else if (step->kind == SyncKind::kAwait) {
    const SyncStep& set = program_.syncs[step->partner];
    const uint32_t set_at = steps_.of_set(step->partner);
    const bool is_scoped = set.barrier_kind == BarrierKind::kScoped;
    if (!is_scoped) visit(token_of_set(step->partner), set_at);
    for (uint32_t i = 0; is_scoped && i < set.count; ++i) {
      visit(token_of_dependency(set.first + i), set_at);
    }
  }
}

bool SignalMarks::give_once() {
  marks_.clear();
  bool are_made_first = true;
  for (uint32_t at = 0; at < steps_.count(); ++at) {
    for_each_awaited(at, [&](uint32_t token, uint32_t made) {
      if (made == QueueSteps::kNone) return;
      are_made_first = are_made_first && made < at;
      marks_.open(token, made, at);
    });
  }
  return are_made_first && marks_.give_out();
}

bool SignalMarks::begin(uint32_t begin, uint32_t end, std::span<const uint32_t> path) {
  if (are_of_program_) return true;
  marks_.clear();
  for (const uint32_t at : path) {
    for_each_awaited(at, [&](uint32_t token, uint32_t made) {
      if (made >= begin && made < end) marks_.open(token, made, at);
    });
  }
  return marks_.give_out();
}

// The marks that mean from this step on what it makes.
uint64_t SignalMarks::made_by(uint32_t at) const {
  const SyncStep* const step = sync_of(at);
  if (step == nullptr) return 0;
  uint64_t made = 0;
  if (step->kind == SyncKind::kSignal || step->kind == SyncKind::kHostSignals) {
    for (uint32_t part = step->first; part < step->first + step->count; ++part) {
      made |= of_part(part);
    }
  } else if (step->kind == SyncKind::kSet) {
    made = of_set(static_cast<uint32_t>(step - program_.syncs.data()));
    for (uint32_t i = step->first; i < step->first + step->count; ++i) made |= of_dependency(i);
  }
  return made;
}

void SignalMarks::restart() {
  last_ = QueueSteps::kNone;
  if (!are_of_program_) marks_.restart();
}

uint64_t SignalMarks::over_before(uint32_t step) {
  return are_of_program_ ? made_by(step) : marks_.over_before(step);
}

uint64_t SignalMarks::unmade_after(uint32_t step) {
  if (!are_of_program_) return marks_.unmade_after(step);
  const uint32_t later = std::exchange(last_, step);
  return later == QueueSteps::kNone ? 0 : made_by(later);
}

}  // namespace interlock
