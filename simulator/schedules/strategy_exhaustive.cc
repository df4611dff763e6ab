#include "simulator/schedules/strategy_exhaustive.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "encoder/program/stop.h"
#include "simulator/schedules/queue_strategies.h"
#include "simulator/schedules/strategy_directed.h"
#include "simulator/schedules/strategy_three.h"

namespace interlock {
namespace {

UnitOrder unit_order(const std::vector<Step>& units, const HappensBefore& order) {
  return [&units, &order](uint32_t first, uint32_t second) {
    return units[first].dispatch != units[second].dispatch &&
           order.executes_before(units[first].dispatch, units[second].dispatch);
  };
}

ExhaustiveGraph graph_of(TraceUnits units, const HappensBefore& order,
                         const StrategyOptions& options) {
  ExhaustiveGraph graph;
  graph.units = std::move(units);
  const std::vector<Step>& all = graph.units.units;
  graph.groups = trace_groups(graph.units.hazards, unit_order(all, order));
  graph.plan.are_units_slices = graph.units.are_slices;
  graph.plan.is_truncated = graph.units.is_truncated;
  graph.plan.hazard_count = graph.units.hazards.size();
  graph.plan.group_count = graph.groups.size();
  for (const TraceGroup& group : graph.groups) {
    graph.plan.unit_count += group.units.size();
    for (const uint32_t unit : group.units) graph.plan.joins_slices |= all[unit].slice_count > 1;
  }
  TurnCounts counts = count_turns(graph.groups, options.combines_groups);
  graph.plan.is_exact = counts.is_exact;
  graph.plan.trace_count = std::move(counts.trace_count);
  graph.plan.schedule_count = std::move(counts.schedule_count);
  return graph;
}

bool fits(const ExhaustivePlan& plan, const StrategyOptions& options) {
  return plan.is_exact && plan.schedule_count <= Natural(options.schedule_count);
}

ExhaustiveGraph choose_graph(const Program& program, const HappensBefore& order,
                             const HazardList& list, const StrategyOptions& options) {
  std::optional<ExhaustiveGraph> by_slice;
  if (list.is_complete()) {
    if (std::optional<TraceUnits> slices = slice_units(program, list.hazards)) {
      by_slice = graph_of(*std::move(slices), order, options);
      if (!by_slice->plan.are_units_slices || fits(by_slice->plan, options)) {
        return *std::move(by_slice);
      }
    }
  }
  ExhaustiveGraph graph = graph_of(dispatch_units(program, list.hazards), order, options);
  graph.plan.is_truncated |= !list.is_complete();
  if (by_slice) graph.plan.slice_traces = {by_slice->plan.trace_count, by_slice->plan.is_exact};
  return graph;
}

}  // namespace

ExhaustiveSchedules::ExhaustiveSchedules(const Program& program, const HappensBefore& order,
                                         const HazardList& list, const StrategyOptions& options)
    : program_(program),
      graph_(choose_graph(program, order, list, options)),
      turns_(graph_.groups, options.combines_groups),
      linearizer_(graph_.units, graph_.groups, unit_order(graph_.units.units, order)) {}

bool ExhaustiveSchedules::next(Schedule& schedule) {
  if (!turns_.advance()) return false;
  linearizer_.schedule_of(turns_.at_hand(), schedule);
  return true;
}

std::string ExhaustiveSchedules::name() const {
  return turns_.name([this](uint32_t unit) { return text_of(program_, graph_.units.units[unit]); });
}

namespace {

// A kind of a pair of dispatches each. Groups take a bit for each pair of the dispatches that these
// name: 50 MB at worst.
constexpr uint64_t kHazardsEnumeratedMax = 10'000;

std::string traces_text(const ExhaustivePlan& plan) {
  const std::string count = counted(plan.trace_count, "trace", "traces");
  if (!plan.is_truncated) return (plan.is_exact ? "" : "at most ") + count;
  return plan.is_exact ? "the first of many more, with " + count + " of their own"
                       : "the first of many more";
}

std::string joined_slices_text(const ExhaustivePlan& plan) {
  if (!plan.slice_traces) {
    return "Dispatches run whole: their slices have too many hazards to count.\n";
  }
  return fmt::format("Dispatches run whole: with their slices apart there are {}{}.\n",
                     plan.slice_traces->is_exact ? "" : "at most ",
                     counted(plan.slice_traces->value, "trace", "traces"));
}

// How many traces and schedules there are, and of what.
std::string plan_text(const ExhaustivePlan& plan, const StrategyOptions& options) {
  if (plan.hazard_count == 0) return "No hazard depends on the order of runs: 1 trace.\n";
  const Natural unit_count(plan.unit_count);
  const bool is_cut = !plan.is_exact || plan.schedule_count > Natural(options.schedule_count);
  return fmt::format(
      "{} between {}, in {} of independent order: {}.\n{}{}: {}{} beside issue order{}.\n",
      counted(Natural(plan.hazard_count), "hazard", "hazards"),
      plan.are_units_slices ? counted(unit_count, "slice", "slices")
                            : counted(unit_count, "dispatch", "dispatches"),
      counted(Natural(plan.group_count), "group", "groups"), traces_text(plan),
      plan.joins_slices ? joined_slices_text(plan) : "",
      options.combines_groups ? "All groups combined" : "One group at a time",
      plan.is_exact ? "" : "at most ", counted(plan.schedule_count, "schedule", "schedules"),
      is_cut ? fmt::format(", of which at most {} will run", options.schedule_count) : "");
}

class ExhaustiveStrategy final : public Strategy {
 public:
  // `lazy` stands for late commits, where they matter.
  ExhaustiveStrategy(const Program& program, const HappensBefore& order, const HazardList& list,
                     const StrategyOptions& options, std::optional<Schedule> lazy)
      : traces_(program, order, list, options), options_(options), lazy_(std::move(lazy)) {}

