// docs/bugs.md shows the five bugs: its programs are those of the corpus, its fixes make their
// twins of them, and its commands, run now, print its lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cli/command.h"
#include "tests/cli/shown_commands.h"

namespace interlock::bugs_document_test {
namespace {

using Lines = std::vector<std::string>;

struct ShownBlock {
  std::string name;
  Lines lines;
};

// Blocks of the form "```LANGUAGE NAME", lines, "```".
std::vector<ShownBlock> shown_blocks(const std::string& document, std::string_view language) {
  const std::string fence = "```" + std::string(language) + " ";
  std::vector<ShownBlock> blocks;
  std::istringstream text(document);
  bool is_inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(fence)) {
      is_inside = true;
      blocks.push_back({line.substr(fence.size()), {}});
    } else if (line.starts_with("```")) {
      is_inside = false;
    } else if (is_inside) {
      blocks.back().lines.push_back(line);
    }
  }
  return blocks;
}

// A statement that says what happens, not what is expected of it.
bool is_command(const std::string& line) {
  return !line.starts_with("expect ") && !line.starts_with("witness ");
}

// The lines of a bug's file that are no comments.
Lines lines_of_bug(const std::string& name) {
  std::istringstream text(document_text("corpus/bugs/" + name + ".ilk"));
  Lines lines;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("#")) lines.push_back(line);
  }
  return lines;
}

Lines sorted_commands(Lines lines) {
  lines.erase(std::remove_if(lines.begin(), lines.end(),
                             [](const std::string& line) { return !is_command(line); }),
              lines.end());
  std::sort(lines.begin(), lines.end());
  return lines;
}

// The lines without those that begin with "-" in the diff, with those that begin with "+".
Lines patched(Lines lines, const Lines& diff) {
  for (const std::string& line : diff) {
    if (line.starts_with("+")) lines.push_back(line.substr(1));
  }
  for (const std::string& line : diff) {
    if (!line.starts_with("-")) continue;
    const auto removed = std::find(lines.begin(), lines.end(), line.substr(1));
    EXPECT_NE(removed, lines.end()) << line;
    if (removed != lines.end()) lines.erase(removed);
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
