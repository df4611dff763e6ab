// Dot files give nodes and edges by graph, or an error that says where.
#include "encoder/import/dot_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/program/stop.h"
#include "tests/encoder/import/graph_texts.h"

namespace interlock::dot_reader_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

DotFile read(const std::string& text) {
  const Result<DotFile> file = read_dot_file(text, "g.dot");
  EXPECT_TRUE(file) << file.error().message;
  return file ? *file : DotFile();
}

std::string error_of_text(const std::string& text) {
  const Result<DotFile> file = read_dot_file(text, "g.dot");
  return file ? "no error" : file.error().message;
}

TEST(DotReader, ReadsNodesAndEdgesOfACluster) {
  const DotFile file = read(dot_of(kernel_node(0, "_Z1af") + kernel_node(1, "_Z1bf") + edge(0, 1) +
                                   edge(0, 1, " [headlabel=1 taillabel=2]")));
  ASSERT_THAT(file.graphs, SizeIs(1));
  const DotGraph& graph = file.graphs[0];
  EXPECT_EQ(graph.name, "graph_1");
  ASSERT_THAT(graph.nodes, SizeIs(2));
  EXPECT_EQ(graph.nodes[1].id, "graph_1_node_1");
  EXPECT_EQ(graph.nodes[1].label, "1\n_Z1bf\n");
  EXPECT_EQ(graph.nodes[1].shape, "octagon");
  EXPECT_EQ(graph.nodes[1].line, 7u);
  ASSERT_THAT(graph.edges, SizeIs(2));
  EXPECT_EQ(graph.edges[0].from, 0u);
  EXPECT_EQ(graph.edges[0].to, 1u);
  EXPECT_EQ(graph.edges[0].head_port, "0");
  EXPECT_EQ(graph.edges[1].head_port, "1");
  EXPECT_EQ(graph.edges[1].tail_port, "2");
}

// As HIP prints it: no spaces between attributes, no semicolon after an edge.
TEST(DotReader, ReadsWhatHipPrints) {
  const DotFile file = read(
      "digraph dot {\nsubgraph cluster_0 {\nlabel=\"graph_0\"graph[style=\"dashed\"];\n"
      "\"graph_0_node_0\"[style=\"solid\"shape=\"rectangle\"label=\"0\nEMPTY\"];\n"
      "\"graph_0_node_1\"[style=\"solid\"shape=\"rectangle\"label=\"1\nHOST\"];\n"
      "\"graph_0_node_0\" -> \"graph_0_node_1\"\n}\n}\n");
  ASSERT_THAT(file.graphs, SizeIs(1));
  EXPECT_THAT(file.graphs[0].nodes, SizeIs(2));
  EXPECT_THAT(file.graphs[0].edges, SizeIs(1));
}

TEST(DotReader, ReadsGraphsThatStandInEachOtherOrInNone) {
  const DotFile file = read(
      "strict digraph \"dot\" { node [shape=box]; a; /* a\ncomment */ b [label=\"x\\\"y\"];\n"
      "# of the preprocessor\na -> b -> c [style=dashed]; c // the last\n"
      "subgraph cluster_1 { label = \"inner\"; d; { e } subgraph cluster_2 { f } subgraph { h } }\n"
      "}");
  ASSERT_THAT(file.graphs, SizeIs(3));
  EXPECT_THAT(file.graphs[0].nodes, SizeIs(3));
  EXPECT_EQ(file.graphs[0].nodes[1].label, "x\"y");
  EXPECT_THAT(file.graphs[0].edges, SizeIs(2));
  EXPECT_EQ(file.graphs[1].name, "inner");
  EXPECT_THAT(file.graphs[1].nodes, SizeIs(3));
  EXPECT_THAT(file.graphs[2].nodes, SizeIs(1));
}

