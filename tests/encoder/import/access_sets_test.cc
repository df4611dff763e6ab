// What is stated of the nodes of a graph: memories, and the accesses of nodes and kernels.
#include "encoder/import/access_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/program/stop.h"

namespace interlock::access_sets_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

AccessSets read(const std::string& text) {
  const Result<AccessSets> sets = read_access_sets(text, "g.accesses");
  EXPECT_TRUE(sets) << sets.error().message;
  return sets ? *sets : AccessSets();
}

std::string error_of_text(const std::string& text) {
  const Result<AccessSets> sets = read_access_sets(text, "g.accesses");
  return sets ? "no error" : sets.error().message;
}

TEST(AccessSets, HaveMemoriesNodesAndKernels) {
  const AccessSets sets = read(
      "# of a graph\r\naccesses 1\r\nmemory a 4096 at 0x302000000\r\nmemory b 64 scratch at 4096\n"
      "memory c 64 unified\n\n"
      "node graph_1_node_3 reads a[0:1024] b writes c # the third\n"
      "kernel *soft<max>(float)* indirect b[0:12] updates a[0:256 rows 4 pitch 64 width 16] partial\n"
      "kernel Tally atomics a atomic=add\n"
      "  kernel noop\tnone\n");
  ASSERT_THAT(sets.memories, SizeIs(3));
  EXPECT_EQ(sets.memories[0].memory.name, "a");
  EXPECT_EQ(sets.memories[0].address, 0x302000000u);
  EXPECT_EQ(sets.memories[1].address, 4096u);
  EXPECT_TRUE(sets.memories[1].memory.is_scratch);
  EXPECT_FALSE(sets.memories[2].address);
  ASSERT_THAT(sets.sets, SizeIs(4));
  EXPECT_TRUE(sets.sets[0].is_of_node);
  EXPECT_EQ(sets.sets[0].name, "graph_1_node_3");
  EXPECT_EQ(sets.sets[0].line, 7u);
  EXPECT_THAT(sets.sets[0].accesses.operands, SizeIs(3));
  EXPECT_EQ(sets.sets[0].accesses.operands[2].mode, AccessMode::kWrite);
  EXPECT_FALSE(sets.sets[1].is_of_node);
  EXPECT_EQ(sets.sets[1].name, "*soft<max>(float)*");
  EXPECT_TRUE(sets.sets[1].accesses.is_partial);
  EXPECT_TRUE(sets.sets[1].accesses.operands[1].stride);
  EXPECT_THAT(sets.sets[2].accesses.attributes, SizeIs(1));
  EXPECT_THAT(sets.sets[3].accesses.operands, SizeIs(0));
}

TEST(AccessSets, SayWhereATextIsNone) {
  const std::string head = "accesses 1\nmemory a 64 at 0x100\n";
  const struct {
    std::string text;
    std::string error;
  } cases[] = {
      {"", "g.accesses:1:1: error: the text ends without a statement; expected the header line"},
      {"\n accesses 2\n", "g.accesses:2:2: error: found 'accesses'; expected the header line"},
      {"memory a 64\n", "g.accesses:1:1: error: found 'memory'; expected the header line"},
      {head + "tensor x f32[4]\n", "g.accesses:3:1: error: found 'tensor'; expected memory, node"},
      {head + "memory a 64\n", "g.accesses:3:8: error: memory 'a' is declared twice"},
      {head + "memory b\n", "g.accesses:3:9: error: found the end of the line; expected"},
      {head + "memory b 0\n", "g.accesses:3:"},
      {head + "memory b 64 at here\n", "g.accesses:3:16: error: found 'here'; expected an address"},
      {head + "memory b 64 at 0x\n", "g.accesses:3:16: error: found '0x'; expected an address"},
      {head + "memory b 64 at 0x13f\n",
       "g.accesses:3:16: error: the memory shares addresses with 'a'."},
      {head + "memory b 64 at 0xffffffffffffffff\n",
       "g.accesses:3:16: error: the memory ends past the last address."},
      {head + "node\n", "g.accesses:3:1: error: found 'node' alone; expected a name after it."},
      {head + "node n none\nkernel n none\nnode n reads a\n",
       "g.accesses:5:6: error: what node 'n' does stands in line 3 already."},
      {head + "kernel n* none\n\nkernel n* reads a\n",
       "g.accesses:5:8: error: what kernel 'n*' does stands in line 3 already."},
      {head + "node n\n", "g.accesses:3:6: error: found no accesses after the name"},
      {head + "node n reads\n", "g.accesses:3:13: error: found the end of the line; expected an"},
      {head + "node n reads b\n", "g.accesses:3:14: error: no tensor or memory 'b' is declared"},
      {head + "node n   reads a[0:65]\n", "g.accesses:3:16: error: the range [0:65] ends past the"},
      {head + "kernel a*b*c writes a reads a\n",
       "g.accesses:3:23: error: found 'reads' out of order"},
      {head + "kernel k atomics a\n",
       "g.accesses:3:18: error: the dispatch has atomics and does not"},
      {head + "kernel k none reads a\n", "g.accesses:3:10: error: found 'none'; expected"},
      {head + "kernel k reads a after 0\n", "g.accesses:3:"},
      {head + "kernel k reads a on q0\n",
       "g.accesses:3:10: error: the order of a node, its edges and its queue are those of the graph."},
      {head + "kernel k order=3 reads a\n", "g.accesses:3:10: error: the order of a node"},
      {head + "kernel k reads a[0:64 rows 5 pitch 16 width 16]\n",
       "g.accesses:3:16: error: 5 rows"},
  };
  for (const auto& [text, error] : cases) EXPECT_THAT(error_of_text(text), StartsWith(error));
}

