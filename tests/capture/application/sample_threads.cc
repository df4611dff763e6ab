// Two threads that record and submit at once.
#include <volk.h>

#include <mutex>
#include <thread>

#include "tests/capture/application/sample_modes.h"

namespace interlock {
namespace {

constexpr int kRounds = 50;

// Command buffers of one thread: their pool is of it alone.
class ThreadCommands {
 public:
  explicit ThreadCommands(const SampleDevice& device) : device_(device) {
    VkCommandPoolCreateInfo info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    info.queueFamilyIndex = device.family();
    require(vkCreateCommandPool(device.device(), &info, nullptr, &pool_), "a pool");
  }
  ~ThreadCommands() { vkDestroyCommandPool(device_.device(), pool_, nullptr); }
  ThreadCommands(const ThreadCommands&) = delete;
  ThreadCommands& operator=(const ThreadCommands&) = delete;

  VkCommandBuffer begin() const {
    VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkCommandBuffer made = VK_NULL_HANDLE;
    require(vkAllocateCommandBuffers(device_.device(), &info, &made), "a command buffer");
    const VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr, 0,
                                            nullptr};
    require(vkBeginCommandBuffer(made, &begin), "vkBeginCommandBuffer");
    return made;
  }

 private:
  const SampleDevice& device_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
};

}  // namespace

void run_threads(Sample& sample) {
  SampleDevice& device = sample.device;
  const SampleBuffer other = device.buffer();
  std::mutex queue;  // Calls that submit to one queue may not be at once; those that record may.
  const auto fill_and_submit = [&](const SampleBuffer& to) {
    const ThreadCommands commands(device);
    for (int i = 0; i < kRounds; ++i) {
      const VkCommandBuffer buffer = commands.begin();
      VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
      barrier.srcAccessMask = barrier.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
      vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                           0, 1, &barrier, 0, nullptr, 0, nullptr);
      vkCmdFillBuffer(buffer, to.buffer, 0, VK_WHOLE_SIZE, kSampleResult);
      const std::lock_guard lock(queue);
      device.submit(buffer, nullptr, VK_NULL_HANDLE, VK_NULL_HANDLE);
    }
    const std::lock_guard lock(queue);
    require(vkQueueWaitIdle(device.queue()), "vkQueueWaitIdle");
  };
  std::thread beside([&] { fill_and_submit(other); });
  fill_and_submit(sample.c);
  beside.join();
}

}  // namespace interlock
