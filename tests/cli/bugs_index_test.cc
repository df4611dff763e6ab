// interlock bugs: the table of public bugs; docs/bugs-index.md is what it prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/cli/command.h"
#include "tests/cli/shown_commands.h"

namespace interlock::bugs_index_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const std::string kBugs = INTERLOCK_SOURCE_DIR "/corpus/bugs";

TEST(BugsIndex, IsWhatTheCommandPrints) {
  const CommandResult result = run_interlock({"bugs", kBugs, "--format=markdown"});
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string document = document_text("docs/bugs-index.md");
  EXPECT_THAT(document, EndsWith("\n" + result.out))
      << "interlock bugs --format=markdown prints the tables.";
  const std::string introduction = document.substr(0, document.size() - result.out.size());
  EXPECT_THAT(introduction, Not(HasSubstr("](https:"))) << "A bug beside those of the command.";
}

TEST(BugsCommand, ListsWhatFindsEachBugAndWhatTheOthersNeed) {
  const CommandResult result = run_interlock({"bugs", kBugs});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("bugs and what finds them\n\nno.  bug  "));
  EXPECT_THAT(
      result.out,
      testing::ContainsRegex(
          "\n"
          "1    ml-explore/mlx#3630 +BAR, PLAN, GRAD +WAR +clean +mlx-3630 +bias gradient"));
  EXPECT_THAT(result.out, HasSubstr("not yet, and what they need\n\nno.  bug  "));
}

// As `interlock check` refuses it.
TEST(BugsCommand, RefusesAProgramWhoseSignalsNothingOrders) {
  const std::string text =
      "interlock 1\nmemory x 64\nq1: queue serial\nsignal s=1\nsignal s=2 on q1\nwait s=1\n"
      "dispatch Use reads x\n";
  const std::string folder = testing::TempDir() + "/bugs-unordered-" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/index.tsv") << "1\tme/demo#1\tXQ\tdemo-1\tno order\t-\n";
  std::ofstream(folder + "/demo-1.ilk") << text;
  std::ofstream(folder + "/demo-1.fixed.ilk") << text;
  const CommandResult result = run_interlock({"bugs", folder});
  std::filesystem::remove_all(folder);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("demo-1.ilk:5:1: error: nothing orders this signal of 's'"));
}

TEST(BugsCommand, SaysWhichFolderHasNoIndex) {
  const CommandResult result = run_interlock({"bugs", INTERLOCK_SOURCE_DIR "/corpus/seeds"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("A folder of bugs has one; give its path."));
}

}  // namespace
}  // namespace interlock::bugs_index_test
