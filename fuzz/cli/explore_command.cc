// interlock explore: tries schedules on the shadow machine and names those that end differently.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/files.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/deadlock_report.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/report/check.h"
#include "simulator/report/finding.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/explore.h"
#include "simulator/schedules/strategy.h"

namespace interlock {
namespace {

struct ExploreCommandOptions {
  InputOptions input;
  StrategyOptions explore;
  std::string strategy = std::string(strategy_registry().front().name);
};

constexpr uint64_t kNamesShown = 10;
constexpr uint64_t kDepthMax = 1000;  // Known bugs need 1 to 3.

std::string text_of(const Program& program, const Exploration& exploration) {
  std::string text;
  uint64_t shown = 0;
  for (const TriedSchedule& tried : exploration.tried) {
    if (tried.differs_strictly && shown++ < kNamesShown) {
      text += fmt::format("  {}: {}\n", tried.name,
                          tried.differs_observably
                              ? "an output can differ"
                              : "some read sees another writer, no output can differ");
    }
  }
  if (shown > kNamesShown) {
    text += fmt::format("  … and {} more\n", shown - kNamesShown);
  }
  text += exploration.claim;
  text +=
      fmt::format("{} schedules tried; {} differ from {} order, {} observably.\n",
                  exploration.tried.size(), exploration.strict_count,
                  needs_queue_order(program) ? "reference" : "issue", exploration.observable_count);
  for (const Displacement& displacement : exploration.witness) {
    text += fmt::format("  witness {}\n", text_of(program, displacement));
  }
  if (!exploration.steps.empty()) {
    text += fmt::format("  No witness line says it; its steps: {}.\n", exploration.steps);
  }
  return text;
}

// What `check` says of the same program, where it has only hazards that it does not count.
std::string text_of_uncounted(const Program& program) {
  const CheckReport report = check(program, {.observability_budget = 0, .redundancy_budget = 0});
  if (!report.findings.empty() || report.is_truncated() || report.noted.empty()) return {};
  const auto is_own_read = [](const Finding& finding) { return finding.is_after_own_read; };
  const bool has_own_read = std::ranges::any_of(report.noted, is_own_read);
  const bool has_possible = !std::ranges::all_of(report.noted, is_own_read);
  return fmt::format(
      "All hazards here are {}: `check` tells them and does not count them, unless {} asks for it.\n",
      has_own_read ? (has_possible ? "after own reads or only possible" : "after own reads")
                   : "only possible",
      has_own_read ? (has_possible ? "--deny=own-read or --possible" : "--deny=own-read")
                   : "--possible");
}

ExitStatus run_explore(ExploreCommandOptions& options) {
  const Interruptible interruptible;
  const Result<Program> program = parse_file(options.input.path, options.input.parse);
  if (!program) {
    return report_error(program.error());
  }
  if (const auto deadlock = report_endless(*program)) return *deadlock;
  const Program run = reference_run(*program);
  const Exploration exploration = explore(run, *find_strategy(options.strategy), options.explore,
                                          [](std::string_view lines) { print_out(lines); });
  const StopScope to_the_end(nullptr);  // What was tried was tried whole.
  print_report(text_of(run, exploration) +
               (exploration.strict_count == 0 ? "" : text_of_uncounted(*program)));
  return exploration.strict_count == 0 ? ExitStatus::kNothingFound : ExitStatus::kFinding;
}

}  // namespace

void add_explore_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<ExploreCommandOptions>(
      app, status, "explore", "tries schedules on hashes and names those that differ", run_explore);
  add_input_options(command, options.input);
  read_every_queue(options.input.parse);
  std::vector<std::string> names;
  for (const StrategyEntry& entry : strategy_registry()) names.emplace_back(entry.name);
  command
      .add_option(
          "--strategy", options.strategy,
          fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back()))
      ->check(one_of(names))
      ->capture_default_str();
  add_number(command, "--schedules", options.explore.schedule_count, "how many to try at most", 1);
  add_number(command, "--seed", options.explore.seed, "of random and pct");
  add_number(command, "--depth", options.explore.depth,
             "of pct: how many order constraints a schedule is to meet", 1, kDepthMax);
  command.add_flag("--combine", options.explore.combines_groups,
                   "of exhaustive: every trace of the program, not of one group at a time");
}

}  // namespace interlock
