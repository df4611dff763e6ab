// A device, and what the sample application makes on it. Errors end the program: it is a test.
#pragma once

#include <volk.h>

#include <cstdint>
#include <vector>

namespace interlock {

struct SampleBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint32_t* words = nullptr;  // Mapped.
};

inline constexpr uint64_t kSampleBytes = 1024;

class SampleDevice {
 public:
  SampleDevice();
  ~SampleDevice();
  SampleDevice(const SampleDevice&) = delete;
  SampleDevice& operator=(const SampleDevice&) = delete;

  VkDevice device() const { return device_; }
  VkQueue queue() const { return queue_; }
  uint32_t family() const { return family_; }
  VkPipelineLayout layout() const { return layout_; }
  VkPipeline pipeline() const { return pipeline_; }

  SampleBuffer buffer();

  // A set with these two buffers.
  VkDescriptorSet set(const SampleBuffer& from, const SampleBuffer& to);
  // Written by an update template.
  VkDescriptorSet set_by_template(const SampleBuffer& from, const SampleBuffer& to);

  VkCommandBuffer begin(VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY);
  void dispatch(VkCommandBuffer commands, VkDescriptorSet set) const;
  // Submits, and waits for the fence.
  void run(VkCommandBuffer commands);
  // Submits with this in the chain, and waits for nothing.
  void submit(VkCommandBuffer commands, const VkTimelineSemaphoreSubmitInfo* timeline,
              VkSemaphore wait, VkSemaphore signal) const;

 private:
  void create_device();
  void create_pipeline();
  VkDescriptorSet allocate_set();

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t family_ = 0;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  VkCommandPool commands_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  std::vector<SampleBuffer> buffers_;
};

// Ends the program with status 3 unless the call succeeded.
void require(VkResult result, const char* call);

}  // namespace interlock
