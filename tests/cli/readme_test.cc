// The README shows a real report: its commands, run now, print its lines.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/cli/command.h"
#include "tests/cli/shown_commands.h"

namespace interlock::readme_test {
namespace {

TEST(Readme, ShowsAReportThatItsCommandsPrint) {
  ASSERT_EQ(chdir(INTERLOCK_SOURCE_DIR), 0);
  const std::vector<ShownCommand> commands = shown_commands(document_text("README.md"));
  ASSERT_GE(commands.size(), 2u);
  for (const ShownCommand& command : commands) {
    EXPECT_GE(command.lines.size(), 3u);
    const std::string output = run_interlock(command.arguments).out;
    EXPECT_TRUE(prints(output, command.lines)) << output;
  }
}

TEST(Readme, AReportThatIsNotPrintedIsNoticed) {
  EXPECT_TRUE(prints("a\nb\nc\n", {"a", "b"}));
  EXPECT_FALSE(prints("a\nb\nc\n", {"a", "c"}));
  EXPECT_FALSE(prints("a\nb\nc\n", {"b"}));
  EXPECT_TRUE(prints("a\nb\nc\nd\n", {"…", "b", "…", "d"}));
  EXPECT_FALSE(prints("a\nb\nc\nd\n", {"…", "d", "…", "b"}));
  EXPECT_FALSE(prints("a\nbb\nc\n", {"…", "b"}));
  EXPECT_EQ(shown_commands("    $ interlock check -\n    one\n\n    two\n")[0].lines.size(), 1u);
}

}  // namespace
}  // namespace interlock::readme_test
