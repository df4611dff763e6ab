#include "fuzz/cli/plan_options.h"

#include "fuzz/cli/input.h"

namespace interlock {

void add_plan_options(CLI::App& command, PlanOptions& options) {
  const char* const kGroup = "Planner";
  command.add_option("--align", options.alignment_bytes, "bytes that every value is aligned to")
      ->check(whole_number(4, 1 << 20))
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_option("--slack", options.slack_percent,
                  "liveness: memory above the smallest, in percent, that may be spent to save "
                  "barriers")
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

}  // namespace interlock
