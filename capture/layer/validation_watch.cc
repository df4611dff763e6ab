#include "capture/layer/validation_watch.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "capture/layer/run_options.h"
#include "capture/log/run_records.h"

namespace interlock {
namespace {

// Called by the layer below, on the thread of the call that it looks at.
VKAPI_ATTR VkBool32 VKAPI_CALL take_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                            VkDebugUtilsMessageTypeFlagsEXT,
                                            const VkDebugUtilsMessengerCallbackDataEXT* data,
                                            void*) {
  constexpr std::string_view kHazards = "SYNC-";
  const std::string_view name = data->pMessageIdName == nullptr ? "" : data->pMessageIdName;
  if (name.starts_with(kHazards)) {
    log().append(ValidationMessageRecord{LayerLog::last_handle(), std::string(name),
                                         data->pMessage == nullptr ? "" : data->pMessage});
  }
  return VK_FALSE;  // The call goes on.
}

}  // namespace

void watch_validation(VkInstance instance, PFN_vkGetInstanceProcAddr next_function) {
  if (!run_options().is_validated) return;
  const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
      next_function(instance, "vkCreateDebugUtilsMessengerEXT"));
  if (create == nullptr) return;
  VkDebugUtilsMessengerCreateInfoEXT info = {
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = take_message;
  // It ends with the instance.
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  create(instance, &info, nullptr, &messenger);
}

void append_validation(const Instance& instance, VkPhysicalDevice physical) {
  if (!run_options().is_validated) return;
  const auto get_tools = instance.other<PFN_vkGetPhysicalDeviceToolPropertiesEXT>(kToolsCall);
  uint32_t count = 0;
  if (get_tools == nullptr || get_tools(physical, &count, nullptr) != VK_SUCCESS) return;
  std::vector<VkPhysicalDeviceToolProperties> tools(
      count, {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES});
  if (get_tools(physical, &count, tools.data()) < 0) return;
  for (const VkPhysicalDeviceToolProperties& tool : tools) {
    if ((tool.purposes & VK_TOOL_PURPOSE_VALIDATION_BIT) == 0) continue;
    log().append(ValidationRecord{tool.name, tool.version});
  }
}

}  // namespace interlock
