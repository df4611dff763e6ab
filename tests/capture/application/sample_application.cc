// A Vulkan application with a missing barrier, and with each way to repair it. Its argument says
// which. It checks its results: the driver executes in order, so that it always finds them right.

#include <volk.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tests/capture/application/sample_device.h"
#include "tests/capture/application/sample_modes.h"

namespace interlock {
void barrier(VkCommandBuffer commands, VkPipelineStageFlags source_stage,
             VkAccessFlags source_access, VkPipelineStageFlags destination_stage,
             VkAccessFlags destination_access) {
  VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  memory.srcAccessMask = source_access;
  memory.dstAccessMask = destination_access;
  vkCmdPipelineBarrier(commands, source_stage, destination_stage, 0, 1, &memory, 0, nullptr, 0,
                       nullptr);
}

void compute_barrier(VkCommandBuffer commands) {
  barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
          VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
}

namespace {

// The second dispatch reads what the first one writes.
template <typename Between>
void run_two(Sample& sample, const Between& between) {
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, sample.first);
  between(commands);
  sample.device.dispatch(commands, sample.second);
  sample.device.run(commands);
}

void run_missing(Sample& sample) {
  run_two(sample, [](VkCommandBuffer) {});
}

void run_barrier(Sample& sample) { run_two(sample, compute_barrier); }

void run_buffer_barrier_2(Sample& sample) {
  run_two(sample, [&](VkCommandBuffer commands) {
    VkBufferMemoryBarrier2 buffer = {VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2};
    buffer.srcStageMask = buffer.dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
    buffer.srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
    buffer.dstAccessMask = VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
    buffer.buffer = sample.b.buffer;
    buffer.size = VK_WHOLE_SIZE;
    VkDependencyInfo info = {VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
    info.bufferMemoryBarrierCount = 1;
    info.pBufferMemoryBarriers = &buffer;
    vkCmdPipelineBarrier2(commands, &info);
  });
}

// As it should be, but for another buffer.
void run_other_buffer(Sample& sample) {
  run_two(sample, [&](VkCommandBuffer commands) {
    VkBufferMemoryBarrier buffer = {VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER};
    buffer.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    buffer.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
    buffer.buffer = sample.a.buffer;
    buffer.size = VK_WHOLE_SIZE;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, nullptr, 1, &buffer, 0,
                         nullptr);
  });
}

// The host waits for the first submission before it makes the second one.
void run_fence(Sample& sample) {
  for (const VkDescriptorSet set : {sample.first, sample.second}) {
    const VkCommandBuffer commands = sample.device.begin();
    sample.device.dispatch(commands, set);
    sample.device.run(commands);
  }
}

// Two submissions: the host waits for the first one, or nobody does.
void run_submissions(Sample& sample, bool is_ordered) {
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, sample.first);
  sample.device.submit(commands, nullptr, VK_NULL_HANDLE, VK_NULL_HANDLE);
  if (is_ordered) require(vkQueueWaitIdle(sample.device.queue()), "vkQueueWaitIdle");
  const VkCommandBuffer next = sample.device.begin();
  sample.device.dispatch(next, sample.second);
  sample.device.run(next);
}

void run_unordered_submissions(Sample& sample) { run_submissions(sample, false); }
void run_wait_idle(Sample& sample) { run_submissions(sample, true); }

// A fill, a dispatch and a copy, all of them ordered; or the copy not.
void run_copies(Sample& sample, bool is_ordered) {
  const VkCommandBuffer commands = sample.device.begin();
  vkCmdFillBuffer(commands, sample.a.buffer, 0, VK_WHOLE_SIZE, 6);
  barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
          VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
  sample.device.dispatch(commands, sample.first);
  if (is_ordered) {
    barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
  }
  const VkBufferCopy regions[] = {{0, 0, 512}, {512, 512, 512}};
  vkCmdCopyBuffer(commands, sample.b.buffer, sample.c.buffer, 2, regions);
  sample.device.run(commands);
}

void run_ordered_copies(Sample& sample) { run_copies(sample, true); }
void run_unordered_copies(Sample& sample) { run_copies(sample, false); }

void run_template(Sample& sample) {
  sample.first = sample.device.set_by_template(sample.a, sample.b);
  sample.second = sample.device.set_by_template(sample.b, sample.c);
  run_missing(sample);
}

