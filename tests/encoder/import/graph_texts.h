// Graphs as cudaGraphDebugDotPrint() writes them, for tests.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "encoder/import/access_sets.h"
#include "encoder/import/dot_reader.h"
#include "encoder/import/graph_program.h"

namespace interlock {

// A file of one cluster with these statements.
inline std::string dot_of(const std::string& statements) {
  return "digraph dot {\nsubgraph cluster_1 {\nlabel=\"graph_1\" graph[style=\"dashed\"];\n" +
         statements + "}\n}\n";
}

// A kernel node without flags: two lines in an octagon.
inline std::string kernel_node(int index, const std::string& symbol) {
  return "\"graph_1_node_" + std::to_string(index) +
         "\"[style=\"bold\" shape=\"octagon\" label=\"" + std::to_string(index) + "\n" + symbol +
         "\n\"];\n";
}

inline std::string edge(int from, int to, const std::string& attributes = " [headlabel=0]") {
  return "\"graph_1_node_" + std::to_string(from) + "\" -> \"graph_1_node_" + std::to_string(to) +
         "\"" + attributes + ";\n";
}

inline std::string graph_corpus_text(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(INTERLOCK_SOURCE_DIR "/corpus/graphs/" + name).rdbuf();
  return text.str();
}

}  // namespace interlock
