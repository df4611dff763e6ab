// HostCudaRuntime: a CUDA runtime that executes on the host. Streams, events and graphs order work
// as CUDA says and no more: of the work that may run, a seeded choice takes one whenever somebody
// asks whether the device is done, and does a part of it. Each launch is a fiber on an
// EmulatedDevice of its own, which gives way between blocks. Calls fail where a test wants them to,
// and what is not given back is counted. Capture, graphs and their launches are in
// host_cuda_graphs.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/cuda_runtime.h"
#include "backends/cuda/emulation/device.h"
#include "simulator/schedules/choice.h"

namespace interlock {

struct HostCudaOptions {
  uint64_t seed = 1;
  uint32_t block_thread_count_max = 4;  // Fewer threads than a device has: a fiber each.
  // Work also goes on while the host makes other calls: some of it, by chance.
  bool runs_ahead = false;
};

class HostCudaRuntime final : public CudaRuntime {
 public:
  explicit HostCudaRuntime(const HostCudaOptions& options = {});
  ~HostCudaRuntime() override;

  // Call number `call` from now on (0: the next) fails with `status`; if that loses a device, all
  // later ones do as well.
  void fail_call(uint64_t call, CudaStatus status) { failing_ = {call_count_ + call, status}; }
  uint64_t call_count() const { return call_count_; }
  uint64_t query_count() const { return query_count_; }      // Calls of query().
  uint64_t failure_count() const { return failure_count_; }  // Calls that failed.

  // Calls that succeeded.
  struct Counts {
    uint64_t launches = 0;  // Of kernels, one by one.
    uint64_t instantiations = 0;
    uint64_t graph_launches = 0;
    uint64_t updates = 0;
  };
  const Counts& counts() const { return counts_; }

  // Work that never ends: queries of unfinished streams and events say so for ever.
  void hang() { hangs_ = true; }

  // Called with each launch when it has run; a status that is no success is the result of a later
  // call, as on a device.
  std::function<CudaStatus(const DeviceLaunch&)> on_launch;

  // What is wrong with a kernel: the reason of a launch that failed.
  const std::optional<Error>& kernel_error() const { return kernel_error_; }

  // Allocations, streams, events, graphs and executables that are there.
  size_t live_count() const;

  std::string text_of(CudaStatus status) const override;
  CudaStatus count_devices(int& count) override;
  CudaStatus open_device(int device, std::string& name) override;
  CudaStatus allocate(uint64_t size_bytes, uint8_t*& memory) override;
  CudaStatus release(uint8_t* memory) override;
  CudaStatus allocate_shared(uint64_t size_bytes, uint8_t*& memory) override;
  CudaStatus release_shared(uint8_t* memory) override;
  CudaStatus copy(void* destination, const void* source, uint64_t size_bytes,
                  CudaStream stream) override;
  CudaStatus create_stream(CudaStreamKind kind, CudaStream& stream) override;
  CudaStream legacy_stream() override;
  CudaStatus destroy_stream(CudaStream stream) override;
  CudaStatus query(CudaStream stream) override;
  CudaStatus create_event(bool has_time, CudaEvent& event) override;
  CudaStatus destroy_event(CudaEvent event) override;
  CudaStatus query(CudaEvent event) override;
  CudaStatus record(CudaEvent event, CudaStream stream) override;
  CudaStatus wait(CudaStream stream, CudaEvent event) override;
  CudaStatus elapsed(CudaEvent first, CudaEvent second, double& seconds) override;
  CudaStatus launch(const DeviceLaunch& launch, CudaStream stream) override;
  CudaStatus begin_capture(CudaStream stream) override;
  CudaStatus end_capture(CudaStream stream, CudaGraphSource& graph) override;
  CudaStatus create_graph(CudaGraphSource& graph) override;
  CudaStatus destroy_graph(CudaGraphSource graph) override;
  CudaStatus add_launch(CudaGraphSource graph, std::span<const CudaGraphNode> predecessors,
                        const DeviceLaunch& launch, CudaGraphNode& node) override;
  CudaStatus add_join(CudaGraphSource graph, std::span<const CudaGraphNode> predecessors,
                      CudaGraphNode& node) override;
  CudaStatus instantiate(CudaGraphSource graph, CudaGraphExecutable& executable) override;
  CudaStatus launch(CudaGraphExecutable executable, CudaStream stream) override;
  CudaStatus update(CudaGraphExecutable executable, CudaGraphNode node,
                    const DeviceLaunch& launch) override;
  CudaStatus destroy_executable(CudaGraphExecutable executable) override;

 private:
  struct Work;
  struct Stream;
  struct Event;
  struct GraphNode;
  struct Graph;
  using WorkHandle = std::shared_ptr<Work>;

  CudaStatus enter();  // Every call: counts it, and fails if it is its turn.
  CudaStatus fail(CudaStatus status);
  bool is_on_device(const void* address) const;
  void add_work(Stream& stream, std::function<CudaStatus(Work&)> body);
  void join_blocking(Stream& stream);
  CudaStatus progress(const WorkHandle& until);
  CudaStatus run_ahead();
  CudaStatus run_some_work();
  CudaStatus run_part(Work& work);
  CudaStatus run_kernel(Work& work, const DeviceLaunch& launch);
  GraphNode* add_node(Graph& graph, std::vector<GraphNode*> predecessors,
                      std::optional<DeviceLaunch> launch);

  HostCudaOptions options_;
  SeededChoice choice_;
  uint64_t ahead_period_ = 0;  // Work goes on in one of so many calls: a device is fast or slow.
  std::vector<std::unique_ptr<EmulatedDevice>> idle_devices_;
  std::vector<std::unique_ptr<Fiber>> idle_fibers_;
  std::optional<Error> kernel_error_;
  struct Failing {
    uint64_t call = 0;
    CudaStatus status = CudaStatus::kSuccess;
  };
  std::optional<Failing> failing_;
  uint64_t call_count_ = 0;
  uint64_t query_count_ = 0;
  uint64_t failure_count_ = 0;
  Counts counts_;
  bool hangs_ = false;
  CudaStatus sticky_ = CudaStatus::kSuccess;
  std::vector<WorkHandle> pending_;
  std::map<uint8_t*, std::pair<uint64_t, std::unique_ptr<uint8_t[]>>> allocations_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::unique_ptr<Stream> legacy_;
  std::vector<std::unique_ptr<Event>> events_;
  std::vector<std::unique_ptr<Graph>> graphs_;  // Executables too, which are graphs here.
  Graph* captured_ = nullptr;                   // Between begin_capture() and end_capture().
};

}  // namespace interlock
