// interlock import: the program of a graph, what is known of it, and what docs/graphs.md shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/command.h"
#include "tests/cli/shown_commands.h"

namespace interlock::import_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string kGraphs = INTERLOCK_SOURCE_DIR "/corpus/graphs/";
const std::string kDot = kGraphs + "gradient-norm.dot";
const std::string kAccesses = "--accesses=" + kGraphs + "gradient-norm.accesses";

TEST(ImportCommand, PrintsTheProgramAndSaysWhatIsKnown) {
  const CommandResult result = run_interlock({"import", kDot, kAccesses});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err,
            "6 nodes, 4 edges; 1 of 6 nodes has no accesses: nothing is known of it.\n"
            "  no accesses: graph_1_node_5\n"
            "Of 1 copy node one end lies in no memory that has an address; the other is known.\n");
  // The corpus has the same, and what a check finds.
  EXPECT_THAT(document_text("corpus/graphs/gradient-norm.ilk"), StartsWith(result.out));
  EXPECT_THAT(result.out, StartsWith("# 6 nodes, 4 edges; 1 of 6"));
}

TEST(ImportCommand, FeedsTheCheck) {
  const std::string program = run_interlock({"import", kDot, kAccesses}).out;
  const CommandResult result = run_interlock({"check", "-"}, program);
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("WAW hazard: graph_1_node_2 (dispatch 2) updates sum[0:4096], "
                                    "which graph_1_node_1 (dispatch 1) writes."));
  // The edge that was forgotten repairs it.
  std::string dot = document_text("corpus/graphs/gradient-norm.dot");
  dot.insert(dot.rfind("}\n}"), "\"graph_1_node_1\" -> \"graph_1_node_2\" [headlabel=0];\n");
  const std::string repaired = run_interlock({"import", "-", kAccesses}, dot).out;
  EXPECT_EQ(run_interlock({"check", "-"}, repaired).status, 0);
}

TEST(ImportCommand, WritesAFile) {
  const std::string path = temporary_file("imported.ilk", "");
  const CommandResult result = run_interlock({"import", kDot, kAccesses, "-o", path});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_EQ(run_interlock({"print", path}).status, 0);
}

TEST(ImportCommand, KnowsNothingWithoutAccessSets) {
  const CommandResult result = run_interlock({"import", kDot});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, StartsWith("6 nodes, 4 edges; 6 of 6 nodes have no accesses: nothing is "
                                     "known of them.\n"));
  EXPECT_EQ(run_interlock({"check", "-"}, result.out).status, 0);
}

TEST(ImportCommand, RefusesBadInputWithStatusTwo) {
  const CommandResult graph = run_interlock({"import", "-"}, "digraph {\n  a; a }");
  EXPECT_EQ(graph.status, 2);
  EXPECT_EQ(graph.err, "<stdin>:2:6: error: node 'a' stands twice; ids differ.\n");
  EXPECT_THAT(graph.out, IsEmpty());
  const std::string stated = temporary_file("bad.accesses", "accesses 1\nkernel k reads x\n");
  const CommandResult sets = run_interlock({"import", kDot, "--accesses=" + stated});
  EXPECT_EQ(sets.status, 2);
  EXPECT_THAT(sets.err, HasSubstr("bad.accesses:2:16: error: no tensor or memory 'x'"));
  EXPECT_EQ(run_interlock({"import", kGraphs + "none.dot"}).status, 2);
  EXPECT_EQ(run_interlock({"import", kDot, "--max-input-mib=0"}).status, 2);
}

TEST(GraphsDocument, ShowsTheAccessSetsOfTheCorpus) {
  const std::vector<ShownBlock> blocks = shown_blocks(document_text("docs/graphs.md"), "accesses");
  ASSERT_EQ(blocks.size(), 1u);
  std::string text;
  for (const std::string& line : blocks[0].lines) text += line + '\n';
  EXPECT_EQ(text, document_text("corpus/graphs/" + blocks[0].name + ".accesses"));
}

}  // namespace
}  // namespace interlock::import_test
