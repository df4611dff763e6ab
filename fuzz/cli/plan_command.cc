// interlock plan: what each planner makes of a program, and what its memory costs in barriers.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "encoder/plan/liveness_planner.h"
#include "encoder/plan/plan_by.h"
#include "encoder/plan/planner.h"
#include "encoder/plan/unplan.h"
#include "encoder/program/error_of.h"
#include "encoder/program/registry.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/cli/line_plot.h"
#include "fuzz/cli/pass_options.h"

namespace interlock {
namespace {

struct PlanCommandOptions {
  std::vector<std::string> paths;
  ParseOptions parse;
  std::string unplanned_memory;
  PlanOptions plan;
  std::string planner;  // One of others, besides those of this build; empty: none.
  ExternalOption external;
  std::string curve;
  std::string data;
};

// The trade of memory for barriers.
struct TradeCurve {
  std::string name;
  uint64_t lower_bound_bytes = 0;
  uint64_t fresh_bytes = 0;
  uint64_t fresh_barrier_count = 0;
  std::vector<TradePoint> points;
};

double ratio(uint64_t value, uint64_t unit) {
  return static_cast<double>(value) / static_cast<double>(std::max<uint64_t>(unit, 1));
}

// A line for each point, under a line of column names.
std::string csv_of(const std::vector<TradeCurve>& curves) {
  std::string csv = "graph,lower_bound_bytes,fresh_bytes,fresh_barriers,pool_bytes,barriers\n";
  for (const TradeCurve& curve : curves) {
    for (const TradePoint& point : curve.points) {
      csv +=
          fmt::format("{},{},{},{},{},{}\n", curve.name, curve.lower_bound_bytes, curve.fresh_bytes,
                      curve.fresh_barrier_count, point.pool_bytes, point.barrier_count);
    }
  }
  return csv;
}

// Pool over lower bound against barriers over those without reuse.
std::string svg_of(const std::vector<TradeCurve>& curves) {
  LinePlot plot;
  plot.title = "Memory buys barriers: planner liveness with slack, encoder interlock";
  plot.x_label = "pool, in lower bounds (largest live set)";
  plot.y_label = "barriers, in those without reuse";
  plot.is_stepped = true;
  plot.x_range = {1, 1.1};
  plot.y_range = {1, 1.02};
  for (const TradeCurve& curve : curves) {
    LineSeries& series = plot.series.emplace_back(LineSeries{curve.name, {}});
    for (const TradePoint& point : curve.points) {
      series.points.emplace_back(ratio(point.pool_bytes, curve.lower_bound_bytes),
                                 ratio(point.barrier_count, curve.fresh_barrier_count));
    }
  }
  return svg_of(plot);
}

Result<Program> read_program(const std::string& path, const PlanCommandOptions& options) {
  Result<Program> program = parse_file(path, options.parse);
  if (!program || options.unplanned_memory.empty()) return program;
  return unplan(*program, options.unplanned_memory);
}

std::string percent_above(uint64_t value, uint64_t base) {
  if (base == 0) return "-";
  const double ratio = static_cast<double>(value) / static_cast<double>(base);
  return fmt::format("{:+.1f} %", (ratio - 1) * 100);
}

// Of the planners of this build, and of `other` if it is some.
Result<std::string> table_of(const Program& program, const PlanOptions& options,
                             const PlannerEntry* other) {
  std::string rows;
  PlanReport report;
  std::vector<PlannerEntry> planners(planner_registry().begin(), planner_registry().end());
  if (other != nullptr) planners.push_back(*other);
  for (const PlannerEntry& entry : planners) {
    if (is_stopped()) return Error{"The table was stopped."};
    const Result<Encoding> planned = plan_by(program, options, entry);
    if (planned && planned->failure && entry.external != nullptr) {
      return Error{planned->failure->message, ErrorKind::kFault};
    }
    if (!planned) {
      rows += fmt::format("  {:<20} {}\n", entry.name, planned.error().message);
      continue;
    }
    const Result<PlanReport> costs = report_of(program, planned->program, options);
    if (!costs) return costs.error();
    report = *costs;
    rows += fmt::format("  {:<20} {:>14} {:>12} {:>10} {:>12}{}\n", entry.name, report.pool_bytes,
                        percent_above(report.pool_bytes, report.lower_bound_bytes),
                        report.barrier_count,
                        percent_above(report.barrier_count, report.fresh_barrier_count),
                        entry.is_broken ? "  broken" : "");
  }
  return fmt::format(
      "{} dispatches; at most {} bytes live at a time, {} bytes and {} barriers without reuse\n"
      "  {:<20} {:>14} {:>12} {:>10} {:>12}\n{}",
      program.dispatches.size(), report.lower_bound_bytes, report.fresh_bytes,
      report.fresh_barrier_count, "planner", "bytes", "above live", "barriers", "above fresh",
      rows);
}

Result<TradeCurve> curve_of(const std::string& path, const Program& program,
                            const PlanOptions& options) {
  const Result<std::vector<TradePoint>> points = trade_curve(program, options);
  if (!points) return points.error();
  const Result<PlanReport> report = report_of(program, program, options);
  if (!report) return report.error();
  return TradeCurve{stem_of(path), report->lower_bound_bytes, report->fresh_bytes,
                    report->fresh_barrier_count, *points};
}

ExitStatus run_plan(PlanCommandOptions& options) {
  const Interruptible interruptible;
  const bool is_of_others = options.planner.empty() || is_external_name(options.planner);
  if (!is_of_others && find_planner(options.planner) == nullptr) {
    return report_error(error_of("there is {} `interlock list planners` names them.",
                                 no_entry_text(planner_registry(), "planner", options.planner)));
  }
  if (!is_of_others) {
    return report_error(
        error_of("those of this build are all in the table: --planner names another, "
                 "as exec:COMMAND, and '{}' is none.",
                 options.planner));
  }
  PassNames names;
  names.planner = options.planner;
  const Result<PassChain> passes = find_passes(names, options.external);
  if (!passes) return report_error(passes.error());
  std::vector<TradeCurve> curves;
  for (const std::string& path : options.paths) {
    const Result<Program> program = read_program(path, options);
    if (!program) return report_error(program.error());
    const Result<std::string> table = table_of(*program, options.plan, passes->planner);
    if (!table) {
      const ExitStatus reported = report_error(table.error());
      // What a planner of others does instead of answering is what it was asked for.
      return table.error().kind == ErrorKind::kFault ? ExitStatus::kFinding : reported;
    }
    print_out(fmt::format("{}: {}", path, *table));
    if (options.curve.empty() && options.data.empty()) continue;
    Result<TradeCurve> curve = curve_of(path, *program, options.plan);
    if (!curve) return report_error(curve.error());
    curves.push_back(std::move(*curve));
  }
  Result<Success> written = Success{};
  if (!options.curve.empty()) written = write_file(options.curve, svg_of(curves));
  if (written && !options.data.empty()) written = write_file(options.data, csv_of(curves));
  if (!written) return report_error(written.error());
  return ExitStatus::kNothingFound;
}

}  // namespace

void add_plan_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<PlanCommandOptions>(
      app, status, "plan", "compares planners: their memory, and the barriers it costs", run_plan);
  command.add_option("FILE", options.paths, "programs with unplaced tensors; - is standard input")
      ->required();
  add_limit_options(command, options.parse);
  command.add_option("--unplan", options.unplanned_memory,
                     "first make unplaced tensors of the raw ranges of this memory");
  command.add_option("--planner", options.planner,
                     "exec:COMMAND: a process that plans, too, as the last line of the table");
  add_exec_options(command, options.external);
  command
      .add_option("--curve", options.curve,
                  "write the trade of memory for barriers as a picture (SVG)")
      ->check(writable_path());
  command.add_option("--data", options.data, "write the same as numbers (CSV)")
      ->check(writable_path());
  add_plan_options(command, options.plan);
}

}  // namespace interlock
