// A run lowers the program to a list of commands, uploads its memories, records and submits the
// list, waits, and reads the memories back. What differs between modes is the lowering.
#include "backends/vulkan/vulkan_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "backends/interface/device_layout.h"
#include "backends/interface/poison.h"
#include "backends/vulkan/command_recorder.h"
#include "backends/vulkan/dispatch_lowering.h"
#include "backends/vulkan/driver_error.h"
#include "backends/vulkan/program_lowering.h"
#include "backends/vulkan/session.h"
#include "backends/vulkan/several_queues.h"
#include "encoder/program/check.h"

namespace interlock {

namespace {

// With the statement of the program that the message is about.
std::string text_of(const Program& program, const ValidationMessage& message) {
  if (message.statement >= program.statements.size()) return message.text;
  const Statement& statement = program.statements[message.statement];
  if (statement.kind == StatementKind::kBarrier) {
    return fmt::format("{}\n  - While recording barrier {}.", message.text,
                       program.reference_of(BarrierId(statement.index)));
  }
  return fmt::format("{}\n  - While recording {}.", message.text,
                     program.description_of(DispatchId(statement.index)));
}

}  // namespace

// What a run makes of its program.
struct LoweredRun {
  explicit LoweredRun(const Program& program) : layout(program) {}

  // Writes the memories with their guards, and zeros after them.
  void store(const MemoryImage& image, uint8_t* arena) const {
    layout.store(image, arena);
    std::fill(arena + layout.memories_end_bytes(), arena + layout.size_bytes(), uint8_t{0});
  }

  // Reads the memories back. Errors: the device wrote outside of them.
  Result<Success> load(const uint8_t* arena, MemoryImage& image) const {
    if (const std::optional<StrayWrite> stray = layout.find_stray_write(arena)) {
      return Error{
          stray->is_before
              ? fmt::format("The device wrote bytes before memory '{}'.", stray->memory)
              : fmt::format(
                    "The device wrote bytes past memory '{}', which has {} bytes: a shader or a driver is wrong.",
                    stray->memory, stray->size_bytes),
          ErrorKind::kFault};
    }
    image = layout.load(arena);
    return Success{};
  }

  DeviceLayout layout;
  CommandList list;
};

class VulkanBackend::State {
 public:
  explicit State(VulkanOptions options) : options_(std::move(options)) {}

  Availability availability() {
    const std::lock_guard lock(mutex_);
    if (lost_) return {false, lost_->message};
    auto opened = open();
    if (!opened) return {false, opened.error().message};
    return {true, first_->device->description()};
  }

  Capabilities capabilities() {
    const std::lock_guard lock(mutex_);
    if (!capabilities_) static_cast<void>(open());
    INTERLOCK_CHECK(capabilities_.has_value());
    return *capabilities_;
  }

  Result<MemoryImage> run(const Program& program, const Schedule& schedule, ExecutionMode mode) {
    const std::lock_guard lock(mutex_);
    auto opened = open();
    if (!opened) return Error{"The Vulkan backend is not available: " + opened.error().message};
    auto image = initial_image(program, options_.limit_bytes);
    if (!image) return image.error();
    auto executed = execute(program, schedule, mode, *image);
    if (first_ != nullptr) {
      auto judged = judge_messages(program, mode);
      if (executed && !judged) return judged.error();
    }
    if (!executed) return executed.error();
    Poison(program).fill_at_end(*image);
    return std::move(*image);
  }

  std::vector<std::string> take_messages() {
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
  }

 private:
  Result<Success> open() {
    if (first_ != nullptr) return Success{};
    if (missing_) return *missing_;
    VkResult failed = VK_SUCCESS;
    auto session = VulkanSession::open(options_, &failed);
    if (!session) {
      // A device that was lost may come back later, and so may memory that another process has; a
      // driver that lacks something never gets it.
      if (!lost_ && failed == VK_SUCCESS) missing_ = session.error();
      return session.error();
    }
    first_ = std::move(*session);
    lost_.reset();
    open_second();
    capabilities_ = read_capabilities();
    return Success{};
  }