// Of two submissions the second waits for a value that the first one signals.
void run_timeline(Sample& sample) {
  const VkDevice device = sample.device.device();
  VkSemaphoreTypeCreateInfo type = {VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  info.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  require(vkCreateSemaphore(device, &info, nullptr, &semaphore), "vkCreateSemaphore");
  VkTimelineSemaphoreSubmitInfo values = {VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  const uint64_t one = 1;
  const uint64_t two = 2;
  values.waitSemaphoreValueCount = values.signalSemaphoreValueCount = 1;
  values.pWaitSemaphoreValues = &one;
  values.pSignalSemaphoreValues = &one;
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, sample.first);
  sample.device.submit(commands, &values, VK_NULL_HANDLE, semaphore);
  const VkCommandBuffer next = sample.device.begin();
  sample.device.dispatch(next, sample.second);
  values.pSignalSemaphoreValues = &two;
  sample.device.submit(next, &values, semaphore, semaphore);
  VkSemaphoreWaitInfo wait = {VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  wait.semaphoreCount = 1;
  wait.pSemaphores = &semaphore;
  wait.pValues = &two;
  require(vkWaitSemaphores(device, &wait, UINT64_MAX), "vkWaitSemaphores");
  vkDestroySemaphore(device, semaphore, nullptr);
}

void run_binary(Sample& sample) {
  VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  VkSemaphore semaphore = VK_NULL_HANDLE;
  require(vkCreateSemaphore(sample.device.device(), &info, nullptr, &semaphore), "a semaphore");
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, sample.first);
  sample.device.submit(commands, nullptr, VK_NULL_HANDLE, semaphore);
  const VkCommandBuffer next = sample.device.begin();
  sample.device.dispatch(next, sample.second);
  sample.device.submit(next, nullptr, semaphore, VK_NULL_HANDLE);
  require(vkDeviceWaitIdle(sample.device.device()), "vkDeviceWaitIdle");
  vkDestroySemaphore(sample.device.device(), semaphore, nullptr);
}

// The second dispatch is of a secondary command buffer, and the barrier before it stands there,
// too.
void run_secondary(Sample& sample) {
  const VkCommandBuffer secondary = sample.device.begin(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  compute_barrier(secondary);
  sample.device.dispatch(secondary, sample.second);
  require(vkEndCommandBuffer(secondary), "vkEndCommandBuffer");
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, sample.first);
  vkCmdExecuteCommands(commands, 1, &secondary);
  sample.device.run(commands);
}

// The number of groups is read from a buffer, which a copy writes: what is ordered is compute
// alone, or the reading of arguments, too.
void run_indirect(Sample& sample, bool is_ordered) {
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, sample.first);
  const SampleBuffer arguments = sample.device.buffer();
  const uint32_t groups[] = {kSampleBytes / sizeof(uint32_t) / 64, 1, 1};
  vkCmdUpdateBuffer(commands, arguments.buffer, 0, sizeof(groups), groups);
  compute_barrier(commands);
  barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
          is_ordered ? VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT : VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
          is_ordered ? VK_ACCESS_INDIRECT_COMMAND_READ_BIT : VK_ACCESS_SHADER_READ_BIT);
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, sample.device.pipeline());
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, sample.device.layout(), 0, 1,
                          &sample.second, 0, nullptr);
  vkCmdDispatchIndirect(commands, arguments.buffer, 0);
  sample.device.run(commands);
}

void run_ordered_indirect(Sample& sample) { run_indirect(sample, true); }
void run_unordered_indirect(Sample& sample) { run_indirect(sample, false); }

// Beside the results of two queries, of 4 bytes each, a fill writes; or over the second one.
void run_queries(Sample& sample, bool is_beside) {
  VkQueryPoolCreateInfo info = {VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = 2;
  VkQueryPool pool = VK_NULL_HANDLE;
  require(vkCreateQueryPool(sample.device.device(), &info, nullptr, &pool), "a query pool");
  const SampleBuffer results = sample.device.buffer();
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, sample.first);
  compute_barrier(commands);
  sample.device.dispatch(commands, sample.second);
  vkCmdResetQueryPool(commands, pool, 0, 2);
  for (uint32_t i = 0; i < 2; ++i) {
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, i);
  }
  vkCmdCopyQueryPoolResults(commands, pool, 0, 2, results.buffer, 0, 4, VK_QUERY_RESULT_WAIT_BIT);
  vkCmdFillBuffer(commands, results.buffer, is_beside ? 8 : 4, 4, 0);
  sample.device.run(commands);
  vkDestroyQueryPool(sample.device.device(), pool, nullptr);
}

void run_queries_beside(Sample& sample) { run_queries(sample, true); }
void run_queries_below(Sample& sample) { run_queries(sample, false); }

// More calls than a small log holds.
void run_many(Sample& sample) {
  const VkCommandBuffer commands = sample.device.begin();
  for (uint32_t i = 0; i < 1000; ++i) {
    vkCmdFillBuffer(commands, sample.c.buffer, 0, VK_WHOLE_SIZE, 7);
    barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
  }
  sample.device.run(commands);
}

// What the host reads after the fence, in coherent memory: no call shows what the last one is for.
void run_host_barrier(Sample& sample) {
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, sample.first);
  compute_barrier(commands);
  sample.device.dispatch(commands, sample.second);
  barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
          VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  sample.device.run(commands);
}

// Writes b twice, with reads of it in between; both barriers name no write in their destination.
void run_reads_between(Sample& sample) {
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, sample.first);
  compute_barrier(commands);
  sample.device.dispatch(commands, sample.second);
  compute_barrier(commands);
  sample.device.dispatch(commands, sample.first);
  sample.device.run(commands);
}

