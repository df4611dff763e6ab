// The examples of docs/format.md are programs, and its errors are the ones that the parser gives.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

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

TEST(FormatDocument, ShowsEveryStatementAndClause) {
  std::string examples;
  for (const Block& block : document_blocks()) {
    if (block.language == "ilk") examples += block.text;
  }
  for (const char* word : {"memory ",
                           " scratch",
                           "tensor ",
                           " at ",
                           " view ",
                           " donates ",
                           "random(",
                           "= zeros",
                           "= ones",
                           "= iota",
                           "output ",
                           ": ",
                           "dispatch ",
                           " reads ",
                           " writes ",
                           " updates ",
                           " atomics ",
                           "atomic=",
                           " partial",
                           " approximate",
                           " in copy",
                           " in graphics",
                           " transitions ",
                           " discards ",
                           " from outside",
                           "none -> ",
                           "order=",
                           "barrier\n",
                           "barrier execution",
                           " -> ",
                           ".write|",
                           ".uniform",
                           " uniform ",
                           " before ",
                           " after ",
                           " commits after ",
                           " fetches before ",
                           "free ",
                           "destroy ",
                           "pin ",
                           "unpin ",
                           "reset ",
                           "adopt ",
                           "expect ",
                           "encoder=",
                           "clean",
                           "#"}) {
    EXPECT_NE(examples.find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace interlock::format_document_test
