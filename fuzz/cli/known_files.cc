#include "fuzz/cli/known_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "encoder/program/limits.h"
#include "encoder/program/names.h"
#include "encoder/text/files.h"

namespace interlock {
namespace {

// The file as seen from the folder of `known`, so that it does not matter where the command runs.
std::string name_in(const std::string& known, const std::string& path) {
  if (path == "-") return path;
  std::error_code ignored;
  const std::filesystem::path folder =
      std::filesystem::absolute(known, ignored).lexically_normal().parent_path();
  const std::filesystem::path file = std::filesystem::absolute(path, ignored).lexically_normal();
  return file.lexically_relative(folder).generic_string();
}

bool exists_beside(const std::string& known, const std::string& name) {
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(known).parent_path();
  return name == "-" || std::filesystem::exists(folder / name, ignored);
}

// A new file is begun by an update.
template <typename Known>
Result<Success> load_file(Known& known, const std::string& path, bool is_new_allowed,
                          Result<Known> (*read)(std::string_view, std::string_view)) {
  std::error_code ignored;
  if (path.empty() || (is_new_allowed && !std::filesystem::exists(path, ignored))) return Success{};
  Limits limits;
  limits.input_bytes = kBaselineBytesMax;
  auto text = read_file(path, limits);
  if (!text) return text.error();
  auto loaded = read(*text, path);
  if (!loaded) return loaded.error();
  known = std::move(*loaded);
  return Success{};
}

template <typename Known>
ExitStatus save_file(Known& known, const std::string& path, std::string_view what) {
  std::erase_if(known.files, [&](const auto& entry) { return !exists_beside(path, entry.first); });
  const Result<Success> written = write_file(path, text_of(known));
  if (!written) return report_error(written.error());
  print_remark(fmt::format("{} is updated: {} of {} file{}.\n", path, what, known.files.size(),
                           known.files.size() == 1 ? "" : "s"));
  return ExitStatus::kNothingFound;
}

}  // namespace

void add_known_options(CLI::App& command, KnownOptions& options) {
  CLI::Option* const baseline = command.add_option(
      "--baseline", options.baseline_path, "a file of findings that are known: only others fail");
  command
      .add_flag("--update-baseline", options.updates_baseline,
                "writes what is found into the baseline")
      ->needs(baseline);
  CLI::Option* const budget =
      command.add_option("--barrier-budget", options.budget_path,
                         "a file that says how many barriers each file may have: more fail");
  command
      .add_flag("--update-barrier-budget", options.updates_budget,
                "writes how many there are into the budget")
      ->needs(budget);
}

Result<Success> KnownFiles::load() {
  auto loaded =
      load_file(baseline_, options_.baseline_path, options_.updates_baseline, baseline_of);
  if (!loaded) return loaded;
  return load_file(budget_, options_.budget_path, options_.updates_budget, barrier_budget_of);
}

std::optional<BaselineOutcome> KnownFiles::judge(const std::string& path, const Program& program,
                                                 const CheckReport& report,
                                                 const ExpectationOutcome& outcome) {
  if (options_.baseline_path.empty()) return std::nullopt;
  IdentityCounts& known = baseline_.files[name_in(options_.baseline_path, path)];
  if (options_.updates_baseline) {
    known = judge_baseline(program, report, outcome, {}).found;
    is_open_ |= report.is_truncated();
  }
  return judge_baseline(program, report, outcome, known);
}

KnownFiles::BudgetOutcome KnownFiles::judge_barriers(const std::string& path,
                                                     const CheckReport& report) {
  BudgetOutcome outcome;
  if (options_.budget_path.empty()) return outcome;
  const std::string name = name_in(options_.budget_path, path);
  if (options_.updates_budget) budget_.files[name] = report.barrier_count;
  const auto entry = budget_.files.find(name);
  const std::string budget = in_quotes(options_.budget_path);
  if (entry == budget_.files.end()) {
    outcome.failure =
        fmt::format("{} has no number of barriers for {}; --update-barrier-budget writes it.",
                    budget, in_quotes(name));
    return outcome;
  }
  outcome.allowed = entry->second;
  if (report.barrier_count > entry->second) {
    outcome.failure = fmt::format("There are {} barriers, and {} allows {}.", report.barrier_count,
                                  budget, entry->second);
  } else if (report.barrier_count < entry->second) {
    outcome.note = fmt::format("There are {} barriers, {} fewer than {} allows.",
                               report.barrier_count, entry->second - report.barrier_count, budget);
  }
  return outcome;
}

ExitStatus KnownFiles::finish() {
  if (options_.updates() && is_open_) {
    return report_error({"nothing is updated: there is no verdict on all of the files."});
  }
  ExitStatus status = ExitStatus::kNothingFound;
  if (options_.updates_baseline) {
    std::erase_if(baseline_.files, [](const auto& entry) { return entry.second.empty(); });
    status = worse(status, save_file(baseline_, options_.baseline_path, "findings"));
  } else if (!options_.baseline_path.empty()) {
    for (const auto& [name, counts] : baseline_.files) {
      if (counts.empty() || exists_beside(options_.baseline_path, name)) continue;
      print_remark(fmt::format("{} names {}, which is not there.\n",
                               in_quotes(options_.baseline_path), in_quotes(name)));
    }
  }
  if (options_.updates_budget) {
    status = worse(status, save_file(budget_, options_.budget_path, "barriers"));
  }
  return status;
}

}  // namespace interlock
