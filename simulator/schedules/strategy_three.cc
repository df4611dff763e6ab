// The three deciding runs of T5. The idea: reversing each execution epoch shows every pair that
// nothing orders; reading each memory epoch from the state at its opening, and committing
// backwards, shows every pair that is ordered but not visible.
#include "simulator/schedules/strategy_three.h"

#include <memory>
#include <string>

#include "simulator/schedules/queue_strategies.h"
#include "simulator/schedules/strategy_directed.h"

namespace interlock {
namespace {

class DecidingRuns final : public Strategy {
 public:
  DecidingRuns(const Program& program, const HappensBefore& order)
      : program_(program), order_(order) {}

  bool next(Schedule& schedule) override {
    if (made_count_ == 2) return false;
    schedule = made_count_++ == 0 ? epoch_reversed_schedule(program_, order_)
                                  : lazy_schedule(program_, order_);
    return true;
  }

  std::string schedule_name() const override {
    return made_count_ == 1 ? "epoch-reversed" : "lazy";
  }

 private:
  const Program& program_;
  const HappensBefore& order_;
  uint32_t made_count_ = 0;
};

}  // namespace

Schedule epoch_reversed_schedule(const Program& program, const HappensBefore& order) {
  Schedule schedule;
  const size_t dispatch_count = program.dispatches.size();
  schedule.steps.reserve(dispatch_count);
  for (size_t begin = 0, end = 0; begin < dispatch_count; begin = end) {
    const uint32_t epoch = order.execution_epoch(DispatchId(begin));
    while (end < dispatch_count && order.execution_epoch(DispatchId(end)) == epoch) ++end;
    for (size_t i = end; i > begin; --i) {
      schedule.steps.push_back(whole_step(program, DispatchId(i - 1), StepKind::kRun));
    }
  }
  return schedule;
}

// The last dispatch of a memory epoch commits at once: its commit would follow anyway. A dispatch
// that writes nothing has nothing to commit.
Schedule lazy_schedule(const Program& program, const HappensBefore& order) {
  Schedule schedule;
  const size_t dispatch_count = program.dispatches.size();
  schedule.steps.reserve(2 * dispatch_count);
  std::vector<DispatchId> waiting;
  for (size_t i = 0; i < dispatch_count; ++i) {
    const DispatchId dispatch(i);
    const bool is_last = i + 1 == dispatch_count ||
                         order.memory_epoch(dispatch) != order.memory_epoch(DispatchId(i + 1));
    const bool is_late = !is_last && writes_anything(program, dispatch);
    schedule.steps.push_back(
        whole_step(program, dispatch, is_late ? StepKind::kRunLate : StepKind::kRun));
    if (is_late) waiting.push_back(dispatch);
    if (!is_last) continue;
    for (; !waiting.empty(); waiting.pop_back()) {
      schedule.steps.push_back(whole_step(program, waiting.back(), StepKind::kCommit));
    }
  }
  return schedule;
}

bool decides_by_three(const HappensBefore& order) {
  return !order.has_queues() && !order.has_scopes();
}

std::unique_ptr<Strategy> three_strategy(const Program& program, const HappensBefore& order,
                                         const StrategyOptions& options) {
  if (order.has_queues()) return three_of_queues(program, order, options);
  if (order.has_scopes()) {
    return directed_strategy(
        program, order, options,
        "Strategy 'three' decides for global barriers only; this program has scoped ones, so one sink per hazard was tried instead.\n");
  }
  return std::make_unique<DecidingRuns>(program, order);
}

}  // namespace interlock