  // Where it does not open, overlap mode has one queue.
  void open_second() {
    const bool helps = options_.overlap == OverlapKind::kSeveralQueues &&
                       first_->queues.size() == 1 && first_->device->import_alignment_bytes() > 0;
    if (!helps) return;
    auto session = VulkanSession::open(options_);
    if (session) second_ = std::move(*session);
  }

  Capabilities read_capabilities() const {
    const VulkanDevice& device = *first_->device;
    return {.device = device.description(),
            .queue_count = static_cast<uint32_t>(second_ != nullptr ? 2 : first_->queues.size()),
            .imports_host_memory = device.import_alignment_bytes() > 0,
            .has_byte_access = device.limits().has_byte_access,
            // Vulkan cannot be asked. llvmpipe, the device of lavapipe, computes as the host does.
            .rounds_correctly = device.description().find("llvmpipe") != std::string::npos,
            .extent_max = kExtentMax,
            .operand_bytes_max = device.limits().storage_bytes_max,
            .binding_count_max = kBindingCountMax,
            .mix_bytes_max = kMixGroupBytesMax};
  }

  bool uses_several_queues() const { return first_->queues.size() > 1 || second_ != nullptr; }

  Result<Success> execute(const Program& program, const Schedule& schedule, ExecutionMode mode,
                          MemoryImage& image) {
    LoweredRun run(program);
    const VulkanLowering lowering{program, first_->device->limits(), run.layout, run.list};
    if (mode == ExecutionMode::kWitness) {
      auto lowered = lower_schedule(lowering, schedule, options_.limit_bytes);
      if (!lowered) return lowered;
      return execute_on_one_queue(run, image);
    }
    if (options_.overlap == OverlapKind::kSeveralQueues && uses_several_queues()) {
      auto groups = lower_groups(lowering);
      if (!groups) return groups.error();
      return execute_on_several_queues(run, *groups, image);
    }
    auto lowered = lower_statements(lowering);
    if (!lowered) return lowered;
    return execute_on_one_queue(run, image);
  }

  Result<Success> execute_on_one_queue(const LoweredRun& run, MemoryImage& image) {
    ArenaMemory& arena = *first_->arena;
    auto reserved = arena.reserve(run.layout.size_bytes());
    if (!reserved) return reserved;
    run.store(image, arena.host_bytes());
    VulkanQueue& queue = *first_->queues[0];
    const VkResult begun = queue.begin();
    if (begun != VK_SUCCESS) return give_up(begun, "recording commands");
    arena.record_upload(queue.commands(), run.layout.size_bytes());
    CommandRecorder recorder(*first_->device, *first_->pipelines, first_->instance->log(),
                             arena.handle(), queue.commands());
    auto recorded = recorder.record(run.list, 0, run.list.commands.size());
    if (!recorded) return recorded;
    arena.record_download(queue.commands(), run.layout.memories_end_bytes());
    const VkResult submitted = queue.submit();
    if (submitted != VK_SUCCESS) return give_up(submitted, "submitting commands");
    const VkResult waited = queue.wait(options_.timeout_seconds);
    if (waited != VK_SUCCESS) return give_up(waited, "waiting for its queue");
    return run.load(arena.host_bytes(), image);
  }