// A dispatch overwrites what a fill writes, and the barrier before who reads it names the dispatch
// alone.
void run_overwritten(Sample& sample) {
  const VkCommandBuffer commands = sample.device.begin();
  vkCmdFillBuffer(commands, sample.b.buffer, 0, VK_WHOLE_SIZE, 9);
  sample.device.dispatch(commands, sample.first);
  compute_barrier(commands);
  sample.device.dispatch(commands, sample.second);
  sample.device.run(commands);
}

// Each of two dispatches overwrites what it reads, by two bindings of one buffer.
void run_in_place(Sample& sample) {
  for (uint64_t i = 0; i < kSampleBytes / sizeof(uint32_t); ++i) sample.c.words[i] = 5;
  const VkDescriptorSet set = sample.device.set(sample.c, sample.c);
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, set);
  compute_barrier(commands);
  sample.device.dispatch(commands, set);
  sample.device.run(commands);
}

// Submits nothing: the host does all of it.
void run_nothing(Sample& sample) { sample.c.words[0] = kSampleResult; }

// The missing barrier, two submissions without one, and the missing barrier.
void run_frames(Sample& sample) {
  run_missing(sample);
  run_fence(sample);
  run_missing(sample);
}

// Submits the missing barrier, and ends without a word to anybody.
void run_killed(Sample& sample) {
  run_missing(sample);
  std::abort();
}

struct Mode {
  std::string_view name;
  void (*run)(Sample& sample);
  SampleWishes wishes = {};
};

constexpr Mode kModes[] = {
    {"missing", run_missing},
    {"barrier", run_barrier},
    {"buffer-barrier-2", run_buffer_barrier_2},
    {"other-buffer", run_other_buffer},
    {"fence", run_fence},
    {"unordered-submissions", run_unordered_submissions},
    {"wait-idle", run_wait_idle},
    {"ordered-copies", run_ordered_copies},
    {"unordered-copies", run_unordered_copies},
    {"template", run_template},
    {"timeline", run_timeline},
    {"binary", run_binary},
    {"secondary", run_secondary},
    {"ordered-indirect", run_ordered_indirect},
    {"unordered-indirect", run_unordered_indirect},
    {"queries-beside", run_queries_beside},
    {"queries-below", run_queries_below},
    {"forks", run_forks},
    {"many", run_many},
    {"frames", run_frames},
    {"host-barrier", run_host_barrier},
    {"reads-between", run_reads_between},
    {"overwritten", run_overwritten},
    {"in-place", run_in_place},
    {"nothing", run_nothing},
    {"killed", run_killed},
    {"barrier-and-stays", run_barrier_and_stays},
    {"picture", run_picture},
    {"pass", run_pass},
    {"unordered-pass", run_unordered_pass},
    {"labels", run_labels},
    {"markers", run_markers},
    {"family-chains", run_family_chains},
    {"threads", run_threads},
    {"queues", run_queues, {true, false, false}},
    {"unordered-queues", run_unordered_queues, {true, false, false}},
    {"unasked-names", run_unasked_names, {false, false, true}},
    {"addresses", run_addresses, {.has_addresses = true}},
    {"ordered-addresses", run_ordered_addresses, {.has_addresses = true}},
    {"addresses-in-a-table", run_addresses_in_a_table, {.has_addresses = true}},
    {"ordered-table", run_ordered_table, {.has_addresses = true}},
    {"set-that-stays", run_set_that_stays},
    {"imports", run_imports, {.has_imports = true}},
    {"shared-file", run_shared_file, {.has_files = true}},
    {"record", run_record},
    {"record-briefly", run_record_briefly},
    {"all-features", run_barrier, {false, true, false}},
};

// What a mode has left of a that is 5.
int status_of(const Sample& sample) {
  if (sample.c.words[0] == kSampleResult) return 0;
  std::fprintf(stderr, "c[0] is %u and not %u.\n", sample.c.words[0], kSampleResult);
  return 1;
}

// "calls:blit" and "unordered-calls:blit".
int run_calls_of(std::string_view mode) {
  Sample sample;
  for (uint64_t i = 0; i < kSampleBytes / sizeof(uint32_t); ++i) sample.a.words[i] = 5;
  run_calls(sample, mode.substr(mode.find(':') + 1), mode.starts_with("calls:"));
  return status_of(sample);
}

int run_sample(std::string_view name) {
  if (name.find("calls:") != std::string_view::npos) return run_calls_of(name);
  for (const Mode& mode : kModes) {
    if (mode.name != name) continue;
    Sample sample(mode.wishes);
    for (uint64_t i = 0; i < kSampleBytes / sizeof(uint32_t); ++i) sample.a.words[i] = 5;
    mode.run(sample);
    return status_of(sample);
  }
  std::fprintf(stderr, "There is no mode of this name.\n");
  return 2;
}

}  // namespace
}  // namespace interlock

int main(int argc, char** argv) { return argc == 2 ? interlock::run_sample(argv[1]) : 2; }
