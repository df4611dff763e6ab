// Names and labels that the application gives to its objects and commands: reports use them.

#include <volk.h>

#include <array>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/layer/pretended_device.h"
#include "capture/log/command_records.h"
#include "capture/log/object_records.h"
#include "capture/log/run_records.h"

namespace interlock {
namespace {

// Some applications have these calls from the loader and do not turn the extension on: then nobody
// below has them, and they do nothing.
template <typename Function, typename... Arguments>
void pass_on(Function next, const Arguments&... arguments) {
  if (next != nullptr) next(arguments...);
}

VKAPI_ATTR VkResult VKAPI_CALL set_object_name(VkDevice device,
                                               const VkDebugUtilsObjectNameInfoEXT* info) {
  log().append(ObjectNameRecord{static_cast<uint32_t>(info->objectType), info->objectHandle,
                                info->pObjectName == nullptr ? "" : info->pObjectName});
  VkDebugUtilsObjectNameInfoEXT real = *info;
  if (info->objectType == VK_OBJECT_TYPE_QUEUE) {
    real.objectHandle = number_of(real_queue(reinterpret_cast<VkQueue>(info->objectHandle)));
  }
  const auto& next = device_of(device).debug.set_object_name;
  return next == nullptr ? VK_SUCCESS : next(device, &real);
}

VKAPI_ATTR void VKAPI_CALL begin_label(VkCommandBuffer commands,
                                       const VkDebugUtilsLabelEXT* label) {
  log().append(LabelRecord{number_of(commands), LabelUse::kBegin, label->pLabelName});
  pass_on(device_of(commands).debug.begin_label, commands, label);
}

VKAPI_ATTR void VKAPI_CALL end_label(VkCommandBuffer commands) {
  log().append(LabelRecord{number_of(commands), LabelUse::kEnd, {}});
  pass_on(device_of(commands).debug.end_label, commands);
}

VKAPI_ATTR void VKAPI_CALL insert_label(VkCommandBuffer commands,
                                        const VkDebugUtilsLabelEXT* label) {
  log().append(LabelRecord{number_of(commands), LabelUse::kInsert, label->pLabelName});
  pass_on(device_of(commands).debug.insert_label, commands, label);
}

VKAPI_ATTR void VKAPI_CALL begin_queue_label(VkQueue queue, const VkDebugUtilsLabelEXT* label) {
  log().append(QueueLabelRecord{number_of(queue), LabelUse::kBegin, label->pLabelName});
  pass_on(device_of(queue).debug.begin_queue_label, real_queue(queue), label);
}

VKAPI_ATTR void VKAPI_CALL end_queue_label(VkQueue queue) {
  log().append(QueueLabelRecord{number_of(queue), LabelUse::kEnd, {}});
  pass_on(device_of(queue).debug.end_queue_label, real_queue(queue));
}

VKAPI_ATTR void VKAPI_CALL insert_queue_label(VkQueue queue, const VkDebugUtilsLabelEXT* label) {
  log().append(QueueLabelRecord{number_of(queue), LabelUse::kInsert, label->pLabelName});
  pass_on(device_of(queue).debug.insert_queue_label, real_queue(queue), label);
}

}  // namespace

std::span<const Intercepted> debug_calls() {
  static const std::array kCalls = {
      Intercepted{"vkSetDebugUtilsObjectNameEXT", as_function(set_object_name)},
      Intercepted{"vkCmdBeginDebugUtilsLabelEXT", as_function(begin_label)},
      Intercepted{"vkCmdEndDebugUtilsLabelEXT", as_function(end_label)},
      Intercepted{"vkCmdInsertDebugUtilsLabelEXT", as_function(insert_label)},
      Intercepted{"vkQueueBeginDebugUtilsLabelEXT", as_function(begin_queue_label)},
      Intercepted{"vkQueueEndDebugUtilsLabelEXT", as_function(end_queue_label)},
      Intercepted{"vkQueueInsertDebugUtilsLabelEXT", as_function(insert_queue_label)},
  };
  return kCalls;
}

}  // namespace interlock
