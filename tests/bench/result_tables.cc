#include "tests/bench/result_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <sstream>
#include <utility>

namespace interlock {
namespace {

double nanoseconds_of(const std::string& unit) {
  if (unit == "s") return 1e9;
  if (unit == "ms") return 1e6;
  if (unit == "us") return 1e3;
  return 1;
}

double at(std::vector<double> sorted, size_t numerator, size_t denominator) {
  std::sort(sorted.begin(), sorted.end());
  return sorted[(sorted.size() - 1) * numerator / denominator];
}

const BenchResult* find_result(const std::vector<BenchResult>& results, const std::string& name) {
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const BenchResult& r) { return r.name == name; });
  return found == results.end() ? nullptr : &*found;
}

// Without what says only how often or how long it runs, as Google Benchmark writes it into names.
std::string measured_name(const std::string& name) {
  static const std::regex kHowLong("/(iterations|repeats|min_time|min_warmup_time):[0-9.]+");
  return std::regex_replace(name, kHowLong, "");
}

// The result of this name; else the only one that measures the same, if `name` is the only one of
// `own` that does.
const BenchResult* find_same(const std::vector<BenchResult>& results, const std::string& name,
                             const std::vector<BenchResult>& own) {
  if (const BenchResult* const found = find_result(results, name)) return found;
  const std::string measured = measured_name(name);
  const auto is_same = [&](const BenchResult& r) { return measured_name(r.name) == measured; };
  if (std::ranges::count_if(own, is_same) != 1) return nullptr;
  if (std::ranges::count_if(results, is_same) != 1) return nullptr;
  return &*std::ranges::find_if(results, is_same);
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) {
    const size_t begin = word.find_first_not_of(' ');
    const size_t end = word.find_last_not_of(' ');
    if (begin != std::string::npos) words.push_back(word.substr(begin, end - begin + 1));
  }
  return words;
}

std::string row_of(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + cell + " |";
  return row + "\n";
}

std::string head_of(const std::string& first, const std::vector<std::string>& columns) {
  std::vector<std::string> cells = {first};
  cells.insert(cells.end(), columns.begin(), columns.end());
  return row_of(cells) + row_of(std::vector<std::string>(cells.size(), "---"));
}

std::string time_text(double nanoseconds) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " µs"}};
  for (const auto& [unit, name] : kUnits) {
    if (nanoseconds >= unit) return figure_text(nanoseconds / unit) + name;
  }
  return figure_text(nanoseconds) + " ns";
}

std::string fixed_text(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

// True iff it says of itself that it failed: its times are 0 then.
bool has_failed(const nlohmann::json& benchmark) {
  return benchmark.value("error_occurred", false) || benchmark.value("skipped", false) ||
         !benchmark.contains("cpu_time");
}

std::string cell_text(const std::string& figure, double value) {
  if (figure == "cpu_time" || figure == "real_time") return time_text(value);
  return figure == "spread" ? fixed_text(100 * value, 1) + " %" : figure_text(value);
}

// Nothing, if no benchmark matches.
std::optional<std::string> bench_table(const std::string& pattern,
                                       const std::vector<std::string>& figures,
                                       const std::vector<BenchResult>& results) {
  const std::regex regex(pattern, std::regex::extended);
  std::string rows;
  for (const BenchResult& result : results) {
    if (!std::regex_search(result.name, regex)) continue;
    const auto target = result.figures.find("to_target");
    const bool is_above = target != result.figures.end() && target->second > 1;
    std::vector<std::string> cells = {"`" + result.name + "`" + (is_above ? " **!**" : "")};
    for (const std::string& figure : figures) {
      const auto found = result.figures.find(figure);
      cells.push_back(found == result.figures.end() ? "–" : cell_text(figure, found->second));
    }
    rows += row_of(cells);
  }
  if (rows.empty()) return std::nullopt;
  return head_of("", figures) + rows;
}

std::optional<std::string> contest_table(const std::string& prefix,
                                         const std::vector<std::string>& contestants,
                                         const std::vector<BenchResult>& results) {
  std::vector<std::string> contests;
  for (const BenchResult& result : results) {
    const size_t end = result.name.rfind('/');
    if (!result.name.starts_with(prefix + "/") || end <= prefix.size()) continue;
    const std::string contest = result.name.substr(0, end);
    if (std::find(contests.begin(), contests.end(), contest) == contests.end()) {
      contests.push_back(contest);
    }
  }
  if (contests.empty()) return std::nullopt;
  std::string rows;
  for (const std::string& contest : contests) {
    std::vector<std::string> cells = {contest.substr(prefix.size() + 1)};
    for (const std::string& contestant : contestants) {
      const BenchResult* const result = find_result(results, contest + "/" + contestant);
      if (result == nullptr) {
        cells.push_back("–");
        continue;
      }
      const auto bound = result->figures.find("to_bound");
      const bool is_above = bound != result->figures.end() && bound->second > 1;
      cells.push_back(figure_text(result->figures.at("cpu_time")) + (is_above ? " **!**" : ""));
    }
    rows += row_of(cells);
  }
  return head_of("", contestants) + rows;
}

// A row for each prefix: of the results below it that have a bound, how many there are, how many
// are above it, how near the nearest is, and the geometric mean of what they took to their best
// peer.
std::optional<std::string> bounds_table(const std::vector<std::string>& prefixes,
                                        const std::vector<BenchResult>& results) {
  std::string rows;
  for (const std::string& prefix : prefixes) {
    int above_count = 0;
    double greatest = 0;
    double sum = 0;
    int count = 0;
    for (const BenchResult& result : results) {
      const auto bound = result.figures.find("to_bound");
      if (bound == result.figures.end() || !result.name.starts_with(prefix + "/")) continue;
      ++count;
      above_count += bound->second > 1;
      greatest = std::max(greatest, bound->second);
      sum += std::log(result.figures.at("to_best"));
    }
    if (count == 0) continue;
    rows += row_of({prefix, std::to_string(count), std::to_string(above_count),
                    fixed_text(greatest, 3), fixed_text(std::exp(sum / count), 2)});
  }
  if (rows.empty()) return std::nullopt;
  return head_of("", {"cells", "above the bound", "greatest ratio to a bound",
                      "to the best peer, geometric mean"}) +
         rows;
}

// The table that is to follow `line`; nothing where it asks for none, or nothing was measured.
std::optional<std::string> table_after(const std::string& line,
                                       const std::vector<BenchResult>& results, bool& is_begin) {
  static const std::regex kRows("<!-- (bench|contest) (.*): (.*) -->");
  static const std::regex kBounds("<!-- bounds (.*) -->");
  std::smatch match;
  is_begin = true;
  if (std::regex_match(line, match, kBounds)) return bounds_table(split(match[1]), results);
  is_begin = std::regex_match(line, match, kRows);
  if (!is_begin) return std::nullopt;
  const auto make = match[1] == "bench" ? bench_table : contest_table;
  return make(match[2], split(match[3]), results);
}

// Ours alone, where a benchmark measures it beside another in the same time.
double time_of(const BenchResult& result) {
  for (const char* const ours : {"check_ns", "ours_ns", "ns_a_line", "several_ns", "recorder_ns",
                                 "ns_a_signal", "ns_a_write"}) {
    const auto found = result.figures.find(ours);
    if (found != result.figures.end()) return found->second;
  }
  return result.figures.at("cpu_time");
}

}  // namespace

