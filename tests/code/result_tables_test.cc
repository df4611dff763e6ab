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
    {"name": "Broken", "run_type": "iteration", "error_occurred": true}]})");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].name, "Parse/10");
  EXPECT_EQ(results[0].figures.at("cpu_time"), 2500);
  EXPECT_EQ(results[0].figures.at("ratio"), 1);
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

TEST(ResultTables, ReplaceTheTablesOfADocumentThatWereMeasured) {
  const std::string document =
      "# Head\n\n<!-- machine -->\nold\n<!-- end -->\n\n"
      "<!-- bench ^Parse: cpu_time, ratio -->\nold\n<!-- end -->\nBetween.\n"
      "<!-- contest tracker/pool: raw, list -->\nold\n<!-- end -->\n"
      "<!-- bench ^Nothing: cpu_time -->\nkept\n<!-- end -->\nLast.\n";
  BenchResult parse = result_of("Parse/10", 2500);
  parse.figures["ratio"] = 1.5;
  parse.figures["to_target"] = 0.75;
  BenchResult slow = result_of("Parse/20", 9000);
  slow.figures["to_target"] = 1.01;
  const std::string made =
      with_tables(document,
                  {parse, slow, result_of("tracker/pool/64/raw", 18.25, 1.2),
                   result_of("tracker/pool/64/list", 123456), result_of("tracker/x/64/raw", 1)},
                  "A machine.");
  EXPECT_EQ(made,
            "# Head\n\n<!-- machine -->\n\nA machine.\n\n<!-- end -->\n\n"
            "<!-- bench ^Parse: cpu_time, ratio -->\n\n"
            "|  | cpu_time | ratio |\n| --- | --- | --- |\n| `Parse/10` | 2.50 µs | 1.50 |\n"
            "| `Parse/20` **!** | 9.00 µs | – |\n\n"
            "<!-- end -->\nBetween.\n"
            "<!-- contest tracker/pool: raw, list -->\n\n"
            "|  | raw | list |\n| --- | --- | --- |\n| 64 | 18.2 **!** | 123k |\n\n<!-- end -->\n"
            "<!-- bench ^Nothing: cpu_time -->\nkept\n<!-- end -->\nLast.\n");
  // Made again, nothing changes.
  EXPECT_EQ(with_tables(made, {}, "A machine."), made);
}

// A part may be measured alone, elsewhere or later: what is said of the others stays true.
TEST(ResultTables, SayWhereAPartWasMeasuredAndWhereTheRest) {
  const std::string document =
      "<!-- machine -->\nold\n<!-- end -->\n<!-- machine ^(tracker|queues)/ -->\nold\n<!-- end -->\n";
  const auto made = [](const std::string& rest, const std::string& tracker) {
    return "<!-- machine -->\n" + rest + "<!-- end -->\n<!-- machine ^(tracker|queues)/ -->\n" +
           tracker + "<!-- end -->\n";
  };
  const BenchResult tracker = result_of("tracker/pool/64/raw", 1);
  const BenchResult parse = result_of("Parse/10", 1);
  EXPECT_EQ(with_tables(document, {tracker}, "M."), made("old\n", "\nM.\n\n"));
  EXPECT_EQ(with_tables(document, {result_of("queues/4", 1)}, "M."), made("old\n", "\nM.\n\n"));
  EXPECT_EQ(with_tables(document, {parse}, "M."), made("\nM.\n\n", "old\n"));
  EXPECT_EQ(with_tables(document, {parse, tracker}, "M."), made("\nM.\n\n", "\nM.\n\n"));
  EXPECT_EQ(with_tables(document, {}, "M."), document);
}

}  // namespace
}  // namespace interlock::result_tables_test
