// A device, and what the sample application makes on it. Errors end the program: it is a test.
#pragma once

#include <volk.h>

#include <cstdint>
#include <span>
#include <vector>

namespace interlock {

struct SampleBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint32_t* words = nullptr;  // Mapped.
};

inline constexpr uint64_t kSampleBytes = 1024;
// The largest that a device may ask an imported pointer to be aligned to.
inline constexpr uint64_t kSampleImportBytes = 65536;

// What a mode asks of the device beside a queue; where that is not there, the program ends with
// status 4.
struct SampleWishes {
  bool has_two_families = false;  // And it is an integrated GPU.
  bool has_all_features = false;  // Of Vulkan 1.0 to 1.3.
  bool is_unnamed = false;        // The extension with names and labels is not turned on.
  bool has_addresses = false;     // Of buffers.
  bool has_imports = false;       // Of memory of the host.
  bool has_files = false;         // That memory is exported as, and imported from.
};

class SampleDevice {
 public:
  explicit SampleDevice(SampleWishes wishes = {});
  ~SampleDevice();
  SampleDevice(const SampleDevice&) = delete;
  SampleDevice& operator=(const SampleDevice&) = delete;

  VkPhysicalDevice physical() const { return physical_; }
  VkDevice device() const { return device_; }
  VkQueue queue() const { return queue_; }
  uint32_t family() const { return family_; }
  // Of one stage of a pipeline.
  uint32_t storage_buffer_count_max() const;
  // Of the second family.
  VkQueue other_queue() const { return other_queue_; }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }
  VkPipelineLayout layout() const { return layout_; }
  VkPipeline pipeline() const { return pipeline_; }

  bool has_addresses() const { return has_addresses_; }

  SampleBuffer buffer();
  // Of memory of the host, which outlives this. Requires: the device has imports; `memory` is
  // aligned to kSampleImportBytes, and so large.
  SampleBuffer buffer_at(void* memory);

  // Of memory that can be exported, or that is imported from this file, which then belongs to the
  // driver. Requires: the device has files. -1: it is a new one.
  SampleBuffer shared_buffer(int file);
  int file_of(const SampleBuffer& buffer) const;

  // The shader that reads binding 0, and writes one more to binding 1.
  static std::span<const uint32_t> add_one();
  // Of a compute shader; whoever asks for it destroys it.
  VkPipeline create_pipeline(VkPipelineLayout layout, std::span<const uint32_t> code) const;

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
              VkSemaphore wait, VkSemaphore signal) const {
    submit_to(queue_, commands, timeline, wait, signal);
  }
  void submit_to(VkQueue queue, VkCommandBuffer commands,
                 const VkTimelineSemaphoreSubmitInfo* timeline, VkSemaphore wait,
                 VkSemaphore signal) const;

 private:
  void create_device(SampleWishes wishes);
  void create_objects();
  VkDescriptorSet allocate_set();

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkQueue other_queue_ = VK_NULL_HANDLE;
  uint32_t family_ = 0;
  bool has_addresses_ = false;
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
