// Modes of the sample application that make the calls of Vulkan which the others do not: each
// ordered, and without one dependency.
#include <volk.h>

#include "tests/capture/application/sample_modes.h"
#include "tests/capture/application/sample_picture.h"

namespace interlock {
namespace {

struct Scope {
  VkPipelineStageFlags stages;
  VkAccessFlags accesses;
};

constexpr Scope kDispatchWrites = {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                   VK_ACCESS_SHADER_WRITE_BIT};
constexpr Scope kDispatchReads = {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT};
constexpr Scope kTransferWrites = {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT};
constexpr Scope kTransferReads = {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT};

class Event {
 public:
  explicit Event(VkDevice device) : device_(device) {
    const VkEventCreateInfo info = {VK_STRUCTURE_TYPE_EVENT_CREATE_INFO, nullptr, 0};
    require(vkCreateEvent(device, &info, nullptr, &event_), "vkCreateEvent");
  }
  ~Event() { vkDestroyEvent(device_, event_, nullptr); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void set(VkCommandBuffer commands, VkPipelineStageFlags stages) const {
    vkCmdSetEvent(commands, event_, stages);
  }
  void wait(VkCommandBuffer commands, Scope source, Scope destination) const {
    VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    memory.srcAccessMask = source.accesses;
    memory.dstAccessMask = destination.accesses;
    vkCmdWaitEvents(commands, 1, &event_, source.stages, destination.stages, 1, &memory, 0, nullptr,
                    0, nullptr);
  }
  void set_2(VkCommandBuffer commands, const VkDependencyInfo& info) const {
    vkCmdSetEvent2(commands, event_, &info);
  }
  void wait_2(VkCommandBuffer commands, const VkDependencyInfo& info) const {
    vkCmdWaitEvents2(commands, 1, &event_, &info);
  }

 private:
  VkDevice device_;
  VkEvent event_ = VK_NULL_HANDLE;
};

// Of one buffer, or of all memory.
struct Dependency {
  Dependency(Scope source, Scope destination) {
    memory.srcStageMask = source.stages;
    memory.srcAccessMask = source.accesses;
    memory.dstStageMask = destination.stages;
    memory.dstAccessMask = destination.accesses;
    info.memoryBarrierCount = 1;
    info.pMemoryBarriers = &memory;
  }
  Dependency(const Dependency&) = delete;
  Dependency& operator=(const Dependency&) = delete;

