#include "backends/cuda/cuda_backend.h"

#include <utility>

#include "backends/cuda/cuda_runtime.h"
#include "backends/cuda/device.h"
#include "backends/cuda/queue_run.h"
#include "backends/interface/issue_order.h"
#include "backends/interface/transitions.h"
#include "encoder/program/check.h"
#include "simulator/order/queue_order.h"

namespace interlock {
namespace {

struct NamedLowering {
  std::string_view name;
  CudaLowering lowering;
};

constexpr NamedLowering kNamedLowerings[] = {
    {"streams", CudaLowering::kStreams},
    {"graph", CudaLowering::kGraph},
    {"captured-graph", CudaLowering::kCapturedGraph},
    {"conflict-graph", CudaLowering::kConflictGraph},
    {"one-stream", CudaLowering::kOneStream},
};

// Streams of a concurrent queue.
constexpr uint32_t kStreamsOfAQueue = 3;

}  // namespace

CudaBackend::CudaBackend(CudaOptions options) : options_(options) {
  if (options_.runtime == nullptr) options_.runtime = system_cuda_runtime();
}

Result<Success> CudaBackend::open() const {
  if (device_ != nullptr) {
    if (device_->lost()) return *device_->lost();
    return Success{};
  }
  if (missing_) return *missing_;
  if (options_.runtime == nullptr) {
    missing_ = Error{"this build has no CUDA; it needs nvcc."};
    return *missing_;
  }
  auto device = CudaDevice::open(*options_.runtime, options_.timeout_seconds);
  if (!device) {
    missing_ = device.error();
    return *missing_;
  }
  device_ = std::move(*device);
  return Success{};
}

Availability CudaBackend::availability() const {
  const std::lock_guard lock(mutex_);
  auto opened = open();
  if (!opened) return {false, opened.error().message};
  return {true, device_->name()};
}

Capabilities CudaBackend::capabilities() const {
  const std::lock_guard lock(mutex_);
  INTERLOCK_CHECK(device_ != nullptr);
  const bool is_one = options_.overlap.lowering == CudaLowering::kOneStream;
  return {.device = device_->name(),
          .queue_count = is_one ? 1 : options_.overlap.stream_count,
          .has_byte_access = true,
          // As nvcc compiles without options that say otherwise: -prec-div, -prec-sqrt, no -ftz.
          .rounds_correctly = true,
          .mix_bytes_max = kMixBlockBytesMax};
}

Result<MemoryImage> CudaBackend::run(const Program& program, const Schedule& schedule,
                                     ExecutionMode mode) {
  const std::lock_guard lock(mutex_);
  if (auto refusal = transition_refusal(program)) return *std::move(refusal);
  auto opened = open();
  if (!opened) return Error{"The CUDA backend is not available: " + opened.error().message};
  auto image = initial_image(program, options_.limit_bytes);
  if (!image) return image.error();
  const CudaRecordingOptions overlap = options_.overlap;
  if (mode == ExecutionMode::kOverlap) ++options_.overlap.seed;
  if (mode == ExecutionMode::kOverlap && needs_queue_order(program)) {
    const Result<Program> in_order = executable_run(program);
    if (!in_order) return in_order.error();
    const bool is_one = overlap.lowering == CudaLowering::kOneStream;
    return run_on_queue_streams(*device_, *in_order, *image, is_one ? 1 : kStreamsOfAQueue,
                                overlap.seed);
  }
  auto recording = mode == ExecutionMode::kWitness
                       ? CudaRecording::record(device_, program, schedule, options_.limit_bytes)
                       : CudaRecording::record(device_, program, overlap);
  if (!recording) return recording.error();
  return (*recording)->execute(*image);
}

Result<std::unique_ptr<CudaRecording>> CudaBackend::record(const Program& program,
                                                           const CudaRecordingOptions& options) {
  const std::lock_guard lock(mutex_);
  auto opened = open();
  if (!opened) return Error{"The CUDA backend is not available: " + opened.error().message};
  return CudaRecording::record(device_, program, options);
}

Result<std::unique_ptr<CudaRecording>> CudaBackend::record(const Program& program,
                                                           const Schedule& schedule) {
  const std::lock_guard lock(mutex_);
  auto opened = open();
  if (!opened) return Error{"The CUDA backend is not available: " + opened.error().message};
  return CudaRecording::record(device_, program, schedule, options_.limit_bytes);
}

std::vector<std::string_view> CudaBackend::lowerings() const {
  std::vector<std::string_view> names;
  for (const NamedLowering& named : kNamedLowerings) names.push_back(named.name);
  return names;
}

std::unique_ptr<Backend> CudaBackend::with_lowering(std::string_view name) const {
  for (const NamedLowering& named : kNamedLowerings) {
    if (named.name != name) continue;
    const std::lock_guard lock(mutex_);
    CudaOptions options = options_;
    options.overlap.lowering = named.lowering;
    return std::make_unique<CudaBackend>(options);
  }
  return nullptr;
}

}  // namespace interlock
