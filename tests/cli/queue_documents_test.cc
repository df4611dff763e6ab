// docs/queues.md, host.md and graphs.md tell of several queues: their programs are those of the
// corpus, their diffs make the twins of them, and their commands, run now, print their lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/command.h"
#include "tests/cli/shown_commands.h"

namespace interlock::queue_documents_test {
namespace {

std::vector<std::string> lines_of(const std::string& name) {
  std::istringstream text(document_text("corpus/queues/" + name + ".ilk"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// A page, and how much it shows.
struct Page {
  std::string name;
  size_t program_count;
  size_t command_count;
};

class QueueDocument : public testing::TestWithParam<Page> {
 protected:
  const std::string text_ = document_text("docs/" + GetParam().name + ".md");
};

TEST_P(QueueDocument, ShowsProgramsOfTheCorpus) {
  const auto blocks = shown_blocks(text_, "ilk");
  EXPECT_EQ(blocks.size(), GetParam().program_count);
  for (const ShownBlock& block : blocks) EXPECT_EQ(block.lines, lines_of(block.name));
}

TEST_P(QueueDocument, ShowsRepairsThatMakeTheirTwins) {
  const auto blocks = shown_blocks(text_, "diff");
  EXPECT_EQ(blocks.size(), GetParam().program_count);
  for (const ShownBlock& block : blocks) {
    EXPECT_EQ(sorted_commands(patched(lines_of(block.name), block.lines)),
              sorted_commands(lines_of(block.name + ".fixed")))
        << block.name;
  }
}

TEST_P(QueueDocument, ShowsWhatItsCommandsPrint) {
  ASSERT_EQ(chdir(INTERLOCK_SOURCE_DIR), 0);
  const auto commands = shown_commands(text_);
  EXPECT_EQ(commands.size(), GetParam().command_count);
  for (const ShownCommand& command : commands) {
    EXPECT_GE(command.lines.size(), 2u);
    const CommandResult result = run_interlock(command.arguments);
    const std::string& name = command.arguments.front();
    const bool shows_a_failure = name == "replay" || name == "explore";
    EXPECT_EQ(result.status, shows_a_failure ? 1 : 0) << result.err;
    EXPECT_TRUE(prints(result.out, command.lines))
        << testing::PrintToString(command.arguments) << '\n'
        << result.out;
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, QueueDocument,
                         testing::Values(Page{"queues", 2, 9}, Page{"host", 3, 9},
                                         Page{"graphs", 4, 11}),
                         [](const auto& page) { return page.param.name; });

}  // namespace
}  // namespace interlock::queue_documents_test
