// CudaRuntime: the calls of the CUDA runtime that the backend makes, and no other. The backend
// itself needs no header of CUDA and compiles everywhere; a build with nvcc has the real runtime,
// and tests have one that executes on the host and fails when it is told to.
//
// Names of the calls that stand behind each function are in its comment. All are asynchronous where
// those are; what a failed launch did wrong may be the result of any later call.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "backends/cuda/kernels/launch_arguments.h"
#include "encoder/program/ids.h"

struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;

namespace interlock {

// cudaStream_t, cudaEvent_t, cudaGraph_t, cudaGraphNode_t, cudaGraphExec_t.
using CudaStream = CUstream_st*;
using CudaEvent = CUevent_st*;
using CudaGraphSource = CUgraph_st*;
using CudaGraphNode = CUgraphNode_st*;
using CudaGraphExecutable = CUgraphExec_st*;

// The results of calls, by CUDA's numbers (cudaError_t): those that the backend tells apart. Any
// other number is an error as well.
enum class CudaStatus : int {
  kTimeout = -1,  // Not one of CUDA: the device did not answer in time.
  kSuccess = 0,
  kMemoryAllocation = 2,
  kInsufficientDriver = 35,
  kNoDevice = 100,
  kEccUncorrectable = 214,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailure = 719,
  kUnknown = 999,
};

// True iff the process cannot use the device any more: CUDA then returns the same error from every
// call (CUDA Runtime API, "cudaError"); and so where the device does not answer.
inline bool is_lost(CudaStatus status) {
  switch (status) {
    case CudaStatus::kSuccess:
    case CudaStatus::kMemoryAllocation:
    case CudaStatus::kInsufficientDriver:
    case CudaStatus::kNoDevice:
    case CudaStatus::kNotReady:
      return false;
    case CudaStatus::kTimeout:
    case CudaStatus::kEccUncorrectable:
    case CudaStatus::kIllegalAddress:
    case CudaStatus::kLaunchTimeout:
    case CudaStatus::kContextIsDestroyed:
    case CudaStatus::kAssert:
    case CudaStatus::kHardwareStackError:
    case CudaStatus::kIllegalInstruction:
    case CudaStatus::kMisalignedAddress:
    case CudaStatus::kInvalidAddressSpace:
    case CudaStatus::kInvalidPc:
    case CudaStatus::kLaunchFailure:
    case CudaStatus::kUnknown:
      return true;
  }
  return false;  // A status that we have no name for.
}

// Which function of device_kernels.h a launch runs.
enum class DeviceFunction : uint8_t {
  kRunSlices,
  kDigestMix,
  kApplyMix,
  kCommitAtomics,
  kDelay,  // Only lets time pass.
};

struct DeviceLaunch {
  DeviceFunction function = DeviceFunction::kRunSlices;
  KernelId kernel;  // Of kRunSlices.
  uint32_t block_count = 1;
  uint32_t thread_count = 1;  // Of each block.
  LaunchArguments arguments;  // Of kRunSlices, kDigestMix and kApplyMix.
  CommitArguments commit;     // Of kCommitAtomics.
  uint64_t delay_ns = 0;      // Of kDelay.
};

enum class CudaStreamKind : uint8_t {
  kNonBlocking,
  kBlocking,  // Joined by the legacy stream.
  kLegacy,    // The one that is there.
};

class CudaRuntime {
 public:
  virtual ~CudaRuntime() = default;

  // "cudaErrorNoDevice: no CUDA-capable device is detected".
  virtual std::string text_of(CudaStatus status) const = 0;

  // cudaGetDeviceCount. `count` is set iff the call succeeds.
  virtual CudaStatus count_devices(int& count) = 0;
  // cudaSetDevice, cudaGetDeviceProperties. `name`: of the device, with its compute capability and
  // the versions of the software.
  virtual CudaStatus open_device(int device, std::string& name) = 0;

