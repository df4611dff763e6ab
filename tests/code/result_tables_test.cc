// What `dev bench` makes of measurements.

#include "tests/bench/result_tables.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace interlock::result_tables_test {
namespace {

BenchResult result_of(const std::string& name, double nanoseconds, double to_bound = 0) {
  BenchResult result{name, {{"cpu_time", nanoseconds}}};
  if (to_bound > 0) result.figures["to_bound"] = to_bound;
  return result;
}

TEST(ResultTables, ReadTheJsonOfGoogleBenchmark) {
  const std::vector<BenchResult> results = parse_results(R"({"benchmarks": [
    {"name": "Parse/10", "run_type": "iteration", "cpu_time": 3.0, "time_unit": "us", "ratio": 2},
    {"name": "Parse/10", "run_type": "iteration", "cpu_time": 2.5, "time_unit": "us", "ratio": 1},
    {"name": "Parse/10_mean", "run_type": "aggregate", "cpu_time": 2.7, "time_unit": "us"},
    {"name": "Broken", "run_type": "iteration"}]})");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].name, "Parse/10");
  EXPECT_EQ(results[0].figures.at("cpu_time"), 2500);
  EXPECT_EQ(results[0].figures.at("ratio"), 1);
}

// Two benchmarks that called SkipWithError(), as Google Benchmark 1.7.1 writes them, and one as
// later versions write what was skipped.
TEST(ResultTables, LeaveOutWhatFailed) {
  const std::vector<BenchResult> results = parse_results(R"({"context": {
      "date": "2026-11-29T01:06:12+00:00", "num_cpus": 2, "library_build_type": "debug"},
  "benchmarks": [
    {
      "name": "Skipped",
      "family_index": 0,
      "per_family_instance_index": 0,
      "run_name": "Skipped",
      "run_type": "iteration",
      "repetitions": 1,
      "repetition_index": 0,
      "threads": 1,
      "error_occurred": true,
      "error_message": "There is no device.",
      "iterations": 1,
      "real_time": 0.0000000000000000e+00,
      "cpu_time": 0.0000000000000000e+00,
      "time_unit": "ns"
    },
    {
      "name": "Later",
      "run_type": "iteration",
      "skipped": true,
      "skip_message": "There is no device.",
      "iterations": 0,
      "real_time": 0.0000000000000000e+00,
      "cpu_time": 0.0000000000000000e+00,
      "time_unit": "ns"
    },
    {
      "name": "Fine/iterations:1000",
      "family_index": 2,
      "per_family_instance_index": 0,
      "run_name": "Fine/iterations:1000",
      "run_type": "iteration",
      "repetitions": 1,
      "repetition_index": 0,
      "threads": 1,
      "iterations": 1000,
      "real_time": 1.2529999366961420e+00,
      "cpu_time": 1.1919999999996864e+00,
      "time_unit": "ns",
      "ratio": 2.0000000000000000e+00
    }
  ]
})");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].name, "Fine/iterations:1000");
  EXPECT_EQ(results[0].figures.at("ratio"), 2);
}

TEST(ResultTables, CompareOursAndNotThePeerBesideIt) {
  BenchResult before = result_of("A", 300);
  BenchResult after = result_of("A", 250);
  before.figures["check_ns"] = 100;
  after.figures["check_ns"] = 50;
  const std::string table = comparison_table({{before}}, {{after}});
  EXPECT_NE(table.find("    0.50       0% faster\n"), std::string::npos) << table;
}

