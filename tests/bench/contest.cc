#include "tests/bench/contest.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace interlock {

ContestProgram::ContestProgram(int argc, char** argv) {
  const auto value_of = [](std::string_view argument, std::string_view option) {
    return std::string(argument.substr(option.size()));
  };
  constexpr std::string_view kFilter = "--benchmark_filter=";
  constexpr std::string_view kOut = "--benchmark_out=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(kFilter)) {
      filter_ = std::regex(value_of(argument, kFilter), std::regex::extended);
    } else if (argument.starts_with(kOut)) {
      out_path_ = value_of(argument, kOut);
    } else if (!argument.starts_with("--benchmark_out_format=json") &&
               !argument.starts_with("--benchmark_min_time=") &&
               !argument.starts_with("--benchmark_repetitions=")) {  // Rounds are as they are.
      std::fprintf(stderr, "Usage: %s [%sREGEX] [%sFILE]\n", argv[0], kFilter.data(), kOut.data());
      std::exit(argument == "--help" ? 0 : 2);
    }
  }
}

bool ContestProgram::is_wanted(const std::string& name) const {
  return !filter_ || std::regex_search(name, *filter_);
}

std::vector<std::optional<Timing>> ContestProgram::measure(
    const std::string& contest, double items, const std::vector<Contestant>& contestants,
    const TurnOptions& options) {
  std::vector<Contestant> wanted;
  std::vector<size_t> places;
  for (size_t i = 0; i < contestants.size(); ++i) {
    if (!contestants[i].pass || !is_wanted(contest + "/" + contestants[i].name)) continue;
    wanted.push_back(contestants[i]);
    places.push_back(i);
  }
  std::vector<std::optional<Timing>> timings(contestants.size());
  if (wanted.empty()) return timings;
  const std::vector<Timing> measured = measure_by_turns(wanted, options);
  for (size_t i = 0; i < measured.size(); ++i) {
    std::vector<double> nanoseconds = measured[i].rounds();
    for (double& each : nanoseconds) each *= 1e9 / items;
    const Timing timing(std::move(nanoseconds));
    results_.push_back({contest + "/" + wanted[i].name,
                        {{"cpu_time", timing.median()}, {"spread", timing.spread()}}});
    timings[places[i]] = timing;
  }
  return timings;
}

void ContestProgram::note(const std::string& name, const std::string& figure, double value) {
  for (BenchResult& result : results_) {
    if (result.name == name) result.figures[figure] = value;
  }
}

int ContestProgram::finish() const {
  if (out_path_.empty()) return 0;
  nlohmann::json benchmarks = nlohmann::json::array();
  for (const BenchResult& result : results_) {
    nlohmann::json benchmark(result.figures);
    benchmark["name"] = result.name;
    benchmark["run_type"] = "iteration";
    benchmark["time_unit"] = "ns";
    benchmarks.push_back(std::move(benchmark));
  }
  std::ofstream out(out_path_);
  out << nlohmann::json{{"benchmarks", benchmarks}}.dump(1) << '\n';
  return out ? 0 : 1;
}

}  // namespace interlock
