// The idea: a strategy is a list of named schedules; everything else is the same for all of them.
#include "simulator/schedules/explore.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "encoder/program/stop.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/witness.h"

namespace interlock {
namespace {

class Explorer {
 public:
  explicit Explorer(const Program& program)
      : program_(program),
        order_(program),
        machine_(program),
        strict_reference_(machine_.run(issue_order_schedule(program), ShadowMode::kStrict)),
        observable_reference_(
            machine_.run(issue_order_schedule(program), ShadowMode::kObservable)) {}

  const HappensBefore& order() const { return order_; }
  void try_schedules(std::string_view strategy_name, Strategy& strategy, uint64_t schedule_count);
  Exploration finish();

 private:
  void try_schedule(std::string name, const Schedule& schedule);
  bool differs(const Schedule& schedule, ShadowMode mode) {
    machine_.run(schedule, mode, result_);
    return result_ != (mode == ShadowMode::kStrict ? strict_reference_ : observable_reference_);
  }

  const Program& program_;
  HappensBefore order_;
  ShadowMachine machine_;
  ShadowResult strict_reference_;
  ShadowResult observable_reference_;
  ShadowResult result_;
  Exploration exploration_;
  Schedule first_schedule_;  // Of exploration_.first_different.
};

void Explorer::try_schedules(std::string_view strategy_name, Strategy& strategy,
                             uint64_t schedule_count) {
  Schedule schedule;
  while (exploration_.tried.size() < schedule_count && !is_stopped() && strategy.next(schedule)) {
    std::string name = strategy.schedule_name();
    if (name.empty()) name = fmt::format("{} {}", strategy_name, exploration_.tried.size());
    try_schedule(std::move(name), schedule);
  }
  exploration_.claim = strategy.claim();
}

void Explorer::try_schedule(std::string name, const Schedule& schedule) {
  if (is_stopped()) return;
  TriedSchedule tried;
  tried.name = std::move(name);
  tried.differs_strictly = differs(schedule, ShadowMode::kStrict);
  // What differs observably differs strictly, too.
  tried.differs_observably = tried.differs_strictly && differs(schedule, ShadowMode::kObservable);
  if (is_stopped()) return;  // What was cut short differs for that reason.
  const bool is_first = tried.differs_observably ? exploration_.observable_count == 0
                                                 : exploration_.strict_count == 0;
  if (tried.differs_strictly && is_first) {
    exploration_.first_different = exploration_.tried.size();
    first_schedule_ = schedule;
  }
  exploration_.strict_count += tried.differs_strictly ? 1 : 0;
  exploration_.observable_count += tried.differs_observably ? 1 : 0;
  exploration_.tried.push_back(std::move(tried));
}

Exploration Explorer::finish() {
  if (!exploration_.first_different) return std::move(exploration_);
  const ShadowMode mode =
      exploration_.observable_count > 0 ? ShadowMode::kObservable : ShadowMode::kStrict;
  exploration_.witness =
      shrink_witness(program_, order_, displacements_of(program_, first_schedule_),
                     [this, mode](const Schedule& schedule) { return differs(schedule, mode); });
  return std::move(exploration_);
}

}  // namespace

Exploration explore(const Program& program, const StrategyEntry& entry,
                    const StrategyOptions& options,
                    const std::function<void(std::string_view)>& announce) {
  Explorer explorer(program);
  const std::unique_ptr<Strategy> strategy = entry.make(program, explorer.order(), options);
  if (announce) announce(strategy->announcement());
  explorer.try_schedules(entry.name, *strategy, options.schedule_count);
  return explorer.finish();
}

}  // namespace interlock