// Each round is compared with its own: what slows one round down slows both.
TEST(ResultTables, CompareRoundByRound) {
  const std::vector<std::vector<BenchResult>> before = {
      {result_of("A", 100), result_of("B", 100), result_of("Gone", 1)},
      {result_of("A", 300), result_of("B", 100)},
      {result_of("A", 200), result_of("B", 200)}};
  const std::vector<std::vector<BenchResult>> after = {
      {result_of("A", 50), result_of("B", 102), result_of("New", 1)},
      {result_of("A", 150), result_of("B", 101)},
      {result_of("A", 100), result_of("B", 199)}};
  const std::string table = comparison_table(before, after);
  EXPECT_NE(
      table.find("A                                                            200         100"
                 "    0.50       0% faster\n"),
      std::string::npos)
      << table;
  EXPECT_NE(table.find("    1.01       1%\n"), std::string::npos) << table;
  EXPECT_EQ(table.find("Gone"), std::string::npos);
  EXPECT_EQ(table.find("New"), std::string::npos);
}

// How often and for how long a benchmark runs stands in its name, as Google Benchmark writes it,
// and is not what it measures. How many threads do, and which clock, is.
TEST(ResultTables, CompareWhatOnlyRunsMoreOften) {
  const std::vector<BenchResult> before = {
      result_of("A/8/iterations:10", 100), result_of("B/min_time:2.500/repeats:3/real_time", 100),
      result_of("C/min_warmup_time:0.5/threads:2", 100), result_of("D/threads:1", 100)};
  const std::vector<BenchResult> after = {
      result_of("A/8", 50), result_of("B/iterations:7/real_time", 25), result_of("C/threads:2", 10),
      result_of("D/threads:2", 100), result_of("A/80", 1)};
  const std::string table = comparison_table({before}, {after});
  const auto has = [&](const std::string& row) { return table.find(row) != std::string::npos; };
  EXPECT_TRUE(has("\nA/8 ")) << table;
  EXPECT_TRUE(has("    0.50       0% faster\n")) << table;
  EXPECT_TRUE(has("\nB/iterations:7/real_time ")) << table;
  EXPECT_TRUE(has("    0.25       0% faster\n")) << table;
  EXPECT_TRUE(has("\nC/threads:2 ")) << table;
  EXPECT_FALSE(has("\nA/80 ")) << table;
  EXPECT_FALSE(has("\nD/")) << table;
}

// The same name comes first, and what is not told apart without is compared with nothing.
TEST(ResultTables, CompareNoOtherThanTheSame) {
  const std::vector<BenchResult> rows = {result_of("A/iterations:10", 100),
                                         result_of("A/iterations:20", 200)};
  const std::string same = comparison_table({rows}, {rows});
  EXPECT_NE(same.find("\nA/iterations:10 "), std::string::npos) << same;
  EXPECT_NE(same.find("\nA/iterations:20 "), std::string::npos) << same;
  EXPECT_EQ(same.find("er\n"), std::string::npos) << same;  // Slower, faster.
  const std::string one_of_two = comparison_table({rows}, {{result_of("A", 100)}});
  EXPECT_EQ(one_of_two.find("\nA"), std::string::npos) << one_of_two;
  const std::string two_of_one = comparison_table({{result_of("A", 100)}}, {rows});
  EXPECT_EQ(two_of_one.find("\nA"), std::string::npos) << two_of_one;
}

