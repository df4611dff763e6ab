// What `check` takes to be known: the baseline of findings and the budget of barriers, which lie in
// files of their own and are read before and written after all files are checked.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <set>
#include <string>

#include "encoder/program/result.h"
#include "fuzz/cli/console.h"
#include "simulator/report/baseline.h"

namespace interlock {

struct KnownOptions {
  std::string baseline_path;  // Empty: there is none. So the next but one.
  bool updates_baseline = false;
  std::string budget_path;
  bool updates_budget = false;

  bool updates() const { return updates_baseline || updates_budget; }
};

// Adds --baseline, --update-baseline, --barrier-budget and --update-barrier-budget.
void add_known_options(CLI::App& command, KnownOptions& options);

class KnownFiles {
 public:
  // Requires: `options` outlives this.
  explicit KnownFiles(const KnownOptions& options) : options_(options) {}

  // Errors: a file that is not there and is not to be written; those of baseline.h.
  Result<Success> load();

  // None without a baseline. Where it is updated everything that is found is known. Requires: all
  // of the program was judged, or the outcome says that it was not.
  std::optional<BaselineOutcome> judge(const std::string& path, const Program& program,
                                       const CheckReport& report,
                                       const ExpectationOutcome& outcome);

  // What the budget says of the file.
  struct BudgetOutcome {
    std::optional<uint64_t> allowed;  // None: nothing, or there is no budget.
    std::string failure;              // A complete sentence; empty: none.
    std::string note;                 // Likewise: it could be tighter.
  };
  BudgetOutcome judge_barriers(const std::string& path, const CheckReport& report);

  // Says that some file has no verdict: finish() updates nothing.
  void leave_open() { is_open_ = true; }

  // Writes what is to be updated; else tells which files the baseline names that are not there.
  // Returns kNothingFound, or prints why a file cannot be written, or why nothing is updated, and
  // returns kBadInput.
  ExitStatus finish();

 private:
  const KnownOptions& options_;
  Baseline baseline_;
  BarrierBudget budget_;
  bool is_open_ = false;  // Some file has no verdict: nothing is written.
};

}  // namespace interlock
