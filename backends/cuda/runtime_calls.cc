// The CUDA runtime itself. The only source that sees its headers.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <type_traits>

#include "backends/cuda/cuda_runtime.h"
#include "backends/cuda/kernels/device_functions.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

static_assert(static_cast<int>(CudaStatus::kMemoryAllocation) == cudaErrorMemoryAllocation);
static_assert(static_cast<int>(CudaStatus::kInsufficientDriver) == cudaErrorInsufficientDriver);
static_assert(static_cast<int>(CudaStatus::kNoDevice) == cudaErrorNoDevice);
static_assert(static_cast<int>(CudaStatus::kEccUncorrectable) == cudaErrorECCUncorrectable);
static_assert(static_cast<int>(CudaStatus::kNotReady) == cudaErrorNotReady);
static_assert(static_cast<int>(CudaStatus::kIllegalAddress) == cudaErrorIllegalAddress);
static_assert(static_cast<int>(CudaStatus::kLaunchTimeout) == cudaErrorLaunchTimeout);
static_assert(static_cast<int>(CudaStatus::kContextIsDestroyed) == cudaErrorContextIsDestroyed);
static_assert(static_cast<int>(CudaStatus::kAssert) == cudaErrorAssert);
static_assert(static_cast<int>(CudaStatus::kHardwareStackError) == cudaErrorHardwareStackError);
static_assert(static_cast<int>(CudaStatus::kIllegalInstruction) == cudaErrorIllegalInstruction);
static_assert(static_cast<int>(CudaStatus::kMisalignedAddress) == cudaErrorMisalignedAddress);
static_assert(static_cast<int>(CudaStatus::kInvalidAddressSpace) == cudaErrorInvalidAddressSpace);
static_assert(static_cast<int>(CudaStatus::kInvalidPc) == cudaErrorInvalidPc);
static_assert(static_cast<int>(CudaStatus::kLaunchFailure) == cudaErrorLaunchFailure);
static_assert(static_cast<int>(CudaStatus::kUnknown) == cudaErrorUnknown);

// What CUDA calls the handles of cuda_runtime.h.
cudaStream_t real(CudaStream stream) { return reinterpret_cast<cudaStream_t>(stream); }
cudaEvent_t real(CudaEvent event) { return reinterpret_cast<cudaEvent_t>(event); }
cudaGraph_t real(CudaGraphSource graph) { return reinterpret_cast<cudaGraph_t>(graph); }
cudaGraphExec_t real(CudaGraphExecutable graph) { return reinterpret_cast<cudaGraphExec_t>(graph); }
cudaGraphNode_t real(CudaGraphNode node) { return reinterpret_cast<cudaGraphNode_t>(node); }
const cudaGraphNode_t* real(const CudaGraphNode* nodes) {
  return reinterpret_cast<const cudaGraphNode_t*>(nodes);
}

CudaStatus status_of(cudaError_t error) {
  // An error that is not sticky stays the last one until it is read, for whoever asks next.
  if (error != cudaSuccess) cudaGetLastError();
  return static_cast<CudaStatus>(error);
}

// A launch as CUDA takes it: its function, its grid and the address of its one argument. The
// launch must outlive it.
class LaunchCall {
 public:
  explicit LaunchCall(const DeviceLaunch& launch)
      : grid_(launch.block_count), block_(launch.thread_count) {
    const DeviceFunctions& functions = device_functions();
    switch (launch.function) {
      case DeviceFunction::kRunSlices:
        set(functions.run_slices[launch.kernel.index], launch.arguments);
        shared_bytes_ = kSliceSharedBytes;
        break;
      case DeviceFunction::kDigestMix:
        set(functions.digest_mix, launch.arguments);
        break;
      case DeviceFunction::kApplyMix:
        set(functions.apply_mix, launch.arguments);
        break;
      case DeviceFunction::kCommitAtomics:
        set(functions.commit_atomics, launch.commit);
        break;
      case DeviceFunction::kDelay:
        set(functions.delay, launch.delay_ns);
        break;
    }
  }