TEST(ResultTables, ReplaceTheTablesOfADocumentThatWereMeasured) {
  const std::string document =
      "# Head\n\n<!-- bench ^Parse: cpu_time, ratio, spread -->\nold\n<!-- end -->\nBetween.\n"
      "<!-- contest tracker/pool: raw, list -->\nold\n<!-- end -->\n"
      "<!-- bench ^Nothing: cpu_time -->\nkept\n<!-- end -->\nLast.\n";
  BenchResult parse = result_of("Parse/10", 2500);
  parse.figures["ratio"] = 1.5;
  parse.figures["spread"] = 0.0125;
  parse.figures["to_target"] = 0.75;
  BenchResult slow = result_of("Parse/20", 9000);
  slow.figures["to_target"] = 1.01;
  const std::string made =
      with_tables(document,
                  {parse, slow, result_of("tracker/pool/64/raw", 18.25, 1.2),
                   result_of("tracker/pool/64/list", 123456), result_of("tracker/x/64/raw", 1)},
                  "A machine.");
  EXPECT_EQ(made,
            "# Head\n\n<!-- bench ^Parse: cpu_time, ratio, spread -->\n\n"
            "|  | cpu_time | ratio | spread |\n| --- | --- | --- | --- |\n"
            "| `Parse/10` | 2.50 µs | 1.50 | 1.2 % |\n"
            "| `Parse/20` **!** | 9.00 µs | – | – |\n\nA machine.\n\n"
            "<!-- end -->\nBetween.\n"
            "<!-- contest tracker/pool: raw, list -->\n\n"
            "|  | raw | list |\n| --- | --- | --- |\n| 64 | 18.2 **!** | 123k |\n\n"
            "A machine.\n\n<!-- end -->\n"
            "<!-- bench ^Nothing: cpu_time -->\nkept\n<!-- end -->\nLast.\n");
  // Made again, nothing changes.
  EXPECT_EQ(with_tables(made, {}, "Another."), made);
}

// A part may be measured alone, elsewhere or later: what the document says of the others stays
// true.
TEST(ResultTables, SayOfEachTableWhereItWasMeasured) {
  const std::string document =
      "<!-- bench ^Parse: cpu_time -->\n<!-- end -->\n<!-- bench ^Print: cpu_time -->\n<!-- end -->\n";
  const auto made = [](const std::string& parse, const std::string& print) {
    return "<!-- bench ^Parse: cpu_time -->\n\n|  | cpu_time |\n| --- | --- |\n| `Parse` | 1.00 ns |\n\n" +
           parse +
           "\n\n<!-- end -->\n<!-- bench ^Print: cpu_time -->\n\n|  | cpu_time |\n| --- | --- |\n"
           "| `Print` | 2.00 ns |\n\n" +
           print + "\n\n<!-- end -->\n";
  };
  const BenchResult parse = result_of("Parse", 1);
  const BenchResult print = result_of("Print", 2);
  const std::string both = with_tables(document, {parse, print}, "M.");
  EXPECT_EQ(both, made("M.", "M."));
  EXPECT_EQ(with_tables(both, {parse}, "N."), made("N.", "M."));
  EXPECT_EQ(with_tables(both, {print}, "N."), made("M.", "N."));
  EXPECT_EQ(with_tables(both, {}, "N."), both);
}

// One of three is above its bound; the means are of 0.5 and 2, and of these and 0.25.
TEST(ResultTables, SumUpBounds) {
  const auto cell = [](const std::string& name, double to_bound, double to_best) {
    BenchResult result = result_of(name, 1, to_bound);
    result.figures["to_best"] = to_best;
    return result;
  };
  const std::vector<BenchResult> results = {
      cell("tracker/pool/64/raw", 0.9974, 2), cell("tracker/pool/64/registered", 0.5, 0.5),
      result_of("tracker/pool/64/list", 1), cell("tracker/new/1/raw", 1.2, 0.25),
      cell("trackers/x/raw", 9, 9)};
  EXPECT_EQ(
      with_tables("<!-- bounds tracker, tracker/pool, tracker/none -->\nold\n<!-- end -->\n",
                  results, "M."),
      "<!-- bounds tracker, tracker/pool, tracker/none -->\n\n"
      "|  | cells | above the bound | greatest ratio to a bound | to the best peer, geometric mean |\n"
      "| --- | --- | --- | --- | --- |\n"
      "| tracker | 3 | 1 | 1.200 | 0.63 |\n"
      "| tracker/pool | 2 | 0 | 0.997 | 1.00 |\n\nM.\n\n<!-- end -->\n");
  const std::string old = "<!-- bounds tracker/none -->\nold\n<!-- end -->\n";
  EXPECT_EQ(with_tables(old, results, "M."), old);
}

}  // namespace
}  // namespace interlock::result_tables_test
