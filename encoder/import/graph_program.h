// The program of a graph: a dispatch for each node, on one graph queue, with its edges; accesses
// are those of the labels and of the access sets. A child graph stands where its node is, between a
// dispatch that begins it and one that ends it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/import/access_sets.h"
#include "encoder/import/dot_reader.h"
#include "encoder/program/draft.h"
#include "encoder/program/limits.h"
#include "encoder/program/result.h"

namespace interlock {

// What is known of the graph, and what is not.
struct ImportCounts {
  uint64_t node_count = 0;  // With those of child graphs, as often as these stand there.
  uint64_t edge_count = 0;  // Likewise.
  uint64_t programmatic_count = 0;
  // Nodes that work and of which no accesses are known: hazards with them are not found.
  std::vector<std::string> unknown;  // Labels.
  uint64_t half_known_count = 0;     // Copies of which one end is in no memory that has an address.
  uint64_t outside_count = 0;        // Nodes that signal or wait for work outside the graph.
  uint64_t other_port_count = 0;     // Edges of unknown ports, taken for programmatic.
  uint64_t left_out_count = 0;  // Nodes of graphs that stand for no node: bodies of conditions.
  std::vector<uint64_t> unused_lines;  // Of the access sets: they match no node.
};

struct ImportedGraph {
  ProgramDraft program;  // build() takes it.
  ImportCounts counts;
};

// `file_name` names the graph in errors: a cycle of edges, a graph that contains itself, more nodes
// or edges than a program may have. Polls is_stopped().
// Cost: linear in the nodes and edges of what is spelled out, times log; for each kernel the access
// sets before the one that matches.
Result<ImportedGraph> import_graph(const DotFile& file, const AccessSets& sets,
                                   std::string_view file_name, const Limits& limits = {});

// Sentences, one a line: "12 nodes, 14 edges; 3 of 12 nodes have no accesses: nothing is known of
// them." and what else is to be said.
std::string text_of(const ImportCounts& counts);

}  // namespace interlock
