#include "tests/backends/cuda/cuda_device.h"

#include <string>
#include <utility>
#include <vector>

#include "backends/interface/backend.h"
#include "tests/backends/devices/test_device.h"

namespace interlock {
namespace {

// In every lowering, by two choices each; the device of this machine where `runtime` is null.
std::vector<MemoryImage> images_by_overlap(const Program& program, CudaRuntime* runtime) {
  std::vector<MemoryImage> images;
  for (const CudaLowering lowering : kCudaLowerings) {
    for (const uint64_t seed : {1u, 2u}) {
      CudaBackend backend({.overlap = {.lowering = lowering, .seed = seed}, .runtime = runtime});
      auto image = backend.run(program, reference_order_schedule(program), ExecutionMode::kOverlap);
      EXPECT_TRUE(image.has_value()) << image.error().message;
      if (image) images.push_back(std::move(*image));
    }
  }
  return images;
}

}  // namespace

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
  auto image =
      cuda(overlap).run(program, reference_order_schedule(program), ExecutionMode::kOverlap);
  if (!image) {
    ADD_FAILURE() << image.error().message;
    return {};
  }
  return std::move(*image);
}

std::vector<TestDevice> test_devices() {
  // Never destroyed, as in the registry.
  static auto* const runtime = new HostCudaRuntime;
  static auto* const host = new CudaBackend({.runtime = runtime});
  static auto* const device = new CudaBackend;
  return {{.name = "CudaOnADevice",
           .backend = []() -> Backend& { return *device; },
           .images_by_overlap = [](const Program& p) { return images_by_overlap(p, nullptr); }},
          {.name = "CudaOnTheHost",
           .backend = []() -> Backend& { return *host; },
           .images_by_overlap = [](const Program& p) { return images_by_overlap(p, runtime); },
           .is_slow = true}};
}

std::string name_of(const testing::TestParamInfo<CudaPlace>& info) {
  return info.param == CudaPlace::kHost ? "OnTheHost" : "OnADevice";
}

}  // namespace interlock
