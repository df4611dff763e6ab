// The examples of docs/format.md are programs, and its errors are the ones that the parser gives.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/words.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock::format_document_test {
namespace {

struct Block {
  int line_number = 0;
  std::string language;
  std::string text;
};

// The fenced blocks of the document.
std::vector<Block> document_blocks() {
  std::ifstream file(std::string(INTERLOCK_SOURCE_DIR) + "/docs/format.md");
  std::vector<Block> blocks;
  bool is_inside = false;
  int line_number = 0;
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    if (line.rfind("```", 0) != 0) {
      if (is_inside) blocks.back().text += line + "\n";
      continue;
    }
    is_inside = !is_inside;
    if (is_inside) blocks.push_back({line_number, line.substr(3), ""});
  }
  return blocks;
}

// Fragments go on from the first example.
std::string program_of(const Block& block, const std::string& preamble) {
  return block.text.rfind("interlock 1", 0) == 0 ? block.text : preamble + block.text;
}

ParseOptions every_queue() {
  ParseOptions options;
  options.reads_every_queue = true;
  return options;
}

TEST(FormatDocument, HasExamplesThatParseAndRoundTrip) {
  const std::vector<Block> blocks = document_blocks();
  ASSERT_GE(blocks.size(), 15);
  const std::string& preamble = blocks[0].text;
  for (const Block& block : blocks) {
    if (block.language != "ilk") continue;
    SCOPED_TRACE(block.line_number);
    const auto p = parse(program_of(block, preamble), "format.ilk", every_queue());
    ASSERT_TRUE(p) << p.error().message;
    EXPECT_EQ(print(*parse(print(*p), "again.ilk", every_queue())), print(*p));
  }
}

TEST(FormatDocument, HasTheErrorsThatTheParserGives) {
  const std::vector<Block> blocks = document_blocks();
  int error_count = 0;
  for (size_t i = 0; i + 1 < blocks.size(); ++i) {
    if (blocks[i].language != "ilk-broken") continue;
    SCOPED_TRACE(blocks[i].line_number);
    const auto p = parse(program_of(blocks[i], blocks[0].text), "far.ilk", every_queue());
    ASSERT_FALSE(p);
    EXPECT_EQ(p.error().message + "\n", blocks[i + 1].text);
    ++error_count;
  }
  EXPECT_GE(error_count, 3);
}

// The examples without their comments, each line after a line feed.
std::string example_lines() {
  std::string lines = "\n";
  for (const Block& block : document_blocks()) {
    if (block.language != "ilk") continue;
    lines += std::regex_replace(block.text, std::regex(" *#[^\n]*"), "");
  }
  return lines;
}

// By the tables that the parser reads statements with: a word that is new there has to be here.
TEST(FormatDocument, ShowsAStatementForEachWord) {
  const std::string lines = example_lines();
  const auto expect_each = [&](const auto& words, const std::string& before,
                               const std::string& after) {
    for (const std::string_view word : words) {
      const bool is_no_statement = word.empty() || word == "none" || word == "divergence";
      if (is_no_statement) continue;
      const std::regex form(before + std::string(word) + after);
      EXPECT_TRUE(std::regex_search(lines, form)) << before << word << after;
    }
  };
  const std::string statement = "\n(?:[A-Za-z_0-9.@]+: )?";
  expect_each(kPlacementWords, "\ntensor .* ", " ");
  expect_each(kInitialWords, " = ", "[(\n]");
  expect_each(kDTypeWords, "\ntensor \\w+ +", "\\[");
  expect_each(kClauseWords, statement + "dispatch .*", " ");
  expect_each(std::vector<std::string_view>{"add"}, " atomic=", "\n");
  expect_each(kLifetimeWords, statement, " \\w");
  expect_each(kFindingWords, "\nexpect (?:encoder=\\S+ )?", " ");
  expect_each(kQueueWords, "\n\\w+: queue ", "\n");
  expect_each(kSyncWords, statement, "[ \n]");
  expect_each(kTransitionWords, statement + "barrier .* -> .* ", " ");
}

