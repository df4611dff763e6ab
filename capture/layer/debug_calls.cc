// Names and labels that the application gives to its objects and commands: reports use them.

#include <volk.h>

#include <array>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/log/command_records.h"
#include "capture/log/object_records.h"

namespace interlock {
namespace {

VKAPI_ATTR VkResult VKAPI_CALL set_object_name(VkDevice device,
                                               const VkDebugUtilsObjectNameInfoEXT* info) {
  log().append(ObjectNameRecord{static_cast<uint32_t>(info->objectType), info->objectHandle,
                                info->pObjectName == nullptr ? "" : info->pObjectName});
  return device_of(device).debug.set_object_name(device, info);
}

VKAPI_ATTR void VKAPI_CALL begin_label(VkCommandBuffer commands,
                                       const VkDebugUtilsLabelEXT* label) {
  log().append(LabelRecord{number_of(commands), LabelUse::kBegin, label->pLabelName});
  device_of(commands).debug.begin_label(commands, label);
}

VKAPI_ATTR void VKAPI_CALL end_label(VkCommandBuffer commands) {
  log().append(LabelRecord{number_of(commands), LabelUse::kEnd, {}});
  device_of(commands).debug.end_label(commands);
}

VKAPI_ATTR void VKAPI_CALL insert_label(VkCommandBuffer commands,
                                        const VkDebugUtilsLabelEXT* label) {
  log().append(LabelRecord{number_of(commands), LabelUse::kInsert, label->pLabelName});
  device_of(commands).debug.insert_label(commands, label);
}

}  // namespace

std::span<const Intercepted> debug_calls() {
  static const std::array kCalls = {
      Intercepted{"vkSetDebugUtilsObjectNameEXT", as_function(set_object_name)},
      Intercepted{"vkCmdBeginDebugUtilsLabelEXT", as_function(begin_label)},
      Intercepted{"vkCmdEndDebugUtilsLabelEXT", as_function(end_label)},
      Intercepted{"vkCmdInsertDebugUtilsLabelEXT", as_function(insert_label)},
  };
  return kCalls;
}

}  // namespace interlock
