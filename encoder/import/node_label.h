// What the label of a node says. It has two forms: lines ("0", "_Z5saxpyifPfS_"), and with flags,
// as cudaGraphDebugDotFlagsVerbose, the cells of a record ("{KERNEL | {ID | 0 (topoId: 3) | …}}").
// Sources: as dot_reader.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "encoder/import/dot_reader.h"
#include "encoder/program/range.h"

namespace interlock {

enum class GraphNodeKind : uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kHost,     // A callback.
  kEmpty,    // Joins others.
  kOutside,  // Records or waits for an event, or an external semaphore: of work outside the graph.
  kChildGraph,  // Stands for all nodes of another graph of the file.
  kOther,       // Allocations, conditional nodes, and what comes later.
};

struct NodeContent {
  GraphNodeKind kind = GraphNodeKind::kOther;
  // Of a kernel its symbol, of a child graph its name; else the word of the label, as "MEMCPY".
  std::string name;
  // Of a memcpy and a memset whose label has them: addresses, in one or more rows.
  std::optional<StridedRange> source;
  std::optional<StridedRange> destination;
};

// `is_graph` says whether a graph of the file has a name.
NodeContent content_of(const DotNode& node, const std::function<bool(std::string_view)>& is_graph);

}  // namespace interlock
