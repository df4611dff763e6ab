// StreamPlan: a graph of dispatches on several streams. A stream executes in order; an event that
// one stream records and another waits for is an edge between them.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cuda/dispatch_graph.h"

namespace interlock {

struct StreamAction {
  enum class Kind : uint8_t {
    kLaunch,  // Of dispatch `index`.
    kRecord,  // Event `index`: happens once all before it on the stream is over.
    kWait,    // What follows on the stream starts after event `index`.
  };

  Kind kind = Kind::kLaunch;
  uint32_t stream = 0;
  uint32_t index = 0;

  bool operator==(const StreamAction&) const = default;
};

struct StreamPlan {
  uint32_t stream_count = 0;
  uint32_t event_count = 0;           // A wait is for the last record before it.
  std::vector<StreamAction> actions;  // As the host issues them; launches are in issue order.
};

// Deals the dispatches out to at most `stream_count` streams, and the joins of the graph to these
// or to streams of their own. Where there is a stream whose work all precedes a dispatch, the
// dispatch continues it; `seed` chooses between several. If `stream_count` is as large as the most
// dispatches without order among them, then one is reachable from another in the plan iff it is in
// the graph. With fewer streams the plan has more order: that within a stream.
// Requires: stream_count > 0.
// Cost: linear in nodes and edges, times the streams.
StreamPlan plan_streams(const DispatchGraph& graph, uint32_t stream_count, uint64_t seed);

}  // namespace interlock
