// A benchmark program of contests: cases, in each of which contestants are measured by turns. It
// takes two arguments of Google Benchmark, --benchmark_filter=REGEX and --benchmark_out=FILE, in
// the same JSON, and those of time and repetitions without effect.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/by_turns.h"
#include "tests/bench/result_tables.h"

namespace interlock {

class ContestProgram {
 public:
  // Ends the process with status 2 where an argument is unknown, 0 where help is asked for.
  ContestProgram(int argc, char** argv);

  // True iff the filter accepts `name`, or there is none.
  bool is_wanted(const std::string& name) const;

  // Measures the contestants that are wanted as `contest/contestant`; those that are not, and those
  // without a pass, have no timing. `items`: what one pass handles; timings are in nanoseconds of
  // one item.
  std::vector<std::optional<Timing>> measure(const std::string& contest, double items,
                                             const std::vector<Contestant>& contestants,
                                             const TurnOptions& options = {});

  // Adds a figure to a result that measure() gave.
  void note(const std::string& name, const std::string& figure, double value);

  // Writes the JSON, if asked for. Returns the exit status.
  int finish() const;

 private:
  std::optional<std::regex> filter_;
  std::string out_path_;
  std::vector<BenchResult> results_;
};

}  // namespace interlock