TEST(AccessSets, HaveLimits) {
  Limits limits;
  limits.input_bytes = 12;
  EXPECT_THAT(read_access_sets("accesses 1\n# no more", "g.accesses", limits).error().message,
              HasSubstr("the text has 20 bytes, more than the limit of 12."));
  EXPECT_THAT(error_of_text("accesses 1\nkernel " + std::string(70'000, '*') + " none"),
              HasSubstr("g.accesses:2:1: error: the line has 70012 bytes, more than the limit"));
  EXPECT_THAT(
      error_of_text("accesses 1\nkernel " + std::string(5000, '*') + " none"),
      HasSubstr("g.accesses:2:8: error: the name has 5000 bytes, more than the limit of 4096."));
  Stop stop;
  const StopScope scope(&stop);
  stop.request();
  EXPECT_THAT(error_of_text("accesses 1\n"), HasSubstr("reading was stopped here."));
}

// Against a match that tries everything.
bool matches_slowly(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*') {
    return !text.empty() && pattern[0] == text[0] &&
           matches_slowly(pattern.substr(1), text.substr(1));
  }
  for (size_t size = 0; size <= text.size(); ++size) {
    if (matches_slowly(pattern.substr(1), text.substr(size))) return true;
  }
  return false;
}

std::vector<std::string> words_up_to(const std::string& letters, size_t length_max) {
  std::vector<std::string> words = {""};
  for (size_t first = 0, length = 0; length < length_max; ++length) {
    const size_t end = words.size();
    for (; first < end; ++first) {
      for (const char letter : letters) words.push_back(words[first] + letter);
    }
  }
  return words;
}

TEST(Matches, IsTrueIffStarsCanStandForTheRest) {
  for (const std::string& pattern : words_up_to("ab*", 5)) {
    for (const std::string& text : words_up_to("ab", 6)) {
      ASSERT_EQ(matches(pattern, text), matches_slowly(pattern, text)) << pattern << " " << text;
    }
  }
}

TEST(OperandAt, IsOfTheMemoryThatHasAllTheBytes) {
  const AccessSets sets =
      read("accesses 1\nmemory a 64 at 0x100\nmemory b 64 at 0x140\nmemory c 64\n");
  const auto operand = operand_at(sets, {0x150, 16, 16, 1});
  ASSERT_TRUE(operand);
  EXPECT_EQ(operand->name, "b");
  EXPECT_EQ(operand->slice, (ByteRange{16, 32}));
  EXPECT_FALSE(operand->stride);
  const auto rows = operand_at(sets, {0x100, 8, 16, 4});
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->slice, (ByteRange{0, 56}));
  EXPECT_EQ(rows->stride, (StrideDraft{4, 16, 8}));
  EXPECT_FALSE(operand_at(sets, {0x138, 16, 16, 1}));  // Of two memories.
  EXPECT_FALSE(operand_at(sets, {0xf8, 16, 16, 1}));
  EXPECT_FALSE(operand_at(sets, {0x180, 1, 1, 1}));
  EXPECT_FALSE(operand_at(sets, {0x100, 16, 16, 5}));
}

}  // namespace
}  // namespace interlock::access_sets_test
