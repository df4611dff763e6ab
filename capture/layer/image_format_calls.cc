// Questions about images that are shared with others. Who asks with a handle type need not ask what
// it can do: the driver's answer has a place of its own for that, which may be left out, as
// GFXReconstruct does where it replays. Mesa 22.3's drivers on the CPU write there all the same,
// and crash: so there is always one.

#include <array>

#include "capture/layer/intercepted.h"
#include "capture/layer/pretended_features.h"

namespace interlock {
namespace {

VKAPI_ATTR VkResult VKAPI_CALL get_image_format(VkPhysicalDevice physical,
                                                const VkPhysicalDeviceImageFormatInfo2* info,
                                                VkImageFormatProperties2* properties) {
  auto next = next_of<PFN_vkGetPhysicalDeviceImageFormatProperties2>(
      physical, "vkGetPhysicalDeviceImageFormatProperties2");
  if (next == nullptr) {
    next = next_of<PFN_vkGetPhysicalDeviceImageFormatProperties2>(
        physical, "vkGetPhysicalDeviceImageFormatProperties2KHR");
  }
  const bool is_external =
      find_in_chain<VkPhysicalDeviceExternalImageFormatInfo>(
          info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO) != nullptr;
  const bool has_answer =
      find_in_chain<VkExternalImageFormatProperties>(
          properties->pNext, VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES) != nullptr;
  if (!is_external || has_answer) return next(physical, info, properties);
  VkExternalImageFormatProperties answer = {};
  answer.sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES;
  answer.pNext = properties->pNext;
  properties->pNext = &answer;
  const VkResult result = next(physical, info, properties);
  properties->pNext = answer.pNext;
  return result;
}

}  // namespace

std::span<const Intercepted> image_format_calls() {
  static const std::array kCalls = {
      Intercepted{"vkGetPhysicalDeviceImageFormatProperties2", as_function(get_image_format)},
      Intercepted{"vkGetPhysicalDeviceImageFormatProperties2KHR", as_function(get_image_format)},
  };
  return kCalls;
}

}  // namespace interlock
