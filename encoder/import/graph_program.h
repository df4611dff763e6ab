// The program of a graph: a dispatch for each node, on one graph queue, with its edges; accesses
// are those of the labels and of the access sets. The graph is the first of the file that stands
// for no node; a child graph stands where its node is, between a dispatch that begins it and one
// that ends it.
#pragma once

#include <string_view>

#include "encoder/import/access_sets.h"
#include "encoder/import/dot_reader.h"
#include "encoder/import/import_counts.h"
#include "encoder/program/draft.h"
#include "encoder/program/limits.h"
#include "encoder/program/result.h"

namespace interlock {

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

}  // namespace interlock
