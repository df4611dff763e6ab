// Graphs become programs: a dispatch for each node, on a graph queue, and what is not known is
// said.
#include "encoder/import/graph_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/import/graph_names.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/schedules/choice.h"
#include "tests/corpus_files.h"
#include "tests/encoder/import/graph_texts.h"
#include "tests/program_count.h"

namespace interlock::graph_program_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kSets =
    "accesses 1\nmemory x 64 at 0x1000\nmemory y 64 at 0x2000\n"
    "kernel a reads x writes y\nkernel b* updates y\n";

Result<ImportedGraph> imported(const std::string& dot, const std::string& sets = kSets,
                               const Limits& limits = {}) {
  const Result<DotFile> file = read_dot_file(dot, "g.dot");
  EXPECT_TRUE(file) << file.error().message;
  const Result<AccessSets> read = read_access_sets(sets, "g.accesses");
  EXPECT_TRUE(read) << read.error().message;
  return import_graph(*file, *read, "g.dot", limits);
}

// The statements, without the declarations; they are canonical.
std::string statements_of(const std::string& dot, const std::string& sets = kSets) {
  const Result<ImportedGraph> graph = imported(dot, sets);
  if (!graph) return graph.error().message;
  const std::string text = print(graph->program);
  const Result<Program> program = parse(text, "g.ilk", every_queue());
  EXPECT_TRUE(program) << program.error().message;
  if (program) {
    EXPECT_EQ(print(*program), text);
  }
  const std::string queue = "g: queue graph\n";
  return text.substr(text.find(queue) + queue.size());
}

std::string counts_of(const std::string& dot, const std::string& sets = kSets) {
  const Result<ImportedGraph> graph = imported(dot, sets);
  return graph ? text_of(graph->counts) : graph.error().message;
}

TEST(ImportGraph, MakesADispatchOfEachNodeInAnOrderOfTheEdges) {
  const std::string dot = dot_of(kernel_node(0, "b1") + kernel_node(1, "a") + kernel_node(2, "b2") +
                                 edge(1, 0) + edge(1, 2) + edge(0, 2));
  EXPECT_EQ(statements_of(dot),
            "graph_1_node_1: dispatch A reads x writes y on g\n"
            "graph_1_node_0: dispatch B1 updates y after graph_1_node_1 on g\n"
            "graph_1_node_2: dispatch B2 updates y after graph_1_node_1 graph_1_node_0 on g\n");
  EXPECT_EQ(counts_of(dot), "3 nodes, 3 edges; accesses of all are known.\n");
}

TEST(ImportGraph, TakesTheLineOfANodeBeforeThatOfItsKernelAndTheFirstOfThese) {
  const std::string sets = std::string(kSets) + "kernel bb none\nnode graph_1_node_1 reads x\n";
  const std::string dot = dot_of(kernel_node(0, "bb") + kernel_node(1, "bb"));
  EXPECT_EQ(
      statements_of(dot, sets),
      "graph_1_node_0: dispatch Bb updates y on g\ngraph_1_node_1: dispatch Bb reads x on g\n");
  EXPECT_EQ(counts_of(dot, sets),
            "2 nodes, 0 edges; accesses of all are known.\n"
            "Line 4 of the access sets is used for no node.\n"
            "Line 6 of the access sets is used for no node.\n");
}

// A memset says itself what it writes, whatever is stated of kernels.
TEST(ImportGraph, TakesNamesWithStarsForNoMemset) {
  const std::string memset =
      "\"graph_1_node_0\"[shape=\"invtrapezium\" label=\"0\nMEMSET\n(0,640)\n\"];\n";
  const std::string sets = std::string(kSets) + "kernel * none\n";
  EXPECT_THAT(counts_of(dot_of(memset), sets),
              HasSubstr("1 of 1 node has no accesses: nothing is known of it."));
}

// One line may match very many nodes.
TEST(ImportGraph, HasALimitOnTheOperandsOfAllNodes) {
  const std::string sets = "accesses 1\nmemory x 64\nkernel a reads x[0:4] x[4:8] x[8:12]\n";
  Limits limits;
  limits.expansion_count = 2;
  EXPECT_TRUE(imported(dot_of(kernel_node(0, "a")), sets, limits));
  EXPECT_EQ(
      imported(dot_of(kernel_node(0, "a") + kernel_node(1, "a")), sets, limits).error().message,
      "g.dot:7:1: error: the nodes have more operands than the limit of 4.");
}