  VkMemoryBarrier2 memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
  VkDependencyInfo info = {VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
};

void run_events(Sample& sample, bool is_newer, bool is_ordered) {
  const Event event(sample.device.device());
  const Dependency dependency(kDispatchWrites, kDispatchReads);
  const VkCommandBuffer commands = sample.device.begin();
  if (is_ordered) sample.device.dispatch(commands, sample.first);
  if (is_newer) {
    event.set_2(commands, dependency.info);
  } else {
    event.set(commands, kDispatchWrites.stages);
  }
  if (!is_ordered) sample.device.dispatch(commands, sample.first);
  if (is_newer) {
    event.wait_2(commands, dependency.info);
  } else {
    event.wait(commands, kDispatchWrites, kDispatchReads);
  }
  sample.device.dispatch(commands, sample.second);
  sample.device.run(commands);
}

// A copy reads what is filled after one wait, a dispatch after another, or after none.
void run_event_twice(Sample& sample, bool is_ordered) {
  const Event event(sample.device.device());
  const SampleBuffer beside = sample.device.buffer();
  const VkCommandBuffer commands = sample.device.begin();
  vkCmdFillBuffer(commands, sample.a.buffer, 0, VK_WHOLE_SIZE, 5);
  event.set(commands, kTransferWrites.stages);
  event.wait(commands, kTransferWrites, kTransferReads);
  const VkBufferCopy region = {0, 0, kSampleBytes};
  vkCmdCopyBuffer(commands, sample.a.buffer, beside.buffer, 1, &region);
  if (is_ordered) event.wait(commands, kTransferWrites, kDispatchReads);
  sample.device.dispatch(commands, sample.first);
  compute_barrier(commands);
  sample.device.dispatch(commands, sample.second);
  sample.device.run(commands);
}

void barrier_2(VkCommandBuffer commands, Scope source, Scope destination) {
  const Dependency dependency(source, destination);
  vkCmdPipelineBarrier2(commands, &dependency.info);
}

void submit_2(const Sample& sample, VkCommandBuffer commands) {
  require(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  VkCommandBufferSubmitInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO};
  info.commandBuffer = commands;
  VkSubmitInfo2 submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
  submit.commandBufferInfoCount = 1;
  submit.pCommandBufferInfos = &info;
  require(vkQueueSubmit2(sample.device.queue(), 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit2");
  require(vkQueueWaitIdle(sample.device.queue()), "vkQueueWaitIdle");
}

// What is between the dispatches is copied on the way.
void run_newer(Sample& sample, bool is_ordered) {
  const SampleBuffer beside = sample.device.buffer();
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, sample.first);
  barrier_2(commands, kDispatchWrites, kTransferReads);
  VkBufferCopy2 region = {VK_STRUCTURE_TYPE_BUFFER_COPY_2};
  region.size = kSampleBytes;
  VkCopyBufferInfo2 copy = {VK_STRUCTURE_TYPE_COPY_BUFFER_INFO_2};
  copy.srcBuffer = sample.b.buffer;
  copy.dstBuffer = beside.buffer;
  copy.regionCount = 1;
  copy.pRegions = &region;
  vkCmdCopyBuffer2(commands, &copy);
  if (is_ordered) barrier_2(commands, kTransferWrites, kDispatchReads);
  sample.device.dispatch(commands, sample.device.set(beside, sample.c));
  submit_2(sample, commands);
}

// Sets that are pushed, and dispatches from a base.
void run_pushed(Sample& sample, bool is_ordered) {
  const VkDevice device = sample.device.device();
  const VkDescriptorSetLayoutBinding bindings[] = {
      {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
      {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
  VkDescriptorSetLayoutCreateInfo set_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set_info.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
  set_info.bindingCount = 2;
  set_info.pBindings = bindings;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  require(vkCreateDescriptorSetLayout(device, &set_info, nullptr, &set_layout), "a set layout");
  VkPipelineLayoutCreateInfo layout_info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout_info.setLayoutCount = 1;
  layout_info.pSetLayouts = &set_layout;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  require(vkCreatePipelineLayout(device, &layout_info, nullptr, &layout), "a pipeline layout");
  const VkPipeline pipeline = sample.device.create_pipeline(layout, SampleDevice::add_one());
  const VkCommandBuffer commands = sample.device.begin();
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  const auto dispatch = [&](const SampleBuffer& from, const SampleBuffer& to) {
    const VkDescriptorBufferInfo buffers[] = {{from.buffer, 0, VK_WHOLE_SIZE},
                                              {to.buffer, 0, VK_WHOLE_SIZE}};
    VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.descriptorCount = 2;  // The second one rolls over into the next binding.
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = buffers;
    vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &write);
    vkCmdDispatchBase(commands, 0, 0, 0, kSampleBytes / sizeof(uint32_t) / 64, 1, 1);
  };
  dispatch(sample.a, sample.b);
  if (is_ordered) compute_barrier(commands);
  dispatch(sample.b, sample.c);
  sample.device.run(commands);
  vkDestroyPipeline(device, pipeline, nullptr);
  vkDestroyPipelineLayout(device, layout, nullptr);
  vkDestroyDescriptorSetLayout(device, set_layout, nullptr);
}

// A command buffer that runs while it runs: it writes the same twice, with a barrier at its
// beginning, or without.
void run_simultaneous(Sample& sample, bool is_ordered) {
  const VkCommandBuffer commands = sample.device.begin();
  require(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  require(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
  if (is_ordered) {
    barrier_2(commands, kDispatchWrites, {kDispatchWrites.stages, VK_ACCESS_SHADER_WRITE_BIT});
  }
  sample.device.dispatch(commands, sample.first);
  sample.device.submit(commands, nullptr, VK_NULL_HANDLE, VK_NULL_HANDLE);
  VkSubmitInfo again = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  again.commandBufferCount = 1;
  again.pCommandBuffers = &commands;
  require(vkQueueSubmit(sample.device.queue(), 1, &again, VK_NULL_HANDLE), "vkQueueSubmit");
  require(vkDeviceWaitIdle(sample.device.device()), "vkDeviceWaitIdle");
  const VkCommandBuffer second = sample.device.begin();
  sample.device.dispatch(second, sample.second);
  sample.device.run(second);
}

// From one picture to another, which is read then.
template <typename Transfer>
void run_pictures(Sample& sample, VkSampleCountFlagBits samples, bool is_ordered,
                  const Transfer& transfer) {
  constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;
  const SamplePicture from(sample.device, kFormat, samples);
  const SamplePicture to(sample.device, kFormat);
  const VkCommandBuffer commands = sample.device.begin();
  for (const SamplePicture* const picture : {&from, &to}) {
    picture->transition(commands, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL, 0,
                        VK_ACCESS_TRANSFER_WRITE_BIT);
  }
  VkClearColorValue color = {};
  color.float32[0] = static_cast<float>(kSampleResult) / 255;
  vkCmdClearColorImage(commands, from.image(), VK_IMAGE_LAYOUT_GENERAL, &color, 1,
                       &SamplePicture::kAll);
  barrier_2(commands, kTransferWrites, kTransferReads);
  transfer(commands, from.image(), to.image());
  if (is_ordered) barrier_2(commands, kTransferWrites, kTransferReads);
  VkBufferImageCopy2 region = {VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2};
  region.imageSubresource = SamplePicture::kLayer;
  region.imageExtent = SamplePicture::kExtent;
  VkCopyImageToBufferInfo2 copy = {VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2};
  copy.srcImage = to.image();
  copy.srcImageLayout = VK_IMAGE_LAYOUT_GENERAL;
  copy.dstBuffer = sample.c.buffer;
  copy.regionCount = 1;
  copy.pRegions = &region;
  vkCmdCopyImageToBuffer2(commands, &copy);
  sample.device.run(commands);
}

void blit(VkCommandBuffer commands, VkImage from, VkImage to) {
  VkImageBlit region = {};
  region.srcSubresource = region.dstSubresource = SamplePicture::kLayer;
  region.srcOffsets[1] = region.dstOffsets[1] = {kPictureWidth, kPictureHeight, 1};
  vkCmdBlitImage(commands, from, VK_IMAGE_LAYOUT_GENERAL, to, VK_IMAGE_LAYOUT_GENERAL, 1, &region,
                 VK_FILTER_NEAREST);
}

void resolve(VkCommandBuffer commands, VkImage from, VkImage to) {
  VkImageResolve2 region = {VK_STRUCTURE_TYPE_IMAGE_RESOLVE_2};
  region.srcSubresource = region.dstSubresource = SamplePicture::kLayer;
  region.extent = SamplePicture::kExtent;
  VkResolveImageInfo2 info = {VK_STRUCTURE_TYPE_RESOLVE_IMAGE_INFO_2};
  info.srcImage = from;
  info.dstImage = to;
  info.srcImageLayout = info.dstImageLayout = VK_IMAGE_LAYOUT_GENERAL;
  info.regionCount = 1;
  info.pRegions = &region;
  vkCmdResolveImage2(commands, &info);
}

void run_blit(Sample& sample, bool is_ordered) {
  run_pictures(sample, VK_SAMPLE_COUNT_1_BIT, is_ordered, blit);
}
void run_resolve(Sample& sample, bool is_ordered) {
  run_pictures(sample, VK_SAMPLE_COUNT_4_BIT, is_ordered, resolve);
}

}  // namespace

void run_calls(Sample& sample, std::string_view name, bool is_ordered) {
  if (name == "events") run_events(sample, false, is_ordered);
  if (name == "newer-events") run_events(sample, true, is_ordered);
  if (name == "event-twice") run_event_twice(sample, is_ordered);
  if (name == "newer") run_newer(sample, is_ordered);
  if (name == "pushed") run_pushed(sample, is_ordered);
  if (name == "simultaneous") run_simultaneous(sample, is_ordered);
  if (name == "blit") run_blit(sample, is_ordered);
  if (name == "resolve") run_resolve(sample, is_ordered);
}

}  // namespace interlock
