// `check --baseline` and `--barrier-budget`, as continuous integration runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "encoder/text/files.h"
#include "tests/cli/command.h"

namespace interlock::known_files_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kStream = R"(interlock 1
memory a 256
memory b 256
reduce: dispatch Reduce reads a writes b[0:64]
vjp: dispatch Vjp reads b[64:128] writes a[0:64]
)";

// A folder of streams, with whatever is known beside it.
class Known : public testing::Test {
 protected:
  Known() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ + "/streams");
    write("one.ilk", kStream);
  }
  ~Known() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file(folder_ + "/streams/" + name, text));
  }
  CommandResult check(std::vector<std::string> options) const {
    options.insert(options.begin(), "check");
    options.push_back(folder_ + "/streams");
    return run_interlock(options);
  }

  const std::string folder_ = temporary_path("known");
  const std::string baseline_ = "--baseline=" + folder_ + "/sync.json";
  const std::string budget_ = "--barrier-budget=" + folder_ + "/barriers.json";
};

TEST_F(Known, FailsForWhatIsNewAlone) {
  EXPECT_EQ(check({}).status, 1);
  const CommandResult missing = check({baseline_});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("sync.json"));
  const CommandResult update = check({baseline_, "--update-baseline"});
  EXPECT_EQ(update.status, 0) << update.err;
  EXPECT_THAT(update.err, HasSubstr("sync.json is updated: findings of 1 file.\n"));
  const CommandResult known = check({baseline_});
  EXPECT_EQ(known.status, 0) << known.out;
  EXPECT_THAT(known.out, AllOf(HasSubstr("  known: WAR hazard: vjp (dispatch 1) writes a[0:64]"),
                               HasSubstr("; no new finding beside 1 known.\n"),
                               Not(HasSubstr("Fix:")), Not(HasSubstr("proven"))));
  const CommandResult quiet = check({baseline_, "--quiet"});
  EXPECT_THAT(quiet.out, HasSubstr("; no new finding beside 1 known.\n"));
  write("one.ilk", std::string(kStream) + "late: dispatch Late reads a[0:8]\n");
  const CommandResult more = check({baseline_});
  EXPECT_EQ(more.status, 1);
  EXPECT_THAT(more.out, AllOf(HasSubstr("RAW hazard: late"), HasSubstr("  known: WAR hazard: vjp"),
                              HasSubstr("; 1 new finding beside 1 known.\n")));
}

// It is told what is known in vain, and a later update drops it.
TEST_F(Known, TellsWhatIsStale) {
  check({baseline_, "--update-baseline"});
  write("two.ilk", kStream);
  std::filesystem::remove(folder_ + "/streams/one.ilk");
  write("one.ilk", "interlock 1\nmemory a 8\ndispatch R reads a\n");
  const CommandResult stale = check({baseline_});
  EXPECT_EQ(stale.status, 1);  // The other file is new.
  EXPECT_THAT(stale.out,
              HasSubstr("  stale: the baseline knows 1 more of: WAR: reduce reads a, vjp "
                        "writes a\n"));
  std::filesystem::remove(folder_ + "/streams/one.ilk");
  EXPECT_THAT(check({baseline_}).err,
              HasSubstr("sync.json' names 'streams/one.ilk', which is not there."));
  EXPECT_EQ(check({baseline_, "--update-baseline"}).status, 0);
  EXPECT_THAT(read_file(folder_ + "/sync.json").value(),
              AllOf(HasSubstr("streams/two.ilk"), Not(HasSubstr("one.ilk"))));
}

