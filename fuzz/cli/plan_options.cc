#include "fuzz/cli/plan_options.h"

#include <array>
#include <string>

#include "encoder/program/error_of.h"
#include "fuzz/cli/input.h"

namespace interlock {

namespace {

const char* const kGroup = "Planner";

// An option that only some planners use: those whose names begin with one of `planners`.
struct OwnOption {
  std::string_view option;
  std::array<std::string_view, 2> planners;
};

constexpr std::array kOwnOptions = {
    OwnOption{"--slack", {"liveness", "liveness"}},
    OwnOption{"--antichain", {"liveness", "liveness"}},
    OwnOption{"--region", {"arena", "ztensor"}},
};

}  // namespace

void add_plan_options(CLI::App& command, PlanOptions& options) {
  command.add_option("--align", options.alignment_bytes, "bytes that every value is aligned to")
      ->check(whole_number(4, 1 << 20))
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_option(
          "--slack", options.slack_percent,
          "liveness: memory above the smallest, in percent, that may be spent to save barriers")
      ->check(whole_number(0, 10'000))
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_flag("--antichain", options.is_antichain,
                "liveness: no reuse between dispatches that nothing orders yet")
      ->group(kGroup);
  command
      .add_flag("--keep-inputs", options.keeps_inputs,
                "values with initial values keep their bytes to the end")
      ->group(kGroup);
  command
      .add_flag("!--no-opaque-in-place", options.is_opaque_in_place,
                "opaque dispatches never write in place")
      ->group(kGroup);
  command
      .add_option("--region", options.region_dispatches,
                  "arena: dispatches between two resets, if the program has no reset")
      ->check(whole_number(1, UINT32_MAX))
      ->capture_default_str()
      ->group(kGroup);
}

Result<Success> check_plan_options(const CLI::App& command, std::string_view planner) {
  const auto options =
      command.get_options([](const CLI::Option* option) { return option->get_group() == kGroup; });
  for (const CLI::Option* option : options) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name();
    if (planner.empty()) {
      return error_of("{} is for planners; give a --planner, too.", name);
    }
    for (const OwnOption& own : kOwnOptions) {
      const auto [first, second] = own.planners;
      if (own.option != name || planner.starts_with(first) || planner.starts_with(second)) continue;
      return error_of(
          "{} means nothing to the planner '{}'; `interlock encode --help` says whose it is.", name,
          planner);
    }
  }
  return Success{};
}

}  // namespace interlock