TEST(DotReader, SaysWhereAFileIsNone) {
  const struct {
    std::string text;
    std::string error;
  } cases[] = {
      {"", "g.dot:1:1: error: found the end of the file; expected 'digraph'"},
      {"graph g { a }", "g.dot:1:1: error: found 'graph'; expected 'digraph'"},
      {"digraph g", "g.dot:1:10: error: found the end of the file; expected '{'"},
      {"digraph g {\n}\n", "g.dot:3:1: error: the file ends without a node."},
      {"digraph { a", "g.dot:1:12: error: found the end of the file; expected a node, an edge"},
      {"digraph { a } b", "g.dot:1:15: error: found 'b'; expected the end of the file."},
      {"digraph { a\n  a }", "g.dot:2:3: error: node 'a' stands twice; ids differ."},
      {"digraph { a; a -> b }", "g.dot:1:14: error: the file has no node 'b'."},
      {"digraph { a -> }", "g.dot:1:16: error: found '}'; expected the node that the edge leads"},
      {"digraph { a -> a b", "g.dot:1:19: error: found the end of the file"},
      {"digraph { a [label \"x\"] }", "g.dot:1:20: error: found 'x'; expected '=' after 'label'."},
      {"digraph { a [label=] }", "g.dot:1:20: error: found ']'; expected a value."},
      {"digraph { a [=] }", "g.dot:1:14: error: found '='; expected an attribute or ']'."},
      {"digraph { a [\n", "g.dot:2:1: error: found the end of the file; expected an attribute"},
      {"digraph { a [label=\"x\n", "g.dot:1:20: error: found a string without an end"},
      {"digraph { /* a", "g.dot:1:11: error: found a comment without an end"},
      {"digraph { label= }", "g.dot:1:18: error: found '}'; expected a value."},
      {"digraph { subgraph a; }", "g.dot:1:21: error: found ';'; expected '{'"},
      {"digraph { a -- b }", "g.dot:1:13: error: found '-'; expected a node, an edge"},
      {"digraph { a:p }", "g.dot:1:12: error: found ':'; expected a node, an edge"},
      {"digraph { a [label=<b>] }", "g.dot:1:20: error: found '<'; expected a value."},
      {"digraph { subgraph cluster_1 { a } subgraph cluster_2 { b }\n  a -> b }",
       "g.dot:2:3: error: the edge leads from 'a' to 'b', which is of another graph."},
  };
  for (const auto& [text, error] : cases) EXPECT_THAT(error_of_text(text), StartsWith(error));
}

TEST(DotReader, HasLimits) {
  Limits limits;
  limits.input_bytes = 20;
  const auto error_within = [&](const std::string& text) {
    const Result<DotFile> file = read_dot_file(text, "g.dot", limits);
    return file ? "no error" : file.error().message;
  };
  EXPECT_EQ(error_within("digraph { a }"), "no error");
  EXPECT_EQ(error_within("digraph { abcdefgh; }"),
            "g.dot:1:1: error: the text has 21 bytes, more than the limit of 20.");
  limits = {};
  limits.expansion_count = 2;
  EXPECT_EQ(error_within("digraph { a; b }"), "no error");
  EXPECT_EQ(error_within("digraph { a; b; c }"),
            "g.dot:1:17: error: there are more nodes than the limit of 2.");
  limits = {};
  EXPECT_EQ(error_within("digraph { " + std::string(256, 'x') + " }"),
            "g.dot:1:11: error: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' has 256 bytes, "
            "more than the limit of 255.");
  EXPECT_THAT(error_within("digraph { a [label=\"" + std::string(70'000, 'x') + "\"] }"),
              HasSubstr("has 70000 bytes, more than the limit of 65536."));
  EXPECT_THAT(error_within("digraph " + std::string(65, '{')),
              HasSubstr("subgraphs stand in each other, more than the limit of 64."));
}

// Each edge of a chain keeps its ports, so a long one would be kept many times.
TEST(DotReader, TakesShortPortsAndOnlyOfEdgesThemselves) {
  const std::string port = std::string(17, '1');
  EXPECT_THAT(error_of_text("digraph {\na -> b [headlabel=" + port + "]\na b }"),
              AllOf(StartsWith("g.dot:2:19: error: "), HasSubstr("17 bytes")));
  EXPECT_THAT(error_of_text("digraph {\n edge [headlabel=1]\na b a -> b }"),
              StartsWith("g.dot:2:2: error: ports stand on the edges themselves"));
}

TEST(DotReader, EndsAtAStop) {
  Stop stop;
  const StopScope scope(&stop);
  stop.request();
  EXPECT_THAT(error_of_text("digraph { a }"), HasSubstr("reading was stopped here."));
}

// Every beginning of a file is an error, and no byte that stands elsewhere ends the reader.
TEST(DotReader, RefusesEveryBeginningOfAFile) {
  const std::string text = graph_corpus_text("gradient-norm.dot");
  ASSERT_NE(text, "");
  EXPECT_TRUE(read_dot_file(text, "g.dot"));
  for (size_t size = 0; size + 2 < text.size(); ++size) {
    const Result<DotFile> file = read_dot_file(text.substr(0, size), "g.dot");
    ASSERT_FALSE(file) << size;
    ASSERT_THAT(file.error().message, StartsWith("g.dot:"));
  }
}

}  // namespace
}  // namespace interlock::dot_reader_test