  Result<Success> execute_on_several_queues(const LoweredRun& run,
                                            const std::vector<DispatchGroup>& groups,
                                            MemoryImage& image) {
    const uint64_t size_bytes = run.layout.size_bytes();
    std::vector<QueueLane> lanes;
    uint8_t* host_bytes = nullptr;
    if (second_ != nullptr) {
      auto reserved = shared_.reserve(*first_->device, *second_->device, size_bytes);
      if (!reserved) return reserved;
      lanes = {{first_.get(), first_->queues[0].get(), shared_.first()},
               {second_.get(), second_->queues[0].get(), shared_.second()}};
      host_bytes = shared_.host_bytes();
      run.store(image, host_bytes);
    } else {
      auto reserved = first_->arena->reserve(size_bytes);
      if (!reserved) return reserved;
      for (const auto& queue : first_->queues) {
        lanes.push_back({first_.get(), queue.get(), first_->arena->handle()});
      }
      host_bytes = first_->arena->host_bytes();
      run.store(image, host_bytes);
      auto uploaded = copy_arena(size_bytes, true);
      if (!uploaded) return uploaded;
    }
    DriverFailure failure;
    auto executed =
        run_groups(lanes, run.list, groups, trial_count_++, options_.timeout_seconds, failure);
    if (failure.result != VK_SUCCESS) return give_up(failure.result, failure.action);
    if (!executed) return executed;
    if (second_ == nullptr) {
      auto downloaded = copy_arena(run.layout.memories_end_bytes(), false);
      if (!downloaded) return downloaded;
    }
    return run.load(host_bytes, image);
  }

  Result<Success> copy_arena(uint64_t size_bytes, bool is_upload) {
    VulkanQueue& queue = *first_->queues[0];
    VkResult result = queue.begin();
    if (result == VK_SUCCESS) {
      if (is_upload) {
        first_->arena->record_upload(queue.commands(), size_bytes);
      } else {
        first_->arena->record_download(queue.commands(), size_bytes);
      }
      result = queue.submit();
    }
    if (result == VK_SUCCESS) result = queue.wait(options_.timeout_seconds);
    if (result != VK_SUCCESS) return give_up(result, "copying memories");
    return Success{};
  }

  Result<Success> judge_messages(const Program& program, ExecutionMode mode) {
    std::vector<std::string> errors;
    for (VulkanSession* session : {first_.get(), second_.get()}) {
      if (session == nullptr) continue;
      for (const ValidationMessage& message : session->instance->log().take_errors()) {
        errors.push_back(text_of(program, message));
      }
      for (const ValidationMessage& message : session->instance->log().take_hazards()) {
        (mode == ExecutionMode::kWitness ? errors : messages_).push_back(text_of(program, message));
      }
    }
    if (errors.empty()) return Success{};
    return Error{fmt::format("The Vulkan validation layers have {} complaint{}. The first is: {}",
                             errors.size(), errors.size() == 1 ? "" : "s", errors[0]),
                 ErrorKind::kFault};
  }

  // The error for a failed call. A device that is lost, or may still run something, is given up:
  // what that uses must stay as it is.
  Error give_up(VkResult result, std::string_view action) {
    const Error error = driver_error(result, action);
    if (result != VK_ERROR_DEVICE_LOST && !is_pending()) return error;
    lost_ = error;
    abandon(std::move(first_));
    abandon(std::move(second_));
    abandon(std::exchange(shared_, {}));
    return error;
  }

  bool is_pending() const {
    for (const VulkanSession* session : {first_.get(), second_.get()}) {
      if (session == nullptr) continue;
      for (const auto& queue : session->queues) {
        if (queue->is_pending()) return true;
      }
    }
    return false;
  }

  VulkanOptions options_;
  std::mutex mutex_;
  std::optional<Error> missing_;              // Why there is no device.
  std::optional<Error> lost_;                 // Why there is none any more.
  std::optional<Capabilities> capabilities_;  // Of the last device that was opened.
  std::unique_ptr<VulkanSession> first_;
  std::unique_ptr<VulkanSession>
      second_;  // Shares host memory with the first; null if there is none.
  SharedArena shared_;
  uint64_t trial_count_ = 0;  // Runs on several queues.
  std::vector<std::string> messages_;
};

VulkanBackend::VulkanBackend(VulkanOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

VulkanBackend::~VulkanBackend() = default;

Availability VulkanBackend::availability() const { return state_->availability(); }

Result<MemoryImage> VulkanBackend::run(const Program& program, const Schedule& schedule,
                                       ExecutionMode mode) {
  return state_->run(program, schedule, mode);
}

Capabilities VulkanBackend::capabilities() const { return state_->capabilities(); }

std::vector<std::string> VulkanBackend::take_messages() { return state_->take_messages(); }

}  // namespace interlock