TEST(ImportGraph, CountsNodesOfWhichNothingIsKnown) {
  const std::string dot = dot_of(kernel_node(0, "a") + kernel_node(1, "_Z1cf") +
                                 kernel_node(2, "none_known") + edge(0, 1));
  EXPECT_EQ(statements_of(dot),
            "graph_1_node_0: dispatch A reads x writes y on g\n"
            "graph_1_node_1: dispatch K_Z1cf after graph_1_node_0 on g\n"
            "graph_1_node_2: dispatch None_known on g\n");
  EXPECT_EQ(counts_of(dot),
            "3 nodes, 1 edge; 2 of 3 nodes have no accesses: nothing is known of them.\n"
            "  no accesses: graph_1_node_1\n  no accesses: graph_1_node_2\n"
            "Line 5 of the access sets is used for no node.\n");
}

TEST(ImportGraph, KeepsPortsApart) {
  const std::string nodes = kernel_node(0, "a") + kernel_node(1, "b1") + kernel_node(2, "b2");
  const std::string one =
      dot_of(nodes + edge(0, 1, " [headlabel=1]") + edge(1, 2, " [taillabel=\"2\" headlabel=0]"));
  EXPECT_EQ(statements_of(one),
            "graph_1_node_0: dispatch A reads x writes y on g\n"
            "graph_1_node_1: dispatch B1 updates y after graph_1_node_0 programmatic on g\n"
            "graph_1_node_2: dispatch B2 updates y after graph_1_node_1 programmatic on g\n");
  EXPECT_EQ(counts_of(one), "3 nodes, 2 edges, 2 programmatic; accesses of all are known.\n");
  // Both sorts to one node.
  EXPECT_EQ(
      statements_of(dot_of(nodes + edge(0, 2) + edge(1, 2, " [headlabel=2]"))),
      "graph_1_node_0: dispatch A reads x writes y on g\n"
      "graph_1_node_1: dispatch B1 updates y on g\n"
      "graph_1_node_2.started: dispatch Started after graph_1_node_1 programmatic on g\n"
      "graph_1_node_2: dispatch B2 updates y after graph_1_node_0 graph_1_node_2.started on g\n");
  // Beside a full edge a programmatic one says nothing.
  EXPECT_EQ(statements_of(dot_of(nodes + edge(0, 1, " [headlabel=1]") + edge(0, 1, ""))),
            "graph_1_node_0: dispatch A reads x writes y on g\n"
            "graph_1_node_1: dispatch B1 updates y after graph_1_node_0 on g\n"
            "graph_1_node_2: dispatch B2 updates y on g\n");
  EXPECT_THAT(counts_of(dot_of(nodes + edge(0, 1, " [headlabel=x]"))),
              HasSubstr("Of 1 edge the port is not known; it counts as programmatic.\n"));
}

std::string node(int index, const std::string& label) {
  return "\"graph_1_node_" + std::to_string(index) + "\"[shape=\"record\" label=\"" + label +
         "\"];\n";
}

std::string memset_node(int index, const std::string& values) {
  return node(
      index,
      "{MEMSET | {{ID | node handle | dptr | pitch | value | elementSize | width | height} | {" +
          std::to_string(index) + " | 0x1 | " + values + "}}}");
}

std::string memcpy_node(int index, const std::string& source, const std::string& destination,
                        const std::string& extent) {
  return node(index,
              "{ MEMCPY | {{ID | node handle} | {0 | 0x1}} | {kind | DtoD} | {{srcPtr | dstPtr} "
              "| {pitch | ptr | xsize | ysize | pitch | ptr | xsize | ysize} | {" +
                  source + " | 0 | 0 | " + destination +
                  " | 0 | 0}} | {{srcPos | {{x | 0} | {y | 0} | {z | 0}}} | {dstPos | {{x | 0} "
                  "| {y | 0} | {z | 0}}} | {Extent | " +
                  extent + "}}}");
}