TEST_F(Known, IsSaidInJsonAndSarif) {
  check({baseline_, "--update-baseline"});
  write("one.ilk", std::string(kStream) + "late: dispatch Late reads a[0:8]\n");
  const CommandResult result = check({baseline_, "--format=json"});
  EXPECT_EQ(result.status, 1);
  const json report = json::parse(result.out);
  std::vector<std::string> states;
  for (const json& finding : report["findings"]) states.push_back(finding["baseline"]);
  EXPECT_THAT(states, testing::UnorderedElementsAre("known", "new"));
  const json log = json::parse(check({baseline_, "--format=sarif"}).out);
  states.clear();
  for (const json& finding : log["runs"][0]["results"]) states.push_back(finding["baselineState"]);
  EXPECT_THAT(states, testing::UnorderedElementsAre("unchanged", "new"));
  write("one.ilk", "interlock 1\nmemory a 8\ndispatch R reads a\n");
  const json gone = json::parse(check({baseline_, "--format=sarif"}).out)["runs"][0]["results"];
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0]["baselineState"], "absent");
  EXPECT_EQ(gone[0]["ruleId"], "WAR");
  EXPECT_EQ(json::parse(check({baseline_, "--format=json"}).out)["stale"].size(), 1u);
}

TEST_F(Known, DoesNotDependOnTheFolderOfTheCommand) {
  check({baseline_, "--update-baseline"});
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_ + "/streams");
  const CommandResult result = run_interlock({"check", "--baseline=../sync.json", "one.ilk"});
  std::filesystem::current_path(before);
  EXPECT_EQ(result.status, 0) << result.out;
}

TEST_F(Known, RefusesBaselinesThatAreNone) {
  ASSERT_TRUE(write_file(folder_ + "/sync.json", "{\n"));
  for (const char* option : {"", "--update-baseline"}) {
    std::vector<std::string> options = {baseline_};
    if (*option != '\0') options.emplace_back(option);
    const CommandResult result = check(options);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("sync.json:2:1: error: this is no JSON."));
  }
  EXPECT_EQ(read_file(folder_ + "/sync.json").value(), "{\n");
  EXPECT_EQ(check({"--update-baseline"}).status, 2);
}

TEST_F(Known, UpdatesNothingWithoutAVerdictOnEachFile) {
  EXPECT_EQ(check({baseline_, "--update-baseline"}).status, 0);
  const std::string before = read_file(folder_ + "/sync.json").value();
  write("one.ilk", std::string(kStream) + "late: dispatch Late reads a[0:8]\n");
  write("two.ilk", "interlock 1\nnonsense\n");
  const CommandResult update =
      check({baseline_, "--update-baseline", budget_, "--update-barrier-budget"});
  EXPECT_EQ(update.status, 2);
  EXPECT_THAT(update.err, HasSubstr("nothing is updated: there is no verdict on all"));
  EXPECT_EQ(read_file(folder_ + "/sync.json").value(), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/barriers.json"));
}

TEST_F(Known, HasABudgetOfBarriers) {
  const std::string clean =
      "interlock 1\nmemory a 64\ndispatch W writes a\nbarrier\ndispatch R reads a\n";
  write("one.ilk", clean);
  EXPECT_EQ(check({budget_, "--update-barrier-budget"}).status, 0);
  EXPECT_EQ(check({budget_}).status, 0);
  write("one.ilk", clean + "barrier\ndispatch Q reads a\n");
  const CommandResult more = check({budget_});
  EXPECT_EQ(more.status, 1);
  EXPECT_THAT(more.out, HasSubstr("  FAILS: There are 2 barriers, and '"));
  EXPECT_THAT(more.out, HasSubstr("barriers.json' allows 1.\n"));
  EXPECT_EQ(json::parse(check({budget_, "--format=json"}).out)["barrier_budget"], 1);
  const json log = json::parse(check({budget_, "--format=sarif"}).out);
  EXPECT_EQ(log["runs"][0]["results"][0]["ruleId"], "barrier-budget");
  // What counts is what the stream has, also after its last dispatch.
  write("one.ilk", clean + "barrier\n");
  EXPECT_THAT(check({budget_}).out, HasSubstr("  FAILS: There are 2 barriers, and '"));
  write("one.ilk", "interlock 1\nmemory a 64\ndispatch W writes a\n");
  const CommandResult fewer = check({budget_});
  EXPECT_EQ(fewer.status, 0);
  EXPECT_THAT(fewer.out, HasSubstr("  note: There are 0 barriers, 1 fewer than '"));
  write("two.ilk", clean);
  const CommandResult unknown = check({budget_});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.out, HasSubstr("has no number of barriers for 'streams/two.ilk'"));
}

}  // namespace
}  // namespace interlock::known_files_test
