// QueueStreams: a program with several queues, and with the host, on streams, events and graphs.
// Made without any device; queue_run.h issues it.
//
//   serial         a stream that does not block, or one that does; the legacy stream.
//   concurrent     a few streams; a seed says which dispatch goes to which, and a barrier lets each
//                  of them wait for the others.
//   graph          the operations between two signals, waits or statements of the host are a graph
//                  with an edge for each edge of the program; a stream launches one after
//                  another.
//   signal, set    records an event on each stream of the queue; wait, await: its streams wait for
//                  them. So does the host.
//   host idle      the host waits for all streams of the queues.
//   host signals   nothing: what waits for it is issued after it.
//
// More than the program says: barriers, signals and waits concern all stages and all memory; a
// stream orders what it has, edges that are programmatic are full, and graphs of one queue come one
// after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/cuda/cuda_runtime.h"
#include "backends/cuda/dispatch_graph.h"
#include "backends/interface/poison.h"
#include "encoder/program/program.h"

namespace interlock {

struct QueueAction {
  enum class Kind : uint8_t {
    kDispatch,      // `index` on the stream.
    kGraph,         // QueueStreams::graphs[index] on the stream.
    kRecord,        // Event `index` on the stream. Every event is recorded once.
    kWait,          // What follows on the stream comes after event `index`.
    kHostDispatch,  // The host reads or writes as `index` says.
    kHostWait,      // The host goes on after event `index`.
  };

  Kind kind = Kind::kDispatch;
  uint32_t stream = 0;
  uint32_t index = 0;

  bool operator==(const QueueAction&) const = default;
};

struct QueueStreams {
  std::vector<CudaStreamKind> streams;  // By number.
  uint32_t event_count = 0;
  std::vector<DispatchGraph> graphs;
  std::vector<QueueAction> actions;  // As the host carries them out.
};

// `order`: issue_order_of() the program. `lane_count`: the streams of a concurrent queue, at least
// one. Cost: linear, times the streams.
QueueStreams plan_queue_streams(const Program& program, std::span<const StatementId> order,
                                const Poison& poison, uint32_t lane_count, uint64_t seed);

}  // namespace interlock
