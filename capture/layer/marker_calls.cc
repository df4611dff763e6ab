// VK_EXT_debug_marker: names and labels as applications gave them before VK_EXT_debug_utils. Few
// drivers have it; tools below the layer do.

#include <volk.h>

#include <array>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/layer/pretended_device.h"
#include "capture/log/command_records.h"
#include "capture/log/object_records.h"

namespace interlock {
namespace {

// Types of objects up to here have the numbers that VkObjectType gives them.
constexpr auto kSharedTypeMax = VK_DEBUG_REPORT_OBJECT_TYPE_COMMAND_POOL_EXT;

VKAPI_ATTR VkResult VKAPI_CALL set_marker_name(VkDevice device,
                                               const VkDebugMarkerObjectNameInfoEXT* info) {
  if (info->objectType <= kSharedTypeMax) {
    log().append(ObjectNameRecord{static_cast<uint32_t>(info->objectType), info->object,
                                  info->pObjectName == nullptr ? "" : info->pObjectName});
  }
  VkDebugMarkerObjectNameInfoEXT real = *info;
  if (info->objectType == VK_DEBUG_REPORT_OBJECT_TYPE_QUEUE_EXT) {
    real.object = number_of(real_queue(reinterpret_cast<VkQueue>(info->object)));
  }
  return device_of(device).next.vkDebugMarkerSetObjectNameEXT(device, &real);
}

VKAPI_ATTR void VKAPI_CALL begin_marker(VkCommandBuffer commands,
                                        const VkDebugMarkerMarkerInfoEXT* info) {
  log().append(LabelRecord{number_of(commands), LabelUse::kBegin, info->pMarkerName});
  device_of(commands).next.vkCmdDebugMarkerBeginEXT(commands, info);
}

VKAPI_ATTR void VKAPI_CALL end_marker(VkCommandBuffer commands) {
  log().append(LabelRecord{number_of(commands), LabelUse::kEnd, {}});
  device_of(commands).next.vkCmdDebugMarkerEndEXT(commands);
}

VKAPI_ATTR void VKAPI_CALL insert_marker(VkCommandBuffer commands,
                                         const VkDebugMarkerMarkerInfoEXT* info) {
  log().append(LabelRecord{number_of(commands), LabelUse::kInsert, info->pMarkerName});
  device_of(commands).next.vkCmdDebugMarkerInsertEXT(commands, info);
}

}  // namespace

std::span<const Intercepted> marker_calls() {
  static const std::array kCalls = {
      Intercepted{"vkDebugMarkerSetObjectNameEXT", as_function(set_marker_name)},
      Intercepted{"vkCmdDebugMarkerBeginEXT", as_function(begin_marker)},
      Intercepted{"vkCmdDebugMarkerEndEXT", as_function(end_marker)},
      Intercepted{"vkCmdDebugMarkerInsertEXT", as_function(insert_marker)},
  };
  return kCalls;
}

}  // namespace interlock
