// Sentences with numbers. Nothing about time: the same input gives the same text everywhere.
#include "simulator/schedules/strategy_text.h"

#include <fmt/format.h>

#include <string_view>

namespace interlock {
namespace {

std::string counted(std::string_view count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == "1" ? one : many);
}
std::string counted(uint64_t count, std::string_view one, std::string_view many) {
  return counted(fmt::format("{}", count), one, many);
}

std::string traces_text(const ExhaustivePlan& plan) {
  const std::string count = counted(plan.trace_count.text(), "trace", "traces");
  if (!plan.is_truncated) return (plan.is_exact ? "" : "at most ") + count;
  return plan.is_exact ? "the first of many more, with " + count + " of their own"
                       : "the first of many more";
}

std::string joined_slices_text(const ExhaustivePlan& plan) {
  if (!plan.is_slice_trace_count_known) {
    return "Dispatches run whole: their slices have too many hazards to count.\n";
  }
  return fmt::format("Dispatches run whole: with their slices apart there are {}{}.\n",
                     plan.is_slice_trace_count_exact ? "" : "at most ",
                     counted(plan.slice_trace_count.text(), "trace", "traces"));
}

}  // namespace

std::string announcement_of(const ExhaustivePlan& plan, const ExhaustiveOptions& options,
                            bool has_late_commits) {
  std::string text;
  const std::string_view at_most = plan.is_exact ? "" : "at most ";
  if (plan.hazard_count == 0) {
    text = "No hazard depends on the order of runs: 1 trace.\n";
  } else {
    text = fmt::format("{} between {}, in {} of independent order: {}.\n",
                       counted(plan.hazard_count, "hazard", "hazards"),
                       plan.are_units_slices ? counted(plan.unit_count, "slice", "slices")
                                             : counted(plan.unit_count, "dispatch", "dispatches"),
                       counted(plan.group_count, "group", "groups"), traces_text(plan));
    if (plan.joins_slices) text += joined_slices_text(plan);
    const bool is_cut = !plan.is_exact || plan.schedule_count > Natural(options.schedule_limit);
    text += fmt::format(
        "{}: {}{} beside issue order{}.\n",
        options.combines_groups ? "All groups combined" : "One group at a time", at_most,
        counted(plan.schedule_count.text(), "schedule", "schedules"),
        is_cut ? fmt::format(", of which at most {} will run", options.schedule_limit) : "");
  }
  if (has_late_commits) {
    text +=
        "Some hazards are ordered, but not visible. No order of runs shows them: the lazy run "
        "does.\n";
  }
  return text;
}

std::string claim_of(const ExhaustivePlan& plan, const ExhaustiveOptions& options,
                     bool is_complete) {
  if (!is_complete || plan.is_truncated) return "Not complete: some traces were not tried.\n";
  return fmt::format("Complete: every trace of {} was tried{}.\n",
                     options.combines_groups ? "the program" : "each group",
                     plan.joins_slices ? ", dispatches running whole" : "");
}

std::string announcement_of(const PctSchedules& pct, uint64_t depth) {
  std::string denominator = fmt::format("{}", pct.dispatch_count());
  if (depth == 2) denominator = fmt::format("({} * {})", pct.dispatch_count(), pct.step_count());
  if (depth > 2) {
    denominator = fmt::format("({} * {}^{})", pct.dispatch_count(), pct.step_count(), depth - 1);
  }
  return fmt::format(
      "{} with {} in all: if some schedule meets {}, each of these does with probability at least "
      "1/{}.\n",
      counted(pct.dispatch_count(), "dispatch", "dispatches"),
      counted(pct.step_count(), "step", "steps"),
      depth == 1 ? "an order constraint" : fmt::format("{} order constraints", depth), denominator);
}

}  // namespace interlock
