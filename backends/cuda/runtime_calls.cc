// The CUDA runtime itself. The only source that sees its headers.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <type_traits>
#include <vector>

#include "backends/cuda/cuda_runtime.h"
#include "backends/cuda/kernels/device_functions.h"

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
    return status_of(cudaLaunchKernel(function_, grid_, block_, &argument_, shared_bytes_, stream));
  }

  cudaKernelNodeParams node_params() {
    cudaKernelNodeParams params{};
    params.func = const_cast<void*>(function_);
    params.gridDim = grid_;
    params.blockDim = block_;
    params.sharedMemBytes = shared_bytes_;
    params.kernelParams = &argument_;
    return params;
  }

 private:
  template <typename Argument>
  void set(const void* function, const Argument& argument) {
    static_assert(std::is_trivially_copyable_v<Argument>);
    function_ = function;
    argument_ = const_cast<Argument*>(&argument);
  }

  const void* function_ = nullptr;
  dim3 grid_;
  dim3 block_;
  uint32_t shared_bytes_ = 0;
  void* argument_ = nullptr;
};

// Loads all kernels now: CUDA otherwise loads each at its first launch, which waits for others and
// so hides what overlaps.
cudaError_t load_kernels() {
  const DeviceFunctions& own = device_functions();
  std::vector<const void*> functions(own.run_slices.begin(), own.run_slices.end());
  functions.insert(functions.end(), {own.digest_mix, own.apply_mix, own.commit_atomics, own.delay});
  cudaFuncAttributes attributes;
  for (const void* function : functions) {
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

  CudaStatus open_device(int device, std::string& name) override {
    cudaError_t error = cudaSetDevice(device);
    cudaDeviceProp properties;
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess) error = load_kernels();
    int driver = 0;
    if (error == cudaSuccess) error = cudaDriverGetVersion(&driver);
    if (error != cudaSuccess) return status_of(error);
    name = fmt::format("{}, compute capability {}.{}, CUDA {}.{} (the driver has {}.{})",
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
  CudaStatus allocate_shared(uint64_t size_bytes, uint8_t*& memory) override {
    void* allocated = nullptr;
    const CudaStatus status = status_of(cudaHostAlloc(&allocated, size_bytes, cudaHostAllocMapped));
    memory = static_cast<uint8_t*>(allocated);
    return status;
  }
  CudaStatus release_shared(uint8_t* memory) override { return status_of(cudaFreeHost(memory)); }
  CudaStatus copy(void* destination, const void* source, uint64_t size_bytes,
                  CudaStream stream) override {
    return status_of(cudaMemcpyAsync(destination, source, size_bytes, cudaMemcpyDefault, stream));
  }

  CudaStatus create_stream(CudaStreamKind kind, CudaStream& stream) override {
    const unsigned flags =
        kind == CudaStreamKind::kNonBlocking ? cudaStreamNonBlocking : cudaStreamDefault;
    return status_of(cudaStreamCreateWithFlags(&stream, flags));
  }
  CudaStream legacy_stream() override { return cudaStreamLegacy; }
  CudaStatus destroy_stream(CudaStream stream) override {
    return status_of(cudaStreamDestroy(stream));
  }
  CudaStatus query(CudaStream stream) override { return status_of(cudaStreamQuery(stream)); }

  CudaStatus create_event(bool has_time, CudaEvent& event) override {
    const unsigned flags = has_time ? cudaEventDefault : cudaEventDisableTiming;
    return status_of(cudaEventCreateWithFlags(&event, flags));
  }
  CudaStatus destroy_event(CudaEvent event) override { return status_of(cudaEventDestroy(event)); }
  CudaStatus query(CudaEvent event) override { return status_of(cudaEventQuery(event)); }
  CudaStatus record(CudaEvent event, CudaStream stream) override {
    return status_of(cudaEventRecord(event, stream));
  }
  CudaStatus wait(CudaStream stream, CudaEvent event) override {
    return status_of(cudaStreamWaitEvent(stream, event, cudaEventWaitDefault));
  }
  CudaStatus elapsed(CudaEvent first, CudaEvent second, double& seconds) override {
    float milliseconds = 0;
    const CudaStatus status = status_of(cudaEventElapsedTime(&milliseconds, first, second));
    seconds = double{milliseconds} * 1e-3;
    return status;
  }

  CudaStatus launch(const DeviceLaunch& launch, CudaStream stream) override {
    return LaunchCall(launch).issue(stream);
  }

  CudaStatus begin_capture(CudaStream stream) override {
    return status_of(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  }
  CudaStatus end_capture(CudaStream stream, CudaGraphSource& graph) override {
    return status_of(cudaStreamEndCapture(stream, &graph));
  }

  CudaStatus create_graph(CudaGraphSource& graph) override {
    return status_of(cudaGraphCreate(&graph, 0));
  }
  CudaStatus destroy_graph(CudaGraphSource graph) override {
    return status_of(cudaGraphDestroy(graph));
  }
  CudaStatus add_launch(CudaGraphSource graph, std::span<const CudaGraphNode> predecessors,
                        const DeviceLaunch& launch, CudaGraphNode& node) override {
    LaunchCall call(launch);
    const cudaKernelNodeParams params = call.node_params();
    return status_of(
        cudaGraphAddKernelNode(&node, graph, predecessors.data(), predecessors.size(), &params));
  }
  CudaStatus add_join(CudaGraphSource graph, std::span<const CudaGraphNode> predecessors,
                      CudaGraphNode& node) override {
    return status_of(cudaGraphAddEmptyNode(&node, graph, predecessors.data(), predecessors.size()));
  }

  CudaStatus instantiate(CudaGraphSource graph, CudaGraphExecutable& executable) override {
    return status_of(cudaGraphInstantiate(&executable, graph, 0));
  }
  CudaStatus launch(CudaGraphExecutable executable, CudaStream stream) override {
    return status_of(cudaGraphLaunch(executable, stream));
  }
  CudaStatus update(CudaGraphExecutable executable, CudaGraphNode node,
                    const DeviceLaunch& launch) override {
    LaunchCall call(launch);
    const cudaKernelNodeParams params = call.node_params();
    return status_of(cudaGraphExecKernelNodeSetParams(executable, node, &params));
  }
  CudaStatus destroy_executable(CudaGraphExecutable executable) override {
    return status_of(cudaGraphExecDestroy(executable));
  }
};

}  // namespace

CudaRuntime* system_cuda_runtime() {
  static SystemRuntime runtime;
  return &runtime;
}

}  // namespace interlock
