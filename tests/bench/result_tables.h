// Tables of what benchmarks measured, from the JSON of Google Benchmark (--benchmark_out).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

// One benchmark: its figures by their JSON keys, numbers only. Times are in nanoseconds.
struct BenchResult {
  std::string name;
  std::map<std::string, double> figures;
};

// In the order of the text; of repetitions the one with the least CPU time. Aggregates are left
// out, and what failed. Throws nlohmann::json::exception where the text is no such JSON.
std::vector<BenchResult> parse_results(std::string_view json);

// CPU time before and after, of benchmarks that both have, as text: the median of the ratios of the
// rounds, and half the distance of their quartiles. A ratio is marked that is further from 1 than 5
// % and twice that. Names may differ in how often or how long they run (/iterations:10, /repeats:3,
// /min_time:0.5), where that leaves no doubt. Where a benchmark measures ours by turns with a peer,
// it is the time of ours, for a dispatch or a line: that of both would show half of what has
// changed. Requires: as many rounds before as after, at least one.
std::string comparison_table(const std::vector<std::vector<BenchResult>>& before,
                             const std::vector<std::vector<BenchResult>>& after);

// Returns `document` with its tables made anew. A table stands between a line of its own
//
//     <!-- bench REGEX: FIGURE, FIGURE... -->
//
// and <!-- end -->: a row for each benchmark whose name matches, marked with ! where the figure
// to_target is above 1, and a column for each figure; times have their unit, and
// spread is in percent. Of
//
//     <!-- contest PREFIX: CONTESTANT, CONTESTANT... -->
//
// the rows are contests, PREFIX/CONTEST/CONTESTANT, and the cells nanoseconds, marked with ! where
// the figure to_bound is above 1. Of
//
//     <!-- bounds PREFIX, PREFIX... -->
//
// each row sums up the results PREFIX/... that have figures to_bound and to_best.
//
// Below each table stands `machine`, which says where and when it was measured. A table of which
// nothing was measured stays as it is, with what it says of its own.
std::string with_tables(const std::string& document, const std::vector<BenchResult>& results,
                        const std::string& machine);

// Three digits that count, as far as they stand before the point; k, M, G for greater figures.
std::string figure_text(double value);

}  // namespace interlock
