// StandInDriver: an instance and a device under the layer, in this process, without a loader and
// without a driver. What the layer calls says that it succeeded, or what a test wants it to say; so
// a device can be lost at any call, and there are surfaces and descriptors where lavapipe has none.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <map>
#include <string>

namespace interlock {

class StandInDriver {
 public:
  // Loads the layer. Once for a process: a log is one of a process.
  StandInDriver();

  // What the next call of this name, and those after it, say. Else each says VK_SUCCESS.
  static void set_result(const std::string& name, VkResult result);

  VkDevice device() const { return device_; }
  VkQueue queue() const { return queue_; }
  VkCommandBuffer commands() const { return commands_; }

  // The function of the layer. Requires: it has one.
  template <typename Function>
  Function call(const char* name) const {
    return reinterpret_cast<Function>(get_device_function_(device_, name));
  }

 private:
  PFN_vkGetDeviceProcAddr get_device_function_ = nullptr;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

}  // namespace interlock
