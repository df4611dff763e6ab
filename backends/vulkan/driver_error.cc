#include "backends/vulkan/driver_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "encoder/program/error_of.h"

namespace interlock {
namespace {

struct NamedResult {
  VkResult result;
  std::string_view name;
};

constexpr NamedResult kResultNames[] = {
    {VK_TIMEOUT, "VK_TIMEOUT"},
    {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY"},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
    {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED"},
    {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST"},
    {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT"},
    {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT"},
    {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT"},
    {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER"},
};

// E.g. "VK_ERROR_DEVICE_LOST".
std::string result_text(VkResult result) {
  const auto found = std::ranges::find(kResultNames, result, &NamedResult::result);
  if (found != std::end(kResultNames)) return std::string(found->name);
  return fmt::format("VkResult {}", static_cast<int>(result));
}

}  // namespace

Error driver_error(VkResult result, std::string_view action, VkResult* noted) {
  if (noted != nullptr) *noted = result;
  std::string_view what = "The Vulkan driver failed";
  if (result == VK_ERROR_DEVICE_LOST) what = "The Vulkan device was lost";
  if (result == VK_TIMEOUT) what = "The Vulkan device does not answer";
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
    what = "The Vulkan device does not have enough memory";
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY)
    what = "The Vulkan driver does not have enough host memory";
  return error_of("{} while {} ({}).", what, action, result_text(result));
}

}  // namespace interlock
