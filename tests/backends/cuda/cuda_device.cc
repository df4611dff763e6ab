#include "tests/backends/cuda/cuda_device.h"

#include <utility>

#include "backends/interface/backend.h"

namespace interlock {

void OnCuda::SetUp() {
  if (is_on_host()) {
    runtime_ = std::make_unique<HostCudaRuntime>();
    return;
  }
  const Availability availability = cuda().availability();
  if (!availability.is_available) GTEST_SKIP() << "no CUDA: " << availability.reason;
}

CudaBackend& OnCuda::cuda(const CudaRecordingOptions& overlap) {
  const bool is_same = overlap.lowering == overlap_.lowering &&
                       overlap.stream_count == overlap_.stream_count &&
                       overlap.seed == overlap_.seed && overlap.delay_ns == overlap_.delay_ns;
  if (backend_ == nullptr || !is_same) {
    overlap_ = overlap;
    backend_ =
        std::make_unique<CudaBackend>(CudaOptions{.overlap = overlap, .runtime = runtime_.get()});
  }
  return *backend_;
}

MemoryImage OnCuda::image_on_cuda(const Program& program, const Schedule& schedule) {
  auto image = cuda().run(program, schedule, ExecutionMode::kWitness);
  if (!image) {
    ADD_FAILURE() << image.error().message;
    return {};
  }
  return std::move(*image);
}

MemoryImage OnCuda::image_by_overlap(const Program& program, const CudaRecordingOptions& overlap) {
  auto image = cuda(overlap).run(program, issue_order_schedule(program), ExecutionMode::kOverlap);
  if (!image) {
    ADD_FAILURE() << image.error().message;
    return {};
  }
  return std::move(*image);
}

std::string name_of(const testing::TestParamInfo<CudaPlace>& info) {
  return info.param == CudaPlace::kHost ? "OnTheHost" : "OnADevice";
}

}  // namespace interlock
