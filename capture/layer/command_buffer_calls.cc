// Command buffers and their pools.

#include <volk.h>

#include <array>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/log/command_records.h"
#include "capture/log/object_records.h"

namespace interlock {
namespace {

VKAPI_ATTR VkResult VKAPI_CALL allocate_commands(VkDevice device,
                                                 const VkCommandBufferAllocateInfo* info,
                                                 VkCommandBuffer* commands) {
  const VkResult result = device_of(device).next.vkAllocateCommandBuffers(device, info, commands);
  if (result != VK_SUCCESS) return result;
  log().append(AllocateCommandsRecord{number_of(info->commandPool),
                                      static_cast<uint32_t>(info->level),
                                      numbers_of(commands, info->commandBufferCount)});
  return result;
}

VKAPI_ATTR void VKAPI_CALL free_commands(VkDevice device, VkCommandPool pool, uint32_t count,
                                         const VkCommandBuffer* commands) {
  log().append(FreeCommandsRecord{numbers_of(commands, count)});
  device_of(device).next.vkFreeCommandBuffers(device, pool, count, commands);
}

VKAPI_ATTR VkResult VKAPI_CALL begin_commands(VkCommandBuffer commands,
                                              const VkCommandBufferBeginInfo* info) {
  log().append(BeginCommandsRecord{number_of(commands), info->flags});
  return device_of(commands).next.vkBeginCommandBuffer(commands, info);
}

VKAPI_ATTR VkResult VKAPI_CALL reset_commands(VkCommandBuffer commands,
                                              VkCommandBufferResetFlags flags) {
  log().append(ResetCommandsRecord{number_of(commands)});
  return device_of(commands).next.vkResetCommandBuffer(commands, flags);
}

VKAPI_ATTR VkResult VKAPI_CALL reset_command_pool(VkDevice device, VkCommandPool pool,
                                                  VkCommandPoolResetFlags flags) {
  log().append(ResetCommandPoolRecord{number_of(pool)});
  return device_of(device).next.vkResetCommandPool(device, pool, flags);
}

VKAPI_ATTR void VKAPI_CALL execute_commands(VkCommandBuffer commands, uint32_t count,
                                            const VkCommandBuffer* secondaries) {
  log().append(ExecuteCommandsRecord{number_of(commands), numbers_of(secondaries, count)});
  device_of(commands).next.vkCmdExecuteCommands(commands, count, secondaries);
}

}  // namespace

std::span<const Intercepted> command_buffer_calls() {
  static const std::array kCalls = {
      Intercepted{"vkAllocateCommandBuffers", as_function(allocate_commands)},
      Intercepted{"vkFreeCommandBuffers", as_function(free_commands)},
      Intercepted{"vkBeginCommandBuffer", as_function(begin_commands)},
      Intercepted{"vkResetCommandBuffer", as_function(reset_commands)},
      Intercepted{"vkResetCommandPool", as_function(reset_command_pool)},
      Intercepted{"vkDestroyCommandPool",
                  as_function(destroy_object<&VolkDeviceTable::vkDestroyCommandPool,
                                             VK_OBJECT_TYPE_COMMAND_POOL, VkCommandPool>)},
      Intercepted{"vkCmdExecuteCommands", as_function(execute_commands)},
  };
  return kCalls;
}

}  // namespace interlock