  std::string announcement() const override {
    return plan_text(traces_.plan(), options_) +
           (lazy_ ? "Some hazards are ordered, but not visible. "
                    "No order of runs shows them: the lazy run does.\n"
                  : "");
  }

  bool next(Schedule& schedule) override {
    is_lazy_ = lazy_.has_value();
    if (!is_lazy_) return traces_.next(schedule);
    schedule = *std::exchange(lazy_, std::nullopt);
    return true;
  }

  std::string schedule_name() const override { return is_lazy_ ? "lazy" : traces_.name(); }

  std::string claim() override {
    Schedule another;
    if (traces_.plan().is_truncated || is_stopped() || traces_.next(another)) {
      return "Not complete: some traces were not tried.\n";
    }
    return fmt::format("Complete: every trace of {} was tried{}.\n",
                       options_.combines_groups ? "the program" : "each group",
                       traces_.plan().joins_slices ? ", dispatches running whole" : "");
  }

 private:
  ExhaustiveSchedules traces_;
  StrategyOptions options_;
  std::optional<Schedule> lazy_;  // Until it is made.
  bool is_lazy_ = false;          // The schedule at hand.
};

}  // namespace

std::unique_ptr<Strategy> exhaustive_strategy(const Program& program, const HappensBefore& order,
                                              const StrategyOptions& options) {
  if (order.has_queues()) return exhaustive_of_queues(program, order, options);
  HazardList list = find_all_hazards(program, order, kHazardsEnumeratedMax);
  const bool has_late_commits =
      !order.has_scopes() && std::ranges::any_of(list.hazards, &Hazard::is_ordered);
  std::optional<Schedule> lazy;
  if (has_late_commits) lazy = lazy_schedule(program, order);
  StrategyOptions of_traces = options;
  of_traces.schedule_count -= has_late_commits ? 1 : 0;
  auto traces =
      std::make_unique<ExhaustiveStrategy>(program, order, list, of_traces, std::move(lazy));
  return after_sinks_of_visibility(program, order, std::move(list.hazards), std::move(traces));
}

}  // namespace interlock
