// The dot file of a CUDA graph, as cudaGraphDebugDotPrint() writes it: a cluster for each graph, in
// it the nodes and the edges among them. What labels say is the business of node_label.h. Sources:
// the DOT language (graphviz.org/doc/info/lang.html), of which this is the part that such files
// have; a dump in pytorch/pytorch#126753; and hipGraphDebugDotPrint(), which prints the
// same (ROCm/clr, hipamd/src/hip_graph_internal.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/limits.h"
#include "encoder/program/result.h"

namespace interlock {

struct DotNode {
  std::string id;     // "graph_1_node_0"
  std::string label;  // As it is written: escapes are not resolved.
  std::string shape;  // "octagon", "record", …
  uint64_t line = 0;
  uint64_t column = 1;
};

struct DotEdge {
  size_t from = 0;  // Into the nodes of the graph.
  size_t to = 0;
  std::string head_port;  // Its `headlabel`, or empty.
  std::string tail_port;  // Its `taillabel`, or empty.
};

struct DotGraph {
  std::string name;  // "graph_1": the label of its cluster.
  std::vector<DotNode> nodes;
  std::vector<DotEdge> edges;
  uint64_t line = 1;  // Where it begins.
  uint64_t column = 1;
};

struct DotFile {
  std::vector<DotGraph> graphs;  // That of the file first, then those within it.
};

// Errors: "file:line:column: error: …". Among them: no node at all, a node that stands twice, an
// edge between nodes of two graphs or of one that is not there. Polls is_stopped(). Cost: linear in
// the text.
Result<DotFile> read_dot_file(std::string_view text, std::string_view file_name,
                              const Limits& limits = {});

}  // namespace interlock