TEST(ImportGraph, TakesTheBytesOfCopiesAndMemsetsFromTheirLabels) {
  const std::string line = "{{Width | 16} | {Height | 1} | {Depth | 1}}";
  const std::string dot = dot_of(
      memset_node(0, "0x1000 | 0 | 0 | 4 | 16 | 1") +
      memset_node(1, "0x1000 | 16 | 0 | 1 | 4 | 4") +
      memcpy_node(2, "0 | 0x1010", "0 | 0x2000", line) +
      memcpy_node(3, "0 | 0x1010", "0 | 0x7f0000", line) +
      memcpy_node(4, "0 | 0x9000", "0 | 0x7f0000", line) +
      memcpy_node(5, "16 | 0x1000", "8 | 0x2000", "{{Width | 8} | {Height | 4} | {Depth | 1}}"));
  EXPECT_EQ(
      statements_of(dot),
      "graph_1_node_0: dispatch fill writes x[0:64] on g\n"
      "graph_1_node_1: dispatch MEMSET writes x[0:52 rows 4 pitch 16 width 4] on g\n"
      "graph_1_node_2: dispatch copy reads x[16:32] writes y[0:16] on g\n"
      "graph_1_node_3: dispatch MEMCPY reads x[16:32] on g\n"
      "graph_1_node_4: dispatch MEMCPY on g\n"
      "graph_1_node_5: dispatch MEMCPY reads x[0:56 rows 4 pitch 16 width 8] writes y[0:32 rows "
      "4 pitch 8 width 8] on g\n");
  EXPECT_THAT(counts_of(dot),
              HasSubstr("1 of 6 nodes has no accesses: nothing is known of it.\n"
                        "  no accesses: graph_1_node_4\n"
                        "Of 1 copy node one end lies in no memory that has an address"));
  // What is stated of a node is believed.
  EXPECT_THAT(statements_of(dot, std::string(kSets) + "kernel MEMCPY none\n"),
              HasSubstr("graph_1_node_2: dispatch MEMCPY on g\n"));
}

TEST(ImportGraph, SpellsChildGraphsOutAsOftenAsTheyStandThere) {
  const std::string child =
      "subgraph cluster_2 {\nlabel=\"graph_2\"\n"
      "\"graph_2_node_0\"[shape=\"octagon\" label=\"0\na\"];\n"
      "\"graph_2_node_1\"[shape=\"octagon\" label=\"1\nb\"];\n}\n";
  const std::string dot =
      dot_of(kernel_node(0, "b0") + node(1, "{GRAPH | graph_2}") + kernel_node(2, "b2") +
             node(3, "{GRAPH | graph_2}") + edge(0, 1) + edge(1, 2) + child);
  EXPECT_EQ(
      statements_of(dot),
      "graph_1_node_0: dispatch B0 updates y on g\n"
      "graph_1_node_1.begin: dispatch GraphBegin after graph_1_node_0 on g\n"
      "graph_1_node_1.graph_2_node_0: dispatch A reads x writes y after graph_1_node_1.begin on g\n"
      "graph_1_node_1.graph_2_node_1: dispatch B updates y after graph_1_node_1.begin on g\n"
      "graph_1_node_1: dispatch GraphEnd after graph_1_node_1.graph_2_node_0 "
      "graph_1_node_1.graph_2_node_1 on g\n"
      "graph_1_node_2: dispatch B2 updates y after graph_1_node_1 on g\n"
      "graph_1_node_3.begin: dispatch GraphBegin on g\n"
      "graph_1_node_3.graph_2_node_0: dispatch A reads x writes y after graph_1_node_3.begin on g\n"
      "graph_1_node_3.graph_2_node_1: dispatch B updates y after graph_1_node_3.begin on g\n"
      "graph_1_node_3: dispatch GraphEnd after graph_1_node_3.graph_2_node_0 "
      "graph_1_node_3.graph_2_node_1 on g\n");
  EXPECT_EQ(counts_of(dot), "8 nodes, 2 edges; accesses of all are known.\n");
}

TEST(ImportGraph, BeginsAtTheGraphThatStandsForNoNode) {
  EXPECT_EQ(
      statements_of("digraph { subgraph cluster_2 { label=child; c [shape=octagon label=a] }\n"
                    "subgraph cluster_1 { label=root; r [label=\"{GRAPH|child}\"] } }"),
      "r.begin: dispatch GraphBegin on g\n"
      "r.c: dispatch A reads x writes y after r.begin on g\n"
      "r: dispatch GraphEnd after r.c on g\n");
}