  CudaStatus issue(CudaStream stream) {
    return status_of(
        cudaLaunchKernel(function_, grid_, block_, arguments_.data(), shared_bytes_, real(stream)));
  }

  cudaKernelNodeParams node_params() {
    cudaKernelNodeParams params{};
    params.func = const_cast<void*>(function_);
    params.gridDim = grid_;
    params.blockDim = block_;
    params.sharedMemBytes = shared_bytes_;
    params.kernelParams = arguments_.data();
    return params;
  }

 private:
  template <typename Argument>
  void set(const void* function, const Argument& argument) {
    static_assert(std::is_trivially_copyable_v<Argument>);
    function_ = function;
    arguments_[0] = const_cast<Argument*>(&argument);
  }

  const void* function_ = nullptr;
  dim3 grid_;
  dim3 block_;
  uint32_t shared_bytes_ = 0;
  std::array<void*, 1> arguments_{};
};

// Loads all kernels now: CUDA otherwise loads each at its first launch, which waits for others and
// so hides what overlaps.
cudaError_t load_kernels() {
  const DeviceFunctions& functions = device_functions();
  cudaFuncAttributes attributes;
  for (const void* function : functions.run_slices) {
    const cudaError_t loaded = cudaFuncGetAttributes(&attributes, function);
    if (loaded != cudaSuccess) return loaded;
  }
  for (const void* function :
       {functions.digest_mix, functions.apply_mix, functions.commit_atomics, functions.delay}) {
    const cudaError_t loaded = cudaFuncGetAttributes(&attributes, function);
    if (loaded != cudaSuccess) return loaded;
  }
  return cudaSuccess;
}

class SystemRuntime final : public CudaRuntime {
 public:
  std::string text_of(CudaStatus status) const override {
    const auto error = static_cast<cudaError_t>(status);
    return fmt::format("{}: {}", cudaGetErrorName(error), cudaGetErrorString(error));
  }

  CudaStatus count_devices(int& count) override {
    int found = 0;
    const CudaStatus status = status_of(cudaGetDeviceCount(&found));
    if (status == CudaStatus::kSuccess) count = found;
    return status;
  }

