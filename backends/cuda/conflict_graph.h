// The order that an encoder could ask for instead of barriers: every conflict, and nothing else.
#pragma once

#include <cstdint>

#include "backends/cuda/dispatch_graph.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/bytes/byte_segments.h"

namespace interlock {

// Programs of up to so many dispatches get the fewest edges.
inline constexpr uint32_t kConflictGraphWindow = 65'536;

// n writers, and m readers of all that they wrote, are n * m edges.
inline constexpr uint64_t kConflictGraphEdgesMax = uint64_t{1} << 25;

struct ConflictGraphLimits {
  uint32_t window = kConflictGraphWindow;  // In dispatches; a positive multiple of 64.
  uint64_t edge_count = kConflictGraphEdgesMax;
};

// Returns the graph without joins in which one dispatch is reachable from another iff a chain of
// conflicts leads there in issue order, whatever the program's own sync is. So whatever overlaps
// ends as issue order does, even if the program lacks barriers. What is not declared, and what
// slices of one dispatch do to each other, is not ordered.
//
// Edges are the transitive reduction, which is unique: without any one of them a conflict would be
// unordered. In a longer program than the window that holds of the edges within it; an edge that
// spans more dispatches than the window may repeat what others say together.
//
// Requires: `segments` was built from `program`. Errors: there are too many edges.
// Cost: for each byte segment of each operand, the accesses there since the last write but one; and
// window / 64 per edge. Memory: linear, the edges, and window^2 / 8 bytes at the very most.
Result<DispatchGraph> conflict_graph_of(const Program& program, const ByteSegments& segments,
                                        const ConflictGraphLimits& limits = {});

}  // namespace interlock