TEST(ImportGraph, SaysWhatItLeavesOut) {
  const std::string dot = dot_of(
      node(0, "{CONDITIONAL | graph_2}") + node(1, "{EVENT_RECORD | 0x5}") + node(2, "{EMPTY}") +
      edge(0, 1) + edge(1, 2) + "subgraph cluster_2 {\nlabel=\"graph_2\"\nbody;\n}\n");
  EXPECT_EQ(statements_of(dot),
            "graph_1_node_0: dispatch CONDITIONAL on g\n"
            "graph_1_node_1: dispatch EVENT_RECORD after graph_1_node_0 on g\n"
            "graph_1_node_2: dispatch Empty after graph_1_node_1 on g\n");
  EXPECT_THAT(
      counts_of(dot),
      HasSubstr(
          "3 nodes, 2 edges; 1 of 3 nodes has no accesses: nothing is known of it.\n"
          "  no accesses: graph_1_node_0\n"
          "Of 1 node, for events or semaphores, it is not known what they order outside of the "
          "graph.\n"
          "Left out: 1 node of graphs that no child graph node names, as bodies of conditional "
          "nodes.\n"));
}

TEST(ImportGraph, MakesNamesLegal) {
  EXPECT_EQ(statements_of("digraph { \"a b\" [shape=octagon label=\"0\n<lambda()>\"]; a_b; reads; "
                          "programmatic; a_b -> programmatic }"),
            "a_b: dispatch K_lambda___ on g\na_b.2: dispatch K_ on g\nreads_: dispatch K_ on g\n"
            "programmatic_: dispatch K_ after a_b.2 on g\n");
}

TEST(ImportGraph, RefusesWhatIsNoProgram) {
  const auto error_of_dot = [](const std::string& dot, const Limits& limits = {}) {
    const Result<ImportedGraph> graph = imported(dot, kSets, limits);
    return graph ? "no error" : graph.error().message;
  };
  const std::string nodes = kernel_node(0, "a") + kernel_node(1, "a");
  EXPECT_EQ(error_of_dot(dot_of(nodes + edge(0, 1) + edge(1, 0))),
            "g.dot:4:1: error: edges lead in a circle to 'graph_1_node_0'.");
  EXPECT_EQ(error_of_dot(dot_of(nodes + edge(1, 1))),
            "g.dot:7:1: error: edges lead in a circle to 'graph_1_node_1'.");
  EXPECT_EQ(error_of_dot(dot_of(node(0, "{GRAPH | graph_1}"))),
            "g.dot:4:1: error: the graph 'graph_1' contains itself.");
  const std::string child =
      "digraph { subgraph cluster_0 { label=top; t [label=\"{G|a}\"] }\n"
      "subgraph cluster_1 { label=a; x; y [label=\"{G|b}\"] }\n"
      "  subgraph cluster_2 { label=b; u; v; u -> v; z [label=\"{G|a}\"] } }";
  EXPECT_EQ(error_of_dot(child), "g.dot:3:47: error: the graph 'a' contains itself.");
  Limits limits;
  limits.expansion_count = 2;
  EXPECT_EQ(error_of_dot(dot_of(nodes), limits), "no error");
  // A graph of graphs of graphs: each twice in the next.
  std::string nested;
  for (int k = 0; k < 30; ++k) {
    const std::string own = "g" + std::to_string(k);
    nested += "subgraph cluster_" + own + " { label=" + own + "; " + own + "a [label=\"{G|g" +
              std::to_string(k + 1) + "}\"]; " + own + "b [label=\"{G|g" + std::to_string(k + 1) +
              "}\"] }\n";
  }
  nested = "digraph {\n" + nested + "subgraph cluster_last { label=g30; last } }";
  limits.expansion_count = 1000;
  EXPECT_THAT(error_of_dot(nested, limits),
              HasSubstr("error: with child graphs there are more nodes than the limit of 1000."));
  // An edge fewer than the nodes of the child graph have.
  limits.expansion_count = 1;
  EXPECT_EQ(error_of_dot("digraph { subgraph cluster_0 { label=top; t [label=\"{G|a}\"] }\n"
                         " subgraph cluster_1 { label=a; u; v; w; u -> v; u -> w } }",
                         limits),
            "g.dot:1:43: error: with child graphs there are more edges than the limit of 1.");
  // What no program may have is said of the node.
  limits = {};
  limits.access_count_per_dispatch = 1;
  EXPECT_THAT(error_of_dot(dot_of(kernel_node(0, "b") + kernel_node(1, "a")), limits),
              testing::StartsWith("g.dot:7:1: error: "));
}

