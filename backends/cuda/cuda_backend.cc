#include "backends/cuda/cuda_backend.h"

#include <mutex>
#include <optional>
#include <utility>

#include "backends/cuda/cuda_runtime.h"
#include "backends/cuda/device.h"
#include "encoder/program/check.h"

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

}  // namespace

class CudaBackend::State {
 public:
  explicit State(const CudaOptions& options) : options_(options) {
    if (options_.runtime == nullptr) options_.runtime = system_cuda_runtime();
  }

  Availability availability();
  Capabilities capabilities();
  CudaOptions options();
  Result<MemoryImage> run(const Program& program, const Schedule& schedule, ExecutionMode mode);
  Result<std::unique_ptr<CudaRecording>> record(const Program& program,
                                                const CudaRecordingOptions& options);
  Result<std::unique_ptr<CudaRecording>> record(const Program& program, const Schedule& schedule);

 private:
  Result<Success> open();
  CudaRecordingOptions next_overlap();

  CudaOptions options_;
  std::mutex mutex_;
  std::optional<Error> missing_;  // Why there is no device.
  std::shared_ptr<CudaDevice> device_;
};

Result<Success> CudaBackend::State::open() {
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

Availability CudaBackend::State::availability() {
  const std::lock_guard lock(mutex_);
  auto opened = open();
  if (!opened) return {false, opened.error().message};
  return {true, device_->info().name};
}

Capabilities CudaBackend::State::capabilities() {
  const std::lock_guard lock(mutex_);
  INTERLOCK_CHECK(device_ != nullptr);
  Capabilities capabilities;
  capabilities.device = device_->info().name;
  capabilities.queue_count =
      options_.overlap.lowering == CudaLowering::kOneStream ? 1 : options_.overlap.stream_count;
  capabilities.has_byte_access = true;
  // As nvcc compiles without options that say otherwise: -prec-div, -prec-sqrt, no -ftz.
  capabilities.rounds_correctly = true;
  capabilities.mix_bytes_max = kMixBlockBytesMax;
  return capabilities;
}

CudaOptions CudaBackend::State::options() {
  const std::lock_guard lock(mutex_);
  return options_;
}

CudaRecordingOptions CudaBackend::State::next_overlap() {
  CudaRecordingOptions next = options_.overlap;
  ++options_.overlap.seed;
  return next;
}

Result<MemoryImage> CudaBackend::State::run(const Program& program, const Schedule& schedule,
                                            ExecutionMode mode) {
  const std::lock_guard lock(mutex_);
  auto opened = open();
  if (!opened) return Error{"The CUDA backend is not available: " + opened.error().message};
  auto image = initial_image(program, options_.limit_bytes);
  if (!image) return image.error();
  auto recording = mode == ExecutionMode::kWitness
                       ? CudaRecording::record(device_, program, schedule, options_.limit_bytes)
                       : CudaRecording::record(device_, program, next_overlap());
  if (!recording) return recording.error();
  return (*recording)->execute(*image);
}

Result<std::unique_ptr<CudaRecording>> CudaBackend::State::record(
    const Program& program, const CudaRecordingOptions& options) {
  const std::lock_guard lock(mutex_);
  auto opened = open();
  if (!opened) return Error{"The CUDA backend is not available: " + opened.error().message};
  return CudaRecording::record(device_, program, options);
}

Result<std::unique_ptr<CudaRecording>> CudaBackend::State::record(const Program& program,
                                                                  const Schedule& schedule) {
  const std::lock_guard lock(mutex_);
  auto opened = open();
  if (!opened) return Error{"The CUDA backend is not available: " + opened.error().message};
  return CudaRecording::record(device_, program, schedule, options_.limit_bytes);
}

CudaBackend::CudaBackend(CudaOptions options) : state_(std::make_unique<State>(options)) {}

CudaBackend::~CudaBackend() = default;

Availability CudaBackend::availability() const { return state_->availability(); }

Result<MemoryImage> CudaBackend::run(const Program& program, const Schedule& schedule,
                                     ExecutionMode mode) {
  return state_->run(program, schedule, mode);
}

Capabilities CudaBackend::capabilities() const { return state_->capabilities(); }

std::vector<std::string_view> CudaBackend::lowerings() const {
  std::vector<std::string_view> names;
  for (const NamedLowering& named : kNamedLowerings) names.push_back(named.name);
  return names;
}

std::unique_ptr<Backend> CudaBackend::with_lowering(std::string_view name) const {
  for (const NamedLowering& named : kNamedLowerings) {
    if (named.name != name) continue;
    CudaOptions options = state_->options();
    options.overlap.lowering = named.lowering;
    return std::make_unique<CudaBackend>(options);
  }
  return nullptr;
}

Result<std::unique_ptr<CudaRecording>> CudaBackend::record(const Program& program,
                                                           const CudaRecordingOptions& options) {
  return state_->record(program, options);
}

Result<std::unique_ptr<CudaRecording>> CudaBackend::record(const Program& program,
                                                           const Schedule& schedule) {
  return state_->record(program, schedule);
}

}  // namespace interlock