  // cudaMalloc: at a multiple of 256. cudaFree.
  virtual CudaStatus allocate(uint64_t size_bytes, uint8_t*& memory) = 0;
  virtual CudaStatus release(uint8_t* memory) = 0;
  // cudaHostAlloc: memory of the host that the device reaches at the same address. cudaFreeHost.
  virtual CudaStatus allocate_shared(uint64_t size_bytes, uint8_t*& memory) = 0;
  virtual CudaStatus release_shared(uint8_t* memory) = 0;
  // cudaMemcpyAsync, either way or within the device.
  virtual CudaStatus copy(void* destination, const void* source, uint64_t size_bytes,
                          CudaStream stream) = 0;

  // cudaStreamCreateWithFlags (cudaStreamNonBlocking or cudaStreamDefault). cudaStreamQuery:
  // kNotReady while it works.
  virtual CudaStatus create_stream(CudaStreamKind kind, CudaStream& stream) = 0;
  // cudaStreamLegacy: there from the start. What it does comes after all before it on blocking
  // streams, and before all after it there.
  virtual CudaStream legacy_stream() = 0;
  virtual CudaStatus destroy_stream(CudaStream stream) = 0;
  virtual CudaStatus query(CudaStream stream) = 0;

  // cudaEventCreateWithFlags, with or without timing. cudaEventRecord, cudaStreamWaitEvent.
  virtual CudaStatus create_event(bool has_time, CudaEvent& event) = 0;
  virtual CudaStatus destroy_event(CudaEvent event) = 0;
  virtual CudaStatus query(CudaEvent event) = 0;
  virtual CudaStatus record(CudaEvent event, CudaStream stream) = 0;
  virtual CudaStatus wait(CudaStream stream, CudaEvent event) = 0;
  // cudaEventElapsedTime.
  virtual CudaStatus elapsed(CudaEvent first, CudaEvent second, double& seconds) = 0;

  // cudaLaunchKernel.
  virtual CudaStatus launch(const DeviceLaunch& launch, CudaStream stream) = 0;

  // cudaStreamBeginCapture (of this host thread), cudaStreamEndCapture.
  virtual CudaStatus begin_capture(CudaStream stream) = 0;
  virtual CudaStatus end_capture(CudaStream stream, CudaGraphSource& graph) = 0;

  // cudaGraphCreate, cudaGraphAddKernelNode, cudaGraphAddEmptyNode.
  virtual CudaStatus create_graph(CudaGraphSource& graph) = 0;
  virtual CudaStatus destroy_graph(CudaGraphSource graph) = 0;
  virtual CudaStatus add_launch(CudaGraphSource graph, std::span<const CudaGraphNode> predecessors,
                                const DeviceLaunch& launch, CudaGraphNode& node) = 0;
  virtual CudaStatus add_join(CudaGraphSource graph, std::span<const CudaGraphNode> predecessors,
                              CudaGraphNode& node) = 0;

  // cudaGraphInstantiate, cudaGraphLaunch, cudaGraphExecDestroy. A launch of an executable comes
  // after the one before it, on whatever stream that was.
  virtual CudaStatus instantiate(CudaGraphSource graph, CudaGraphExecutable& executable) = 0;
  virtual CudaStatus launch(CudaGraphExecutable executable, CudaStream stream) = 0;
  // cudaGraphExecKernelNodeSetParams: what later launches of the executable run in place of `node`,
  // of the graph that it was instantiated from, which is still there. The function is the same.
  virtual CudaStatus update(CudaGraphExecutable executable, CudaGraphNode node,
                            const DeviceLaunch& launch) = 0;
  virtual CudaStatus destroy_executable(CudaGraphExecutable executable) = 0;
};

// The runtime of this build, of runtime_calls.cc; null if it has none (missing_runtime.cc).
CudaRuntime* system_cuda_runtime();

}  // namespace interlock
