// CudaRecording: a program on the device, ready to execute any number of times on the same static
// buffers, as captured graphs do.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "backends/interface/image.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

class CudaDevice;

// How overlap mode issues a program: kStreams, kGraph and kCapturedGraph in the order of its sync
// among whole dispatches; on fewer streams than dispatches that may overlap, a stream adds its own.
// A replay of a capture is a launch of one graph in all of them (recorded_graphs.h); with a graph,
// what stands between two replays is another one, and all are launched one after the other.
// Each edge of CUDA is a full barrier between the work at its ends: an execution-only or a scoped
// barrier orders what it says, and makes more visible.
enum class CudaLowering : uint8_t {
  kOneStream,      // All dispatches in issue order, one after the other.
  kStreams,        // Several streams, with events between them.
  kGraph,          // A graph: a node per dispatch, and an edge per dependency (dispatch_graph.h).
  kCapturedGraph,  // The graph that stream capture makes of kStreams.
  kConflictGraph,  // A graph of the conflicts, and not of the sync (conflict_graph.h).
};

struct CudaRecordingOptions {
  CudaLowering lowering = CudaLowering::kGraph;
  uint32_t stream_count = 8;
  uint64_t seed = 0;      // Chooses between streams that suit, and which dispatches are delayed.
  uint64_t delay_ns = 0;  // Of the start, and of every second dispatch; 0: of none.
};

class CudaRecording {
 public:
  // Records the program in overlap mode, or the steps of a schedule one after the other.
  // Errors: as CUDA's; late writes exceed `limit_bytes`; conflicts are too many for a graph.
  static Result<std::unique_ptr<CudaRecording>> record(std::shared_ptr<CudaDevice> device,
                                                       const Program& program,
                                                       const CudaRecordingOptions& options);
  static Result<std::unique_ptr<CudaRecording>> record(std::shared_ptr<CudaDevice> device,
                                                       const Program& program,
                                                       const Schedule& schedule,
                                                       uint64_t limit_bytes);
  ~CudaRecording();

  // Executes on these bytes; returns the final ones. Requires: no other recording of the device
  // executes at the same time. Errors: as CUDA's; the device wrote outside of memories.
  Result<MemoryImage> execute(const MemoryImage& image);

  // As above on these memories of `image`; the others have what the last execution left there.
  Result<MemoryImage> execute_again(const MemoryImage& image, std::span<const MemoryId> replaced);

  // Executes on what is there; returns how long the device took.
  Result<double> measure_seconds();

 private:
  class State;
  explicit CudaRecording(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace interlock