TEST(FormatDocument, ShowsEveryStatementAndClause) {
  const std::string lines = example_lines();
  const std::string label = "\n(?:[A-Za-z_0-9.@]+: )?";
  for (const std::string& form : {
           std::string("\ninterlock 1\n"),
           std::string("\nmemory \\w+ \\d+\n"),
           std::string("\nmemory \\w+ \\d+ scratch\n"),
           std::string("\nmemory \\w+ \\d+ unified\n"),
           std::string("\nmemory \\w+ \\d+ noncoherent\n"),
           std::string("\nmemory \\w+ \\d+ noncoherent=64\n"),
           std::string("\ntensor \\w+ .*\\]\n"),
           std::string("\noutput "),
           std::string("\n\\w+: semaphore = \\d+\n"),
           std::string("\n\\w+: semaphore binary\n"),
           std::string("\ncapture \\w+\n"),
           std::string("\nend\n"),
           std::string("\nreplay \\w+\n"),
           std::string("\nreplay \\w+ on \\w+\n"),
           std::string("\nbackward \\w+ wrt .* mode="),
           std::string("\nexpect encoder=\\S+ clean\n"),
           std::string("\nexpect deadlock \\w+ \\w+\n"),
           std::string("\nexpect redundant \\d+\n"),
           std::string("\nwitness .* before \\w+\n"),
           std::string("\nwitness \\w+\\[\\d+:\\d+\\] after "),
           std::string("\nwitness .* commits after "),
           std::string("\nwitness .* fetches before \\w+ commits\n"),
           label + "dispatch .* in copy ",
           label + "dispatch .* in graphics ",
           label + "dispatch .* order=\\d",
           label + "dispatch .* actual ",
           label + "dispatch .* partial\n",
           label + "dispatch .* approximate\n",
           label + "dispatch .* \\w+=[\\w.-]+\n",
           label + "dispatch .*\\[\\d+:\\d+ rows \\d+ pitch \\d+ width \\d+\\]",
           label + "dispatch .* on \\w+\n",
           label + "dispatch .* after \\w+ \\w+ on \\w+\n",
           label + "dispatch .* after \\w+ programmatic on \\w+\n",
           label + "barrier\n",
           label + "barrier execution\n",
           label + "barrier .*\\.write -> .*\\.read\n",
           label + "barrier .* -> .*, .* -> .* \\w+\\[",
           label + "barrier .*\\|.* -> .*\\|.*\\.uniform",
           label + "barrier device\\.write -> device\\.read",
           label + "barrier all -> all\n",
           label + "barrier none -> ",
           label + "barrier .* on \\w+\n",
           label + "signal \\w+=\\d+ after \\w+, \\w+",
           label + "signal \\w+=\\d+ on \\w+\n",
           label + "signal \\w+\n",
           label + "wait \\w+=\\d+ before \\w+\\|\\w+\n",
           label + "wait \\w+\n",
           label + "wait \\w+ from outside\n",
           label + "set \\w+ execution\n",
           label + "set \\w+ .* -> .*, .* -> ",
           label + "await \\w+\n",
           label + "submit\n",
           label + "split\n",
           label + "submit on \\w+\n",
           label + "split on \\w+\n",
           label + "host reads .* approximate\n",
           label + "host reads \\w+ \\w+\\[",
           label + "host writes .* approximate\n",
           label + "host writes .* = random\\(",
           label + "host writes .* = values\\(",
           label + "host idle\n",
           label + "host idle on \\w+\n",
           label + "free \\w+ on \\w+\n",
           label + "destroy \\w+ on \\w+\n",
           label + "adopt \\w+ = \\w+\n",
       }) {
    EXPECT_TRUE(std::regex_search(lines, std::regex(form))) << form;
  }
}

}  // namespace
}  // namespace interlock::format_document_test
