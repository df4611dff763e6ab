// A Vulkan driver that is another one, whose library CHANGED_DRIVER is, but for this: the call that
// LOSING_CALL names says that the device is lost, and is not passed on; there are calls of
// VK_EXT_debug_marker, which do nothing; and each family of queues has kFamilyChainNumber global
// priorities, as far as somebody asks.
#include "tests/capture/application/changed_driver.h"

#include <dlfcn.h>
#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using interlock::kFamilyChainNumber;

using FindFunction = PFN_vkGetInstanceProcAddr;

void* driver() {
  static void* const kDriver = dlopen(std::getenv("CHANGED_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  return kDriver;
}

template <typename Function>
Function function_of_driver(const char* name) {
  return reinterpret_cast<Function>(dlsym(driver(), name));
}

// Whatever it is asked.
VkResult lost(...) { return VK_ERROR_DEVICE_LOST; }

bool is_losing(std::string_view name) {
  const char* const call = std::getenv("LOSING_CALL");
  return call != nullptr && name == call;
}

VkResult do_nothing(...) { return VK_SUCCESS; }

bool is_marker(std::string_view name) { return name.find("DebugMarker") != std::string_view::npos; }

PFN_vkGetPhysicalDeviceQueueFamilyProperties2 next_families = nullptr;

void get_families(VkPhysicalDevice physical, uint32_t* count,
                  VkQueueFamilyProperties2* properties) {
  next_families(physical, count, properties);
  for (uint32_t i = 0; properties != nullptr && i < *count; ++i) {
    auto* const item = static_cast<VkQueueFamilyGlobalPriorityPropertiesKHR*>(properties[i].pNext);
    if (item != nullptr) item->priorityCount = kFamilyChainNumber;
  }
}

PFN_vkGetDeviceProcAddr next_of_device = nullptr;

PFN_vkVoidFunction find_of_device(VkDevice device, const char* name) {
  if (is_losing(name)) return reinterpret_cast<PFN_vkVoidFunction>(lost);
  if (is_marker(name)) return reinterpret_cast<PFN_vkVoidFunction>(do_nothing);
  return next_of_device(device, name);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) PFN_vkVoidFunction vk_icdGetInstanceProcAddr(
    VkInstance instance, const char* name) {
  static const auto kNext = function_of_driver<FindFunction>("vk_icdGetInstanceProcAddr");
  const PFN_vkVoidFunction next = kNext(instance, name);
  if (std::string_view(name) == "vkGetDeviceProcAddr") {
    next_of_device = reinterpret_cast<PFN_vkGetDeviceProcAddr>(next);
    return reinterpret_cast<PFN_vkVoidFunction>(find_of_device);
  }
  const bool is_of_families =
      std::string_view(name).starts_with("vkGetPhysicalDeviceQueueFamilyProperties2");
  if (is_of_families && next != nullptr) {
    next_families = reinterpret_cast<PFN_vkGetPhysicalDeviceQueueFamilyProperties2>(next);
    return reinterpret_cast<PFN_vkVoidFunction>(get_families);
  }
  return is_losing(name) ? reinterpret_cast<PFN_vkVoidFunction>(lost) : next;
}

__attribute__((visibility("default"))) VkResult vk_icdNegotiateLoaderICDInterfaceVersion(
    uint32_t* version) {
  static const auto kNext =
      function_of_driver<VkResult (*)(uint32_t*)>("vk_icdNegotiateLoaderICDInterfaceVersion");
  return kNext(version);
}

__attribute__((visibility("default"))) PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(
    VkInstance instance, const char* name) {
  static const auto kNext = function_of_driver<FindFunction>("vk_icdGetPhysicalDeviceProcAddr");
  return kNext == nullptr ? nullptr : kNext(instance, name);
}

}  // extern "C"
