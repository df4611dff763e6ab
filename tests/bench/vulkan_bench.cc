// The Vulkan backend: sequences a second of dispatches of one workgroup with barriers between them,
// for what a user gets per run, and for the submission alone; and what recording a dispatch costs
// beside the same Vulkan calls written by hand.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <volk.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backends/vulkan/command_recorder.h"
#include "backends/vulkan/device_limits.h"
#include "backends/vulkan/program_lowering.h"
#include "backends/vulkan/session.h"
#include "backends/vulkan/vulkan_backend.h"
#include "encoder/program/check.h"
#include "encoder/text/parser.h"
#include "simulator/schedules/schedule.h"
#include "tests/bench/targets.h"

namespace interlock {
namespace {

// A chain: each dispatch reads what the one before wrote, a barrier between. One workgroup each.
Program chain(int64_t dispatch_count, bool is_mix) {
  std::string text =
      "interlock 1\nmemory m 512\ntensor x f32[64] at m+0 = iota\n"
      "tensor y f32[64] at m+256\n";
  for (int64_t i = 0; i < dispatch_count; ++i) {
    const char* const from = i % 2 == 0 ? "x" : "y";
    const char* const to = i % 2 == 0 ? "y" : "x";
    if (i > 0) text += "barrier compute.write -> compute.read|compute.write\n";
    text += is_mix ? fmt::format("dispatch Work reads {} writes {}\n", from, to)
                   : fmt::format("dispatch scale reads {} writes {} factor=0.5\n", from, to);
  }
  auto program = parse(text);
  INTERLOCK_CHECK(program.has_value());
  return std::move(*program);
}

VulkanBackend& backend() {
  static auto* const one = new VulkanBackend({.overlap = OverlapKind::kOneQueue});
  return *one;
}

// Null without a device.
VulkanSession* session() {
  static const auto* const opened = [] {
    auto result = VulkanSession::open({});
    return new std::unique_ptr<VulkanSession>(result ? std::move(*result) : nullptr);
  }();
  return opened->get();
}

bool skip_without_device(benchmark::State& state) {
  const Availability availability = backend().availability();
  if (!availability.is_available) state.SkipWithError(availability.reason.c_str());
  return !availability.is_available;
}

void run_sequences(benchmark::State& state, bool is_mix) {
  if (skip_without_device(state)) return;
  const Program program = chain(state.range(0), is_mix);
  const Schedule schedule = reference_order_schedule(program);
  for (auto _ : state) {
    auto image = backend().run(program, schedule, ExecutionMode::kOverlap);
    INTERLOCK_CHECK(image.has_value());
    benchmark::DoNotOptimize(image);
  }
  state.SetItemsProcessed(state.iterations());
}

// All of VulkanBackend::run(): lower, upload, record, submit, wait, download.
void VulkanRun(benchmark::State& state) {
  run_sequences(state, false);
  if (state.range(0) == 16) hold_time(state, 1.0 / 15'000);
}
void VulkanRunMix(benchmark::State& state) { run_sequences(state, true); }
BENCHMARK(VulkanRun)->Arg(1)->Arg(16)->Arg(64)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(VulkanRunMix)->Arg(1)->Arg(16)->Arg(64)->MeasureProcessCPUTime()->UseRealTime();

// A lowered program, and what recording it takes.
struct Lowered {
  explicit Lowered(const Program& program) : layout(program), host(program) {
    auto lowered = lower_statements({program, session()->device->limits(), layout, list, host});
    INTERLOCK_CHECK(lowered.has_value());
    INTERLOCK_CHECK(session()->arena->reserve(layout.size_bytes()).has_value());
    for (const DeviceCommand& command : list.commands) {
      const auto* const launch = std::get_if<ShaderLaunch>(&command.work);
      if (launch != nullptr) launches.push_back(*launch);
    }
  }

  void record(VkCommandBuffer commands) const {
    CommandRecorder recorder(*session()->device, *session()->pipelines, session()->instance->log(),
                             session()->arena->handle(), commands);
    INTERLOCK_CHECK(recorder.record(list, 0, list.commands.size()).has_value());
  }

  DeviceLayout layout;
  CommandList list;
  HostCopies host;
  std::vector<ShaderLaunch> launches;  // Of the list.
};

void check(VkResult result) { INTERLOCK_CHECK(result == VK_SUCCESS); }

// Record, submit and wait, of a program that is lowered and uploaded.
void VulkanSubmit(benchmark::State& state) {
  if (skip_without_device(state)) return;
  const Lowered lowered(chain(state.range(0), false));
  VulkanQueue& queue = *session()->queues[0];
  for (auto _ : state) {
    check(queue.begin());
    lowered.record(queue.commands());
    check(queue.submit());
    check(queue.wait(10));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(VulkanSubmit)->Arg(1)->Arg(16)->Arg(64)->MeasureProcessCPUTime()->UseRealTime();

// The same calls as a programmer writes them who knows that there is one pipeline: the barrier and
// the pipeline are constants, the descriptors are filled in place.
void record_by_hand(const Lowered& lowered, const VulkanPipeline& pipeline,
                    VkCommandBuffer commands) {
  const VolkDeviceTable& table = session()->device->table();
  const VkBuffer arena = session()->arena->handle();
  table.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle);
  VkMemoryBarrier2 barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
  barrier.srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
  barrier.srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
  barrier.dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
  barrier.dstAccessMask =
      VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
  VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  std::array<VkDescriptorBufferInfo, 2> buffers{};
  std::array<VkWriteDescriptorSet, 2> writes{};
  for (uint32_t i = 0; i < 2; ++i) {
    writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[i].dstBinding = i;
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[i].pBufferInfo = &buffers[i];
  }
  for (size_t d = 0; d < lowered.launches.size(); ++d) {
    const ShaderLaunch& launch = lowered.launches[d];
    if (d > 0) table.vkCmdPipelineBarrier2(commands, &dependency);
    for (uint32_t i = 0; i < 2; ++i) {
      const DeviceRange& range = lowered.list.bindings[launch.first_binding + i];
      buffers[i] = {arena, range.offset_bytes, range.size_bytes};
    }
    table.vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, 2,
                                    writes.data());
    table.vkCmdPushConstants(commands, pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                             launch.push_word_count * 4,
                             &lowered.list.push_words[launch.first_push_word]);
    table.vkCmdDispatch(commands, 1, 1, 1);
  }
}

// Records into one command buffer, pass after pass, and runs it before the next stretch.
class RecordingQueue {
 public:
  RecordingQueue() { check(queue().begin()); }
  ~RecordingQueue() { run(); }

  void begin_anew() {
    run();
    check(queue().begin());
  }
  static VkCommandBuffer commands() { return queue().commands(); }

 private:
  static VulkanQueue& queue() { return *session()->queues[0]; }
  static void run() {
    check(queue().submit());
    check(queue().wait(10));
  }
};

// Both by turns, so that other work on the machine hits both. The counters are nanoseconds a
// dispatch, and their ratio.
void VulkanRecord(benchmark::State& state) {
  if (skip_without_device(state)) return;
  const Lowered lowered(chain(state.range(0), false));
  auto pipeline = session()->pipelines->get(lowered.launches[0].shader);
  INTERLOCK_CHECK(pipeline.has_value());
  RecordingQueue queue;
  const auto prepare = [&](int /*passes*/) { queue.begin_anew(); };
  const auto record = [&] { lowered.record(queue.commands()); };
  const auto record_plainly = [&] { record_by_hand(lowered, **pipeline, queue.commands()); };
  const std::vector<Timing> timings =
      measure_rounds(state, {{"recorder", prepare, record}, {"by_hand", prepare, record_plainly}});
  const auto dispatch_count = static_cast<double>(state.range(0));
  note_time(state, "recorder_ns", timings[0], dispatch_count);
  note_time(state, "by_hand_ns", timings[1], dispatch_count);
  hold_ratio(state, ratio_by_round(timings[0], timings[1]), 1.5);
}
BENCHMARK(VulkanRecord)->Arg(16)->Arg(64)->Arg(1024)->UseManualTime();

}  // namespace
}  // namespace interlock
