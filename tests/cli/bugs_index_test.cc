// interlock bugs: the table of public bugs; docs/bugs-index.md is what it prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(BugsCommand, SaysWhichFolderHasNoIndex) {
  const CommandResult result = run_interlock({"bugs", INTERLOCK_SOURCE_DIR "/corpus/seeds"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("A folder of bugs has one; give its path."));
}

}  // namespace
}  // namespace interlock::bugs_index_test