std::vector<BenchResult> parse_results(std::string_view json) {
  std::vector<BenchResult> results;
  const nlohmann::json root = nlohmann::json::parse(json);
  for (const nlohmann::json& benchmark : root.at("benchmarks")) {
    if (benchmark.value("run_type", "iteration") != "iteration") continue;
    if (has_failed(benchmark)) continue;
    BenchResult result{benchmark.at("name").get<std::string>(), {}};
    for (const auto& [key, value] : benchmark.items()) {
      if (value.is_number()) result.figures[key] = value.get<double>();
    }
    const double unit = nanoseconds_of(benchmark.value("time_unit", "ns"));
    for (const char* const time : {"cpu_time", "real_time"}) {
      const auto found = result.figures.find(time);
      if (found != result.figures.end()) found->second *= unit;
    }
    const auto same = std::find_if(results.begin(), results.end(),
                                   [&](const BenchResult& r) { return r.name == result.name; });
    if (same == results.end()) {
      results.push_back(std::move(result));
    } else if (result.figures["cpu_time"] < same->figures["cpu_time"]) {
      *same = std::move(result);
    }
  }
  return results;
}

std::string comparison_table(const std::vector<std::vector<BenchResult>>& before,
                             const std::vector<std::vector<BenchResult>>& after) {
  char line[160];
  std::snprintf(line, sizeof(line), "%-52s%12s%12s%8s%9s\n", "CPU time", "before", "after", "ratio",
                "spread");
  std::string table = line;
  for (const BenchResult& first : after.front()) {
    std::vector<double> ratios;
    std::vector<double> old_times;
    std::vector<double> new_times;
    for (size_t round = 0; round < after.size(); ++round) {
      const BenchResult* const older = find_same(before[round], first.name, after[round]);
      const BenchResult* const newer = find_result(after[round], first.name);
      if (older == nullptr || newer == nullptr) continue;
      old_times.push_back(time_of(*older));
      new_times.push_back(time_of(*newer));
      ratios.push_back(new_times.back() / old_times.back());
    }
    if (ratios.empty()) continue;
    const double ratio = at(ratios, 1, 2);
    const double spread = (at(ratios, 3, 4) - at(ratios, 1, 4)) / 2;
    const bool is_marked = std::abs(ratio - 1) > std::max(0.05, 2 * spread);
    const char* const mark = !is_marked ? "" : ratio > 1 ? " slower" : " faster";
    std::snprintf(line, sizeof(line), "%-52s%12s%12s%8.2f%8.0f%%%s\n", first.name.c_str(),
                  figure_text(at(old_times, 1, 2)).c_str(),
                  figure_text(at(new_times, 1, 2)).c_str(), ratio, 100 * spread, mark);
    table += line;
  }
  return table;
}

std::string with_tables(const std::string& document, const std::vector<BenchResult>& results,
                        const std::string& machine) {
  std::string output;
  std::string old_table;
  std::optional<std::string> table;
  bool is_inside = false;
  std::istringstream in(document);
  for (std::string line; std::getline(in, line);) {
    if (is_inside && line != "<!-- end -->") {
      old_table += line + "\n";
      continue;
    }
    if (is_inside) output += table ? "\n" + *table + "\n" + machine + "\n\n" : old_table;
    output += line + "\n";
    table = table_after(line, results, is_inside);
    old_table.clear();
  }
  return output + (is_inside ? old_table : "");
}

std::string figure_text(double value) {
  const char* unit = "";
  for (const char* const greater : {"k", "M", "G"}) {
    if (std::abs(value) < 99'999.5) break;
    value /= 1000;
    unit = greater;
  }
  char text[32];
  const double size = std::abs(value);
  std::snprintf(text, sizeof(text), "%.*f%s", size < 10 ? 2 : size < 100 ? 1 : 0, value, unit);
  return text;
}

}  // namespace interlock
