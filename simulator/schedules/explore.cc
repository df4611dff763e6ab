// The idea: a strategy is a list of named schedules; everything else is the same for all of them.
#include "simulator/schedules/explore.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "encoder/program/stop.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/queue_witness.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/witness.h"

namespace interlock {
namespace {

// The outcomes of schedules against that of reference order.
class Comparison {
 public:
  explicit Comparison(const Program& program)
      : machine_(program),
        strict_reference_(machine_.run(reference_order_schedule(program), ShadowMode::kStrict)),
        observable_reference_(
            machine_.run(reference_order_schedule(program), ShadowMode::kObservable)) {}

  bool differs(const Schedule& schedule, ShadowMode mode) {
    machine_.run(schedule, mode, result_);
    return result_ != (mode == ShadowMode::kStrict ? strict_reference_ : observable_reference_);
  }

 private:
  ShadowMachine machine_;
  ShadowResult strict_reference_;
  ShadowResult observable_reference_;
  ShadowResult result_;
};

}  // namespace

Exploration explore(const Program& program, const StrategyEntry& entry,
                    const StrategyOptions& options,
                    const std::function<void(std::string_view)>& announce) {
  const HappensBefore order(program);
  Comparison comparison(program);
  const std::unique_ptr<Strategy> strategy = entry.make(program, order, options);
  if (announce) announce(strategy->announcement());
  Exploration result;
  Schedule schedule;
  Schedule first_schedule;  // Of result.first_different.
  while (result.tried.size() < options.schedule_count && !is_stopped() &&
         strategy->next(schedule)) {
    TriedSchedule tried{.name = strategy->schedule_name()};
    if (tried.name.empty()) tried.name = fmt::format("{} {}", entry.name, result.tried.size());
    tried.differs_strictly = comparison.differs(schedule, ShadowMode::kStrict);
    // What differs observably differs strictly, too.
    tried.differs_observably =
        tried.differs_strictly && comparison.differs(schedule, ShadowMode::kObservable);
    if (is_stopped()) break;  // What was cut short differs for that reason.
    const bool is_first =
        tried.differs_observably ? result.observable_count == 0 : result.strict_count == 0;
    if (tried.differs_strictly && is_first) {
      result.first_different = result.tried.size();
      first_schedule = schedule;
    }
    result.strict_count += tried.differs_strictly ? 1 : 0;
    result.observable_count += tried.differs_observably ? 1 : 0;
    result.tried.push_back(std::move(tried));
  }
  result.claim = strategy->claim();
  if (!result.first_different) return result;
  const ShadowMode mode =
      result.observable_count > 0 ? ShadowMode::kObservable : ShadowMode::kStrict;
  const auto differs = [&](const Schedule& candidate) {
    return comparison.differs(candidate, mode);
  };
  if (order.has_queues()) {
    result.witness = find_queue_witness(program, order, first_schedule, differs);
    if (result.witness.empty()) result.steps = text_of_steps(program, first_schedule);
    return result;
  }
  result.witness =
      shrink_witness(program, order, displacements_of(program, first_schedule), differs);
  return result;
}

}  // namespace interlock
