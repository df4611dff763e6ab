// Images, their views, and those of swapchains.

#include <volk.h>

#include <array>
#include <mutex>
#include <set>
#include <utility>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/layer/pretended_device.h"
#include "capture/log/object_records.h"
#include "capture/log/queue_records.h"

namespace interlock {
namespace {

VKAPI_ATTR VkResult VKAPI_CALL create_image(VkDevice device, const VkImageCreateInfo* info,
                                            const VkAllocationCallbacks* allocator,
                                            VkImage* image) {
  const VkImageCreateInfo real = with_real_families(*info);
  const VkResult result = device_of(device).next.vkCreateImage(device, &real, allocator, image);
  if (result != VK_SUCCESS) return result;
  CreateImageRecord record;
  record.image = number_of(*image);
  record.flags = info->flags;
  record.type = static_cast<uint32_t>(info->imageType);
  record.format = static_cast<uint32_t>(info->format);
  record.width = info->extent.width;
  record.height = info->extent.height;
  record.depth = info->extent.depth;
  record.mip_count = info->mipLevels;
  record.layer_count = info->arrayLayers;
  record.sample_count = static_cast<uint32_t>(info->samples);
  record.tiling = static_cast<uint32_t>(info->tiling);
  log().append(record);
  return result;
}

void log_binding(VkImage image, VkDeviceMemory memory, uint64_t offset_bytes,
                 VkImageAspectFlags plane) {
  log().append(BindImageRecord{number_of(image), number_of(memory), offset_bytes, plane});
}

VKAPI_ATTR VkResult VKAPI_CALL bind_image(VkDevice device, VkImage image, VkDeviceMemory memory,
                                          VkDeviceSize offset_bytes) {
  const VkResult result =
      device_of(device).next.vkBindImageMemory(device, image, memory, offset_bytes);
  if (result == VK_SUCCESS) log_binding(image, memory, offset_bytes, 0);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL bind_images(VkDevice device, uint32_t count,
                                           const VkBindImageMemoryInfo* infos) {
  const VkResult result = device_of(device).next.vkBindImageMemory2(device, count, infos);
  for (uint32_t i = 0; result == VK_SUCCESS && i < count; ++i) {
    if (infos[i].memory == VK_NULL_HANDLE) continue;  // An image of a swapchain.
    const auto* const plane = find_in_chain<VkBindImagePlaneMemoryInfo>(
        infos[i].pNext, VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO);
    log_binding(infos[i].image, infos[i].memory, infos[i].memoryOffset,
                plane == nullptr ? 0 : static_cast<VkImageAspectFlags>(plane->planeAspect));
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_image_view(VkDevice device, const VkImageViewCreateInfo* info,
                                                 const VkAllocationCallbacks* allocator,
                                                 VkImageView* view) {
  const VkResult result = device_of(device).next.vkCreateImageView(device, info, allocator, view);
  if (result == VK_SUCCESS) {
    log().append(CreateImageViewRecord{number_of(*view), number_of(info->image),
                                       static_cast<uint32_t>(info->viewType),
                                       fields_of(info->subresourceRange)});
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_swapchain(VkDevice device,
                                                const VkSwapchainCreateInfoKHR* info,
                                                const VkAllocationCallbacks* allocator,
                                                VkSwapchainKHR* swapchain) {
  Device& owner = device_of(device);
  const VkSwapchainCreateInfoKHR real = with_real_families(*info);
  const VkResult result = owner.next.vkCreateSwapchainKHR(device, &real, allocator, swapchain);
  if (result != VK_SUCCESS) return result;
  const std::lock_guard lock(owner.mutex);
  owner.swapchains[number_of(*swapchain)] = {*info, {}};
  return result;
}

// Its images go with it: others may have their handles.
VKAPI_ATTR void VKAPI_CALL destroy_swapchain(VkDevice device, VkSwapchainKHR swapchain,
                                             const VkAllocationCallbacks* allocator) {
  Device& owner = device_of(device);
  std::set<uint64_t> images;
  {
    const std::lock_guard lock(owner.mutex);
    const auto found = owner.swapchains.find(number_of(swapchain));
    if (found != owner.swapchains.end()) {
      images = std::move(found->second.images);
      owner.swapchains.erase(found);
    }
  }
  for (const uint64_t image : images) log().append(DestroyRecord{VK_OBJECT_TYPE_IMAGE, image});
  if (swapchain != VK_NULL_HANDLE) {
    log().append(DestroyRecord{VK_OBJECT_TYPE_SWAPCHAIN_KHR, number_of(swapchain)});
  }
  owner.next.vkDestroySwapchainKHR(device, swapchain, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL get_swapchain_images(VkDevice device, VkSwapchainKHR swapchain,
                                                    uint32_t* count, VkImage* images) {
  Device& owner = device_of(device);
  const VkResult result = owner.next.vkGetSwapchainImagesKHR(device, swapchain, count, images);
  if (result < 0 || images == nullptr) return result;
  VkSwapchainCreateInfoKHR info = {};
  {
    const std::lock_guard lock(owner.mutex);
    Swapchain& known = owner.swapchains[number_of(swapchain)];
    info = known.info;
    for (uint32_t i = 0; i < *count; ++i) known.images.insert(number_of(images[i]));
  }
  for (uint32_t i = 0; i < *count; ++i) {
    CreateImageRecord record;
    record.image = number_of(images[i]);
    record.type = VK_IMAGE_TYPE_2D;
    record.format = static_cast<uint32_t>(info.imageFormat);
    record.width = info.imageExtent.width;
    record.height = info.imageExtent.height;
    record.depth = 1;
    record.mip_count = 1;
    record.layer_count = info.imageArrayLayers;
    record.sample_count = 1;
    record.is_of_swapchain = 1;
    log().append(record);
  }
  log().append(SwapchainImagesRecord{number_of(swapchain), numbers_of(images, *count)});
  return result;
}

void log_acquired(VkSwapchainKHR swapchain, VkSemaphore semaphore, VkFence fence, uint32_t index) {
  log().append(
      AcquireRecord{number_of(semaphore), number_of(fence), {number_of(swapchain), index}});
}

VKAPI_ATTR VkResult VKAPI_CALL acquire_image(VkDevice device, VkSwapchainKHR swapchain,
                                             uint64_t timeout, VkSemaphore semaphore, VkFence fence,
                                             uint32_t* index) {
  const VkResult result = device_of(device).next.vkAcquireNextImageKHR(device, swapchain, timeout,
                                                                       semaphore, fence, index);
  log_failure("vkAcquireNextImageKHR", result, device_of(device));
  if (result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR) {
    log_acquired(swapchain, semaphore, fence, *index);
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL acquire_image_2(VkDevice device,
                                               const VkAcquireNextImageInfoKHR* info,
                                               uint32_t* index) {
  const VkResult result = device_of(device).next.vkAcquireNextImage2KHR(device, info, index);
  log_failure("vkAcquireNextImage2KHR", result, device_of(device));
  if (result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR) {
    log_acquired(info->swapchain, info->semaphore, info->fence, *index);
  }
  return result;
}

}  // namespace

std::span<const Intercepted> image_calls() {
  static const std::array kCalls = {
      Intercepted{"vkCreateImage", as_function(create_image)},
      Intercepted{
          "vkDestroyImage",
          as_function(
              destroy_object<&VolkDeviceTable::vkDestroyImage, VK_OBJECT_TYPE_IMAGE, VkImage>)},
      Intercepted{"vkBindImageMemory", as_function(bind_image)},
      Intercepted{"vkBindImageMemory2", as_function(bind_images)},
      Intercepted{"vkBindImageMemory2KHR", as_function(bind_images)},
      Intercepted{"vkCreateImageView", as_function(create_image_view)},
      Intercepted{"vkDestroyImageView",
                  as_function(destroy_object<&VolkDeviceTable::vkDestroyImageView,
                                             VK_OBJECT_TYPE_IMAGE_VIEW, VkImageView>)},
      Intercepted{"vkCreateSwapchainKHR", as_function(create_swapchain)},
      Intercepted{"vkDestroySwapchainKHR", as_function(destroy_swapchain)},
      Intercepted{"vkGetSwapchainImagesKHR", as_function(get_swapchain_images)},
      Intercepted{"vkAcquireNextImageKHR", as_function(acquire_image)},
      Intercepted{"vkAcquireNextImage2KHR", as_function(acquire_image_2)},
  };
  return kCalls;
}

}  // namespace interlock
