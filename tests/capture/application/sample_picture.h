// An image of the sample application.
#pragma once

#include <volk.h>

#include <cstdint>

#include "tests/capture/application/sample_device.h"

namespace interlock {

// As many texels as a buffer has words.
inline constexpr uint32_t kPictureWidth = 16;
inline constexpr uint32_t kPictureHeight = kSampleBytes / sizeof(uint32_t) / kPictureWidth;
inline constexpr VkFormat kPictureFormat = VK_FORMAT_R32_UINT;

class SamplePicture {
 public:
  static constexpr VkImageSubresourceRange kAll = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};

  static constexpr VkImageSubresourceLayers kLayer = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  static constexpr VkExtent3D kExtent = {kPictureWidth, kPictureHeight, 1};

  explicit SamplePicture(const SampleDevice& device, VkFormat format = kPictureFormat,
                         VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT)
      : device_(device) {
    VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = kExtent;
    info.mipLevels = info.arrayLayers = 1;
    info.samples = samples;
    info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    require(vkCreateImage(device.device(), &info, nullptr, &image_), "vkCreateImage");
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device.device(), image_, &needs);
    VkMemoryAllocateInfo memory = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    memory.allocationSize = needs.size;
    while ((needs.memoryTypeBits >> memory.memoryTypeIndex & 1u) == 0) ++memory.memoryTypeIndex;
    require(vkAllocateMemory(device.device(), &memory, nullptr, &memory_), "vkAllocateMemory");
    require(vkBindImageMemory(device.device(), image_, memory_, 0), "vkBindImageMemory");
  }
  ~SamplePicture() {
    vkDestroyImage(device_.device(), image_, nullptr);
    vkFreeMemory(device_.device(), memory_, nullptr);
  }
  SamplePicture(const SamplePicture&) = delete;
  SamplePicture& operator=(const SamplePicture&) = delete;

  VkImage image() const { return image_; }

  void transition(VkCommandBuffer commands, VkImageLayout from, VkImageLayout to,
                  VkAccessFlags source, VkAccessFlags destination) const {
    VkImageMemoryBarrier barrier = {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    barrier.srcAccessMask = source;
    barrier.dstAccessMask = destination;
    barrier.oldLayout = from;
    barrier.newLayout = to;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image_;
    barrier.subresourceRange = kAll;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         0, 0, nullptr, 0, nullptr, 1, &barrier);
  }

  void clear(VkCommandBuffer commands, uint32_t value) const {
    VkClearColorValue color = {};
    color.uint32[0] = value;
    vkCmdClearColorImage(commands, image_, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &color, 1, &kAll);
  }

  void copy_to(VkCommandBuffer commands, const SampleBuffer& buffer) const {
    VkBufferImageCopy region = {};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {kPictureWidth, kPictureHeight, 1};
    vkCmdCopyImageToBuffer(commands, image_, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer.buffer, 1,
                           &region);
  }

 private:
  const SampleDevice& device_;
  VkImage image_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
};

}  // namespace interlock