// More edges to a node than a dispatch may have: dispatches of nothing bring them together.
TEST(ImportGraph, JoinsMoreEdgesThanADispatchMayHave) {
  Limits limits;
  limits.edge_count_per_dispatch = 2;
  std::string nodes;
  for (int k = 0; k < 5; ++k) nodes += kernel_node(k, "b") + edge(k, 5, "[headlabel=0]");
  nodes += kernel_node(5, "b");
  const Result<ImportedGraph> graph = imported(dot_of(nodes), kSets, limits);
  ASSERT_TRUE(graph) << graph.error().message;
  const std::string text = print(graph->program);
  EXPECT_THAT(
      text,
      HasSubstr(
          "graph_1_node_5.joined: dispatch Joined after graph_1_node_0 graph_1_node_1 on g\n"
          "graph_1_node_5.joined.2: dispatch Joined after graph_1_node_2 graph_1_node_3 on g\n"
          "graph_1_node_5.joined.3: dispatch Joined after graph_1_node_4 on g\n"
          "graph_1_node_5.joined.4: dispatch Joined after graph_1_node_5.joined "
          "graph_1_node_5.joined.2 on g\n"
          "graph_1_node_5.joined.5: dispatch Joined after graph_1_node_5.joined.3 on g\n"
          "graph_1_node_5: dispatch B updates y after graph_1_node_5.joined.4 "
          "graph_1_node_5.joined.5 on g\n"));
  // As many as it may have in a program of usual limits, and one more.
  std::string star = kernel_node(2000, "b");
  for (int k = 0; k < 1025; ++k) star += kernel_node(k, "b") + edge(k, 2000, "[headlabel=1]");
  EXPECT_THAT(statements_of(dot_of(star)),
              HasSubstr("updates y after graph_1_node_2000.joined graph_1_node_2000.joined.2 "
                        "programmatic on g\n"));
}

TEST(ImportGraph, GivesEachLabelOnce) {
  LabelSet labels;
  EXPECT_EQ(labels.add("a"), "a");
  EXPECT_EQ(labels.add("a"), "a.2");
  EXPECT_EQ(labels.add("a.2"), "a.2.2");
  EXPECT_EQ(labels.add("a.4"), "a.4");
  EXPECT_EQ(labels.add("a"), "a.3");
  EXPECT_EQ(labels.add("a"), "a.5");
  EXPECT_EQ(labels.add("reads"), "reads_");
  EXPECT_EQ(labels.add(std::string(500, 'x')), "node7");
}

// Random damage to a real file: an error that says where, or a program that parses.
TEST(ImportGraph, TakesAnyBytes) {
  const std::string dot = graph_corpus_text("gradient-norm.dot");
  const std::string stated = graph_corpus_text("gradient-norm.accesses");
  SeededChoice choice(1);
  int accepted = 0;
  for (int i = 0; i < share_count(4000, 2); ++i) {
    const bool damages_dot = choice.below(2) == 0;
    std::string text = damages_dot ? dot : stated;
    for (uint64_t k = choice.below(3); k < 3; ++k) {
      constexpr std::string_view kBytes = "{}[]|\"=;->*# \n\\_9a\x01\xff";
      const size_t at = choice.below(text.size());
      const char byte = kBytes[choice.below(kBytes.size())];
      if (choice.below(2) == 0) text.erase(at, 1 + choice.below(30));
      text.insert(std::min(at, text.size()), 1, byte);
    }
    const Result<DotFile> file = read_dot_file(damages_dot ? text : dot, "g.dot");
    const Result<AccessSets> sets = read_access_sets(damages_dot ? stated : text, "g.accesses");
    if (!file || !sets) {
      const std::string& message = file ? sets.error().message : file.error().message;
      ASSERT_THAT(message, HasSubstr(": error: "));
      continue;
    }
    const Result<ImportedGraph> graph = import_graph(*file, *sets, "g.dot");
    if (!graph) continue;
    ++accepted;
    const std::string program = print(graph->program);
    const Result<Program> again = parse(program, "g.ilk", every_queue());
    ASSERT_TRUE(again) << again.error().message << program;
    ASSERT_EQ(print(*again), program);
  }
  EXPECT_GT(accepted, share_count(4000, 2) / 50);
}

}  // namespace
}  // namespace interlock::graph_program_test
