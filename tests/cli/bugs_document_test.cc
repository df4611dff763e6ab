// docs/bugs.md shows the five bugs: its programs are those of the corpus, its fixes make their
// twins of them, and its commands, run now, print its lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/command.h"
#include "tests/cli/shown_commands.h"

namespace interlock::bugs_document_test {
namespace {

using Lines = std::vector<std::string>;

// The lines of a bug's file that are no comments.
Lines lines_of_bug(const std::string& name) {
  std::istringstream text(document_text("corpus/bugs/" + name + ".ilk"));
  Lines lines;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("#")) lines.push_back(line);
  }
  return lines;
}

TEST(BugsDocument, ShowsTheProgramsOfTheCorpus) {
  const auto blocks = shown_blocks(document_text("docs/bugs.md"), "ilk");
  ASSERT_EQ(blocks.size(), 5u);
  for (const ShownBlock& block : blocks) {
    EXPECT_EQ(block.lines, lines_of_bug(block.name));
  }
}

TEST(BugsDocument, ShowsFixesThatMakeTheRepairedTwins) {
  const auto blocks = shown_blocks(document_text("docs/bugs.md"), "diff");
  ASSERT_EQ(blocks.size(), 5u);
  for (const ShownBlock& block : blocks) {
    EXPECT_EQ(sorted_commands(patched(lines_of_bug(block.name), block.lines)),
              sorted_commands(lines_of_bug(block.name + ".fixed")))
        << block.name;
  }
}

TEST(BugsDocument, ShowsWhatItsCommandsPrint) {
  ASSERT_EQ(chdir(INTERLOCK_SOURCE_DIR), 0);
  const auto commands = shown_commands(document_text("docs/bugs.md"));
  ASSERT_GE(commands.size(), 10u);
  for (const ShownCommand& command : commands) {
    EXPECT_GE(command.lines.size(), 2u);
    const std::string output = run_interlock(command.arguments).out;
    EXPECT_TRUE(prints(output, command.lines)) << testing::PrintToString(command.arguments) << '\n'
                                               << output;
  }
}

}  // namespace
}  // namespace interlock::bugs_document_test
