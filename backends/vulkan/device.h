// VulkanDevice: the Vulkan device that runs programs, with the queues and features that we use.
#pragma once

#include <volk.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/vulkan/device_limits.h"
#include "backends/vulkan/instance.h"
#include "encoder/program/result.h"

namespace interlock {

// Queues that we open where the device has as many.
inline constexpr uint32_t kQueueCountMax = 4;

class VulkanDevice {
 public:
  // Opens the fastest kind of device that fits: a discrete GPU before an integrated one before a
  // CPU. `on_table` may replace entry points.
  // Errors: there is no device, or none fits; the sentence says what each lacks. `failed`, where it
  // is given, gets the result of the call of the driver that failed.
  static Result<std::unique_ptr<VulkanDevice>> create(
      VulkanInstance& instance, const std::function<void(VolkDeviceTable&)>& on_table,
      VkResult* failed = nullptr);
  ~VulkanDevice();
  VulkanDevice(const VulkanDevice&) = delete;
  VulkanDevice& operator=(const VulkanDevice&) = delete;

  VkDevice handle() const { return handle_; }
  const VolkDeviceTable& table() const { return table_; }
  const DeviceLimits& limits() const { return limits_; }
  const std::string& description() const { return description_; }
  uint32_t queue_family() const { return queue_family_; }
  const std::vector<VkQueue>& queues() const { return queues_; }

  // Host memory can be imported at multiples of this many bytes; 0 if it cannot.
  uint64_t import_alignment_bytes() const { return import_alignment_bytes_; }

  // The first memory type of `types`, a mask, that has all of `wanted`; else nothing.
  Result<uint32_t> memory_type(uint32_t types, VkMemoryPropertyFlags wanted) const;

 private:
  VulkanDevice() = default;

  VkDevice handle_ = VK_NULL_HANDLE;
  VolkDeviceTable table_{};
  VkPhysicalDeviceMemoryProperties memory_{};
  DeviceLimits limits_;
  std::string description_;
  uint32_t queue_family_ = 0;
  std::vector<VkQueue> queues_;
  uint64_t import_alignment_bytes_ = 0;
};

}  // namespace interlock
