// What the application is told of a device that is not so, to reach paths of it that a driver on
// the CPU does not: another type of device, more families of queues, features.
//
// The families that are made up come after the driver's own, have one queue each, and are its first
// queue under another handle: so what their queues do is in the order of the calls, and whoever
// waits there for what is submitted later waits for ever.
#pragma once

#include <volk.h>

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "capture/layer/intercepted.h"

namespace interlock {

// Calls of instances about devices, and of devices; empty unless something is pretended.
std::span<const Intercepted> pretending_instance_calls();
std::span<const Intercepted> pretending_device_calls();

// What the driver is to be asked for instead of `info`; lives as long as this.
class RealDeviceInfo {
 public:
  // Requires: `info` outlives this.
  RealDeviceInfo(VkPhysicalDevice physical, const VkDeviceCreateInfo& info);
  RealDeviceInfo(const RealDeviceInfo&) = delete;
  RealDeviceInfo& operator=(const RealDeviceInfo&) = delete;

  const VkDeviceCreateInfo& info() const { return info_; }

 private:
  void keep_real_families(const VkDeviceCreateInfo& info, uint32_t real_count);

  VkDeviceCreateInfo info_;
  std::vector<VkDeviceQueueCreateInfo> queues_;
};

bool pretends_queues();
// The driver's number of a family: that of the first one for those that are made up.
uint32_t real_family(uint32_t family);

// What the driver is to be asked for instead of a buffer, an image or a swapchain that several
// families share: one of one family.
template <typename Info>
Info with_real_families(const Info& info) {
  Info real = info;
  if (!pretends_queues()) return real;
  if constexpr (requires { real.imageSharingMode; }) {
    real.imageSharingMode = VK_SHARING_MODE_EXCLUSIVE;
  } else {
    real.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  }
  real.queueFamilyIndexCount = 0;
  return real;
}

// Barriers with their transfers of ownership, which are between handles of one queue, taken out.
template <typename Barrier>
std::vector<Barrier> without_owners(std::span<const Barrier> barriers) {
  std::vector<Barrier> real(barriers.begin(), barriers.end());
  for (Barrier& barrier : real) {
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  }
  return real;
}

// What the application has instead of a queue of the driver; the same each time. `key` is the word
// that handles of this device begin with.
VkQueue pretended_queue(VkQueue real, uint32_t family, uint32_t index, const void* key);
// The driver's queue. Itself, where nothing is pretended.
VkQueue real_queue(VkQueue queue);
// Held around calls with a queue of the driver that has several handles.
std::unique_lock<std::mutex> lock_real_queue();

}  // namespace interlock
