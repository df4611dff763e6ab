#include "backends/vulkan/driver_error.h"

#include <fmt/format.h>

#include "encoder/program/error_of.h"

namespace interlock {

std::string text_of(VkResult result) {
  switch (result) {
    case VK_TIMEOUT:
      return "VK_TIMEOUT";
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST:
      return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_LAYER_NOT_PRESENT:
      return "VK_ERROR_LAYER_NOT_PRESENT";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "VK_ERROR_FEATURE_NOT_PRESENT";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "VK_ERROR_INCOMPATIBLE_DRIVER";
    default:
      return fmt::format("VkResult {}", static_cast<int>(result));
  }
}

Error driver_error(VkResult result, std::string_view action) {
  std::string_view what = "The Vulkan driver failed";
  if (result == VK_ERROR_DEVICE_LOST) what = "The Vulkan device was lost";
  if (result == VK_TIMEOUT) what = "The Vulkan device does not answer";
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
    what = "The Vulkan device does not have enough memory";
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY)
    what = "The Vulkan driver does not have enough host memory";
  return error_of("{} while {} ({}).", what, action, text_of(result));
}

Error driver_error(VkResult result, std::string_view action, VkResult* noted) {
  if (noted != nullptr) *noted = result;
  return driver_error(result, action);
}

}  // namespace interlock