  CudaStatus open_device(int device, CudaDeviceInfo& info) override {
    cudaError_t error = cudaSetDevice(device);
    cudaDeviceProp properties;
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess) error = load_kernels();
    int driver = 0;
    if (error == cudaSuccess) error = cudaDriverGetVersion(&driver);
    if (error != cudaSuccess) return status_of(error);
    info.name =
        fmt::format("{}, compute capability {}.{}, CUDA {}.{} (the driver has {}.{})",
                    properties.name, properties.major, properties.minor, CUDART_VERSION / 1000,
                    CUDART_VERSION % 1000 / 10, driver / 1000, driver % 1000 / 10);
    return CudaStatus::kSuccess;
  }

  CudaStatus allocate(uint64_t size_bytes, uint8_t*& memory) override {
    void* allocated = nullptr;
    const CudaStatus status = status_of(cudaMalloc(&allocated, size_bytes));
    memory = static_cast<uint8_t*>(allocated);
    return status;
  }
  CudaStatus release(uint8_t* memory) override { return status_of(cudaFree(memory)); }
  CudaStatus copy(void* destination, const void* source, uint64_t size_bytes,
                  CudaStream stream) override {
    return status_of(
        cudaMemcpyAsync(destination, source, size_bytes, cudaMemcpyDefault, real(stream)));
  }

  CudaStatus create_stream(CudaStream& stream) override {
    cudaStream_t created = nullptr;
    const CudaStatus status = status_of(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking));
    stream = reinterpret_cast<CudaStream>(created);
    return status;
  }
  CudaStatus destroy_stream(CudaStream stream) override {
    return status_of(cudaStreamDestroy(real(stream)));
  }
  CudaStatus query(CudaStream stream) override { return status_of(cudaStreamQuery(real(stream))); }

  CudaStatus create_event(bool has_time, CudaEvent& event) override {
    cudaEvent_t created = nullptr;
    const unsigned flags = has_time ? cudaEventDefault : cudaEventDisableTiming;
    const CudaStatus status = status_of(cudaEventCreateWithFlags(&created, flags));
    event = reinterpret_cast<CudaEvent>(created);
    return status;
  }
  CudaStatus destroy_event(CudaEvent event) override {
    return status_of(cudaEventDestroy(real(event)));
  }
  CudaStatus query(CudaEvent event) override { return status_of(cudaEventQuery(real(event))); }
  CudaStatus record(CudaEvent event, CudaStream stream) override {
    return status_of(cudaEventRecord(real(event), real(stream)));
  }
  CudaStatus wait(CudaStream stream, CudaEvent event) override {
    return status_of(cudaStreamWaitEvent(real(stream), real(event), cudaEventWaitDefault));
  }
  CudaStatus elapsed(CudaEvent first, CudaEvent second, double& seconds) override {
    float milliseconds = 0;
    const CudaStatus status =
        status_of(cudaEventElapsedTime(&milliseconds, real(first), real(second)));
    seconds = double{milliseconds} * 1e-3;
    return status;
  }

  CudaStatus launch(const DeviceLaunch& launch, CudaStream stream) override {
    return LaunchCall(launch).issue(stream);
  }

  CudaStatus begin_capture(CudaStream stream) override {
    return status_of(cudaStreamBeginCapture(real(stream), cudaStreamCaptureModeThreadLocal));
  }
  CudaStatus end_capture(CudaStream stream, CudaGraphSource& graph) override {
    cudaGraph_t captured = nullptr;
    const CudaStatus status = status_of(cudaStreamEndCapture(real(stream), &captured));
    graph = reinterpret_cast<CudaGraphSource>(captured);
    return status;
  }

  CudaStatus create_graph(CudaGraphSource& graph) override {
    cudaGraph_t created = nullptr;
    const CudaStatus status = status_of(cudaGraphCreate(&created, 0));
    graph = reinterpret_cast<CudaGraphSource>(created);
    return status;
  }
  CudaStatus destroy_graph(CudaGraphSource graph) override {
    return status_of(cudaGraphDestroy(real(graph)));
  }
  CudaStatus add_launch(CudaGraphSource graph, std::span<const CudaGraphNode> predecessors,
                        const DeviceLaunch& launch, CudaGraphNode& node) override {
    LaunchCall call(launch);
    const cudaKernelNodeParams params = call.node_params();
    cudaGraphNode_t added = nullptr;
    const CudaStatus status = status_of(cudaGraphAddKernelNode(
        &added, real(graph), real(predecessors.data()), predecessors.size(), &params));
    node = reinterpret_cast<CudaGraphNode>(added);
    return status;
  }
  CudaStatus add_join(CudaGraphSource graph, std::span<const CudaGraphNode> predecessors,
                      CudaGraphNode& node) override {
    cudaGraphNode_t added = nullptr;
    const CudaStatus status = status_of(
        cudaGraphAddEmptyNode(&added, real(graph), real(predecessors.data()), predecessors.size()));
    node = reinterpret_cast<CudaGraphNode>(added);
    return status;
  }

  CudaStatus instantiate(CudaGraphSource graph, CudaGraphExecutable& executable) override {
    cudaGraphExec_t created = nullptr;
    const CudaStatus status = status_of(cudaGraphInstantiate(&created, real(graph), 0));
    executable = reinterpret_cast<CudaGraphExecutable>(created);
    return status;
  }
  CudaStatus launch(CudaGraphExecutable executable, CudaStream stream) override {
    return status_of(cudaGraphLaunch(real(executable), real(stream)));
  }
  CudaStatus update(CudaGraphExecutable executable, CudaGraphNode node,
                    const DeviceLaunch& launch) override {
    LaunchCall call(launch);
    const cudaKernelNodeParams params = call.node_params();
    return status_of(cudaGraphExecKernelNodeSetParams(real(executable), real(node), &params));
  }
  CudaStatus destroy_executable(CudaGraphExecutable executable) override {
    return status_of(cudaGraphExecDestroy(real(executable)));
  }
};

}  // namespace

CudaRuntime* system_cuda_runtime() {
  static SystemRuntime runtime;
  return &runtime;
}

}  // namespace interlock
