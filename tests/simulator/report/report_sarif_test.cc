// SARIF logs: what the standard asks of one, and where results stand in the text.
#include "simulator/report/report_sarif.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "tests/corpus_files.h"

namespace interlock::report_sarif_test {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The log of one text.
json log_of(const std::string& text, std::string_view name = "a.ilk", bool has_advice = false) {
  std::vector<uint64_t> lines;
  ParseOptions options = every_queue();
  options.statement_lines = &lines;
  const Program program = parse(text, name, options).value();
  EXPECT_EQ(lines.size(), program.statements.size());
  const CheckReport report = check(program);
  SarifLog log("1.2.3");
  log.add(program, report, judge_expectations(program, report), name, lines, has_advice);
  return json::parse(log.text());
}

json results_of(const json& log) { return log["runs"][0]["results"]; }

constexpr const char* kHazard = R"(interlock 1
# The first statement is in line five.
memory a 256
memory b 256
reduce: dispatch Reduce reads a writes b[0:64]

vjp: dispatch Vjp reads b[64:128] writes a[0:64]
)";

TEST(Sarif, NamesTheToolAndItsRules) {
  const json log = log_of(kHazard);
  EXPECT_EQ(log["version"], "2.1.0");
  const json driver = log["runs"][0]["tool"]["driver"];
  EXPECT_EQ(driver["name"], "interlock");
  EXPECT_EQ(driver["version"], "1.2.3");
  for (const json& rule : driver["rules"]) {
    EXPECT_FALSE(rule["shortDescription"]["text"].get<std::string>().empty()) << rule;
  }
}

TEST(Sarif, PointsAtTheLaterAccessAndRelatesTheEarlierOne) {
  const json results = results_of(log_of(kHazard));
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0]["ruleId"], "WAR");
  EXPECT_EQ(results[0]["level"], "error");
  const json place = results[0]["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "a.ilk");
  EXPECT_EQ(place["region"]["startLine"], 7);
  EXPECT_EQ(results[0]["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 5);
  EXPECT_THAT(results[0]["message"]["text"].get<std::string>(),
              HasSubstr("Fix: an execution dependency after dispatch 0"));
  EXPECT_EQ(results[0]["partialFingerprints"]["expectation/v1"], "expect WAR reduce vjp");
  EXPECT_FALSE(results[0].contains("suppressions"));
}

TEST(Sarif, SuppressesWhatIsExpectedAndNothingElse) {
  const json expected = results_of(log_of(std::string(kHazard) + "expect WAR reduce vjp\n"));
  ASSERT_THAT(expected, SizeIs(1));
  EXPECT_EQ(expected[0]["suppressions"][0]["kind"], "inSource");
  const json wrong = results_of(log_of(std::string(kHazard) + "expect RAW reduce vjp\n"));
  ASSERT_THAT(wrong, SizeIs(2));
  EXPECT_FALSE(wrong[0].contains("suppressions"));
  EXPECT_EQ(wrong[1]["ruleId"], "expectation");
  const json encoder =
      results_of(log_of(std::string(kHazard) + "expect encoder=interlock WAR reduce vjp\n"));
  ASSERT_THAT(encoder, SizeIs(2));
  EXPECT_THAT(encoder[1]["message"]["text"].get<std::string>(), HasSubstr("encoder interlock: "));
}

TEST(Sarif, HasAdviceOnlyIfAsked) {
  const std::string idle =
      "interlock 1\nmemory a 4\ndispatch V\nidle: barrier\ndispatch W writes a\nbarrier\n";
  EXPECT_THAT(results_of(log_of(idle)), IsEmpty());
  const json results = results_of(log_of(idle, "a.ilk", true));
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0]["level"], "note");
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 4);
}

TEST(Sarif, WritesFileNamesAsUris) {
  const auto uri_of = [](std::string_view name) {
    const json place = results_of(log_of(kHazard, name))[0]["locations"][0]["physicalLocation"];
    return place["artifactLocation"]["uri"].get<std::string>();
  };
  EXPECT_EQ(uri_of("dir/a b%.ilk"), "dir/a%20b%25.ilk");
  EXPECT_EQ(uri_of("/tmp/x.ilk"), "file:///tmp/x.ilk");
}

TEST(Sarif, AFileThatCannotBeReadMakesTheRunUnsuccessful) {
  SarifLog log("1");
  log.add_error("broken.ilk", "broken.ilk:2:1: error: no");
  const json invocation = json::parse(log.text())["runs"][0]["invocations"][0];
  EXPECT_EQ(invocation["executionSuccessful"], false);
  EXPECT_EQ(invocation["toolExecutionNotifications"][0]["message"]["text"],
            "broken.ilk:2:1: error: no");
}

// What a replay or a backward pass adds comes from the line that asks for it.
TEST(Sarif, LinesAreThoseOfTheTextAlsoInReplays) {
  std::vector<uint64_t> lines = {9, 9};
  ParseOptions options;
  options.statement_lines = &lines;
  const auto program = parse(
      "interlock 1\nmemory a 4\ncapture step\ndispatch W writes a\nbarrier\nend\n"
      "dispatch R reads a\nreplay step\n# done\nreplay step\n",
      "a.ilk", options);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_THAT(lines, ElementsAre(7, 8, 8, 10, 10));
}

// Each kind of finding has its rule, and each result a line that the file has.
TEST(Sarif, EveryProgramOfTheCorpusHasResultsOfKnownRulesAtLinesThatItHas) {
  std::set<std::string> rules;
  const json log = log_of(kHazard);
  for (const json& rule : log["runs"][0]["tool"]["driver"]["rules"]) rules.insert(rule["id"]);
  std::set<std::string> seen;
  for (const std::filesystem::path& path :
       fewer_if_slow(corpus_files({"bugs", "queues", "graphs", "seeds"}), 7)) {
    const std::string text = read_file(path.string()).value();
    const int64_t line_count = std::ranges::count(text, '\n');
    const json results = results_of(log_of(text, path.string(), true));
    for (const json& result : results) {
      const auto rule = result["ruleId"].get<std::string>();
      EXPECT_THAT(rules, Contains(rule)) << path;
      seen.insert(rule);
      const json line = result["locations"][0]["physicalLocation"]["region"]["startLine"];
      EXPECT_GE(line, 1) << path;
      EXPECT_LE(line, line_count) << path;
    }
  }
  EXPECT_GE(seen.size(), is_slow_build() ? 4U : 10U);
}

}  // namespace
}  // namespace interlock::report_sarif_test
