// Modes of the sample application that record commands and submit none: what a command takes, by
// kind, in CPU time of this thread. tests/bench/capture_overhead.py compares it with and without
// the layer.
#include <volk.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "tests/capture/application/sample_modes.h"

namespace interlock {
namespace {

constexpr int kCommandsOfAPass = 10'000;

double cpu_ns() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Prints the name with the nanoseconds that one of the commands takes: the median of the passes.
template <typename Record>
void time_commands(Sample& sample, const char* name, int pass_count, const Record& record) {
  const VkCommandBuffer commands = sample.device.begin();
  require(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  std::vector<double> passes;
  for (int pass = 0; pass < pass_count; ++pass) {
    const VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    require(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    const double before = cpu_ns();
    for (int i = 0; i < kCommandsOfAPass; ++i) record(commands);
    passes.push_back((cpu_ns() - before) / kCommandsOfAPass);
    require(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  }
  std::nth_element(passes.begin(), passes.begin() + pass_count / 2, passes.end());
  std::printf("%s %.1f\n", name, passes[static_cast<size_t>(pass_count / 2)]);
}

void record_passes(Sample& sample, int pass_count) {
  const auto bind_set = [&](VkCommandBuffer commands) {
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, sample.device.layout(), 0, 1,
                            &sample.first, 0, nullptr);
  };
  const auto bind_pipeline = [&](VkCommandBuffer commands) {
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, sample.device.pipeline());
  };
  const auto dispatch = [](VkCommandBuffer commands) { vkCmdDispatch(commands, 1, 1, 1); };
  const auto barrier = [](VkCommandBuffer commands) {
    VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    memory.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &memory, 0, nullptr, 0,
                         nullptr);
  };
  time_commands(sample, "bind-pipeline", pass_count, bind_pipeline);
  time_commands(sample, "bind-set", pass_count, bind_set);
  time_commands(sample, "dispatch", pass_count, dispatch);
  time_commands(sample, "barrier", pass_count, barrier);
  time_commands(sample, "copy", pass_count, [&](VkCommandBuffer commands) {
    const VkBufferCopy region = {0, 0, kSampleBytes};
    vkCmdCopyBuffer(commands, sample.a.buffer, sample.b.buffer, 1, &region);
  });
  sample.c.words[0] = kSampleResult;
}

}  // namespace

void run_record(Sample& sample) { record_passes(sample, 21); }
void run_record_briefly(Sample& sample) { record_passes(sample, 1); }

}  // namespace interlock
