// What is known of a graph that was imported, and what is not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace interlock {

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
  std::vector<uint64_t> unused_lines;  // Of the access sets: for no node.
};

// Sentences, one a line: "12 nodes, 14 edges; 3 of 12 nodes have no accesses: nothing is known of
// them." and what else is to be said.
std::string text_of(const ImportCounts& counts);

}  // namespace interlock
