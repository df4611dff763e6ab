// The README shows a real report: its commands, run now, print its lines.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/command.h"

namespace interlock {
namespace {

struct ShownCommand {
  std::vector<std::string> arguments;
  std::vector<std::string> lines;  // That it is said to print, in this order.
};

// Blocks of the form "    $ interlock ARGUMENT…" and the indented lines below it.
std::vector<ShownCommand> shown_commands(const std::string& readme) {
  constexpr std::string_view kPrompt = "    $ interlock ";
  std::vector<ShownCommand> commands;
  std::istringstream text(readme);
  bool is_inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(kPrompt)) {
      is_inside = true;
      commands.emplace_back();
      std::istringstream words(line.substr(kPrompt.size()));
      for (std::string word; words >> word;) {
        commands.back().arguments.push_back(word);
      }
    } else if (is_inside && line.starts_with("    ")) {
      commands.back().lines.push_back(line.substr(4));
    } else {
      is_inside = false;
    }
  }
  return commands;
}

// True iff `output` begins with the lines.
bool prints(const std::string& output, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return output.starts_with(text);
}

TEST(Readme, ShowsAReportThatItsCommandsPrint) {
  ASSERT_EQ(chdir(INTERLOCK_SOURCE_DIR), 0);
  std::ostringstream readme;
  readme << std::ifstream("README.md").rdbuf();
  const std::vector<ShownCommand> commands = shown_commands(readme.str());
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
  EXPECT_EQ(shown_commands("    $ interlock check -\n    one\n\n    two\n")[0].lines.size(), 1u);
}

}  // namespace
}  // namespace interlock
