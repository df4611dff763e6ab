// A run lowers the program to a list of commands, uploads its memories, records and submits the
// list, waits, and reads the memories back. What differs between modes is the lowering.
#include "backends/vulkan/vulkan_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "backends/cpu/execute.h"
#include "backends/interface/issue_order.h"
#include "backends/interface/poison.h"
#include "backends/interface/transitions.h"
#include "backends/vulkan/command_recorder.h"
#include "backends/vulkan/dispatch_lowering.h"
#include "backends/vulkan/driver_error.h"
#include "backends/vulkan/lowered_run.h"
#include "backends/vulkan/program_lowering.h"
#include "backends/vulkan/session.h"
#include "backends/vulkan/several_queues.h"
#include "backends/vulkan/submission_plan.h"
#include "backends/vulkan/submission_run.h"
#include "encoder/program/check.h"
#include "simulator/order/queue_order.h"
#include "simulator/schedules/choice.h"

namespace interlock {

namespace {

// With the statement of the program that the message is about.
std::string message_text(const Program& program, const ValidationMessage& message) {
  if (message.statement >= program.statements.size()) return message.text;
  const Statement& statement = program.statements[message.statement];
  if (statement.kind == StatementKind::kBarrier) {
    return fmt::format("{}\n  - While recording barrier {}.", message.text,
                       program.reference_of(BarrierId(statement.index)));
  }
  if (statement.kind != StatementKind::kDispatch) return message.text;
  return fmt::format("{}\n  - While recording {}.", message.text,
                     program.description_of(DispatchId(statement.index)));
}

}  // namespace

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
    if (mode == ExecutionMode::kOverlap && needs_queue_order(program)) {
      const Result<Program> in_order = executable_run(program);
      if (!in_order) return in_order.error();
      const auto executed = execute_submissions(*in_order, *image);
      return settle(*in_order, mode, executed, std::move(*image));
    }
    const auto executed = execute(program, schedule, mode, *image);
    return settle(program, mode, executed, std::move(*image));
  }

  Result<MemoryImage> settle(const Program& program, ExecutionMode mode,
                             const Result<Success>& executed, MemoryImage image) {
    if (first_ != nullptr) {
      auto judged = judge_messages(program, mode);
      if (executed && !judged) return judged.error();
    }
    if (!executed) return executed.error();
    Poison(program).fill_at_end(image);
    return image;
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
            .device_queue_count = static_cast<uint32_t>(first_->queues.size()),
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
    const VulkanLowering lowering{program, first_->device->limits(), run.layout, run.list,
                                  run.host};
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
    arena.record_download(queue.commands(), run.download_bytes());
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

  // Requires: `program` is in reference order.
  Result<Success> execute_submissions(const Program& program, MemoryImage& image) {
    const uint64_t trial = trial_count_++;
    LoweredRun run(program);
    const VulkanLowering lowering{program, first_->device->limits(), run.layout, run.list,
                                  run.host};
    SeededChoice choice(trial);
    const std::vector<StatementId> order = issue_order_of(
        program, statements_with_poison(program, Poison(program)), trial == 0 ? nullptr : &choice);
    const bool uses_all = options_.overlap == OverlapKind::kSeveralQueues;
    const auto queue_count = static_cast<uint32_t>(uses_all ? first_->queues.size() : 1);
    const auto plan = plan_submissions(lowering, order, queue_count, trial);
    if (!plan) return plan.error();
    auto reserved = reserve_host_arena(run.layout.size_bytes());
    if (!reserved) return reserved;
    uint8_t* const bytes = first_->host_arena->mapped();
    run.store(image, bytes);
    std::vector<uint8_t*> starts;
    for (size_t m = 0; m < program.memories.size(); ++m) {
      starts.push_back(bytes + run.layout.range_of(MemoryId(m)).offset_bytes);
    }
    std::vector<std::vector<uint8_t>> host_reads(program.host_dispatches.size());
    DriverFailure failure;
    auto submissions = SubmissionRun::create(*first_, first_->host_arena->handle(), *plan, failure);
    Result<Success> executed = Success{};
    if (submissions != nullptr) {
      executed = submissions->execute(
          run.list, *plan,
          [&](DispatchId d) { execute_host_statement(program, d, starts, host_reads); },
          options_.timeout_seconds, failure);
      if (submissions->is_pending()) {
        // What still runs may wait for a signal that never comes.
        abandon(std::move(submissions));
        if (failure.result == VK_SUCCESS) return lose(executed.error());
        return lose(driver_error(failure.result, failure.action));
      }
    }
    if (failure.result != VK_SUCCESS) return give_up(failure.result, failure.action);
    if (!executed) return executed;
    auto loaded = run.load(bytes, image);
    image.host_reads = std::move(host_reads);
    return loaded;
  }

  Result<Success> reserve_host_arena(uint64_t size_bytes) {
    std::unique_ptr<VulkanBuffer>& arena = first_->host_arena;
    if (arena != nullptr && arena->size_bytes() >= size_bytes) return Success{};
    arena.reset();
    auto made = VulkanBuffer::create(*first_->device, size_bytes, BufferPlace::kHost);
    if (!made) return made.error();
    arena = std::move(*made);
    return Success{};
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
        errors.push_back(message_text(program, message));
      }
      for (const ValidationMessage& message : session->instance->log().take_hazards()) {
        (mode == ExecutionMode::kWitness ? errors : messages_)
            .push_back(message_text(program, message));
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
    return result != VK_ERROR_DEVICE_LOST && !is_pending() ? error : lose(error);
  }

  Error lose(const Error& error) {
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
  if (auto refusal = transition_refusal(program)) return *std::move(refusal);
  return state_->run(program, schedule, mode);
}

Capabilities VulkanBackend::capabilities() const { return state_->capabilities(); }

std::vector<std::string> VulkanBackend::take_messages() { return state_->take_messages(); }

}  // namespace interlock
