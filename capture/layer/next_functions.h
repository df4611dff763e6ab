// The functions of the next layer or the driver, as the table of volk has them. They are resolved
// once, while the device is created: later the loader answers with the top of the chain.
#pragma once

#include <volk.h>

#include <cstdint>
#include <vector>

namespace interlock {

// Those of devices that volk counts among the instance's.
struct DebugFunctions {
  PFN_vkSetDebugUtilsObjectNameEXT set_object_name = nullptr;
  PFN_vkCmdBeginDebugUtilsLabelEXT begin_label = nullptr;
  PFN_vkCmdEndDebugUtilsLabelEXT end_label = nullptr;
  PFN_vkCmdInsertDebugUtilsLabelEXT insert_label = nullptr;
  PFN_vkQueueBeginDebugUtilsLabelEXT begin_queue_label = nullptr;
  PFN_vkQueueEndDebugUtilsLabelEXT end_queue_label = nullptr;
  PFN_vkQueueInsertDebugUtilsLabelEXT insert_queue_label = nullptr;
};

// A function that has two names has both entries, whichever the driver knows.
void load_next(VkDevice device, PFN_vkGetDeviceProcAddr next_function, VolkDeviceTable& table,
               DebugFunctions& debug);

// Handles as the log has them: addresses, as all are where these have 64 bits.
template <typename Handle>
uint64_t number_of(Handle handle) {
  return reinterpret_cast<uint64_t>(handle);
}

template <typename Handle>
std::vector<uint64_t> numbers_of(const Handle* handles, uint32_t count) {
  std::vector<uint64_t> numbers;
  numbers.reserve(count);
  for (uint32_t i = 0; i < count; ++i) numbers.push_back(number_of(handles[i]));
  return numbers;
}

}  // namespace interlock
