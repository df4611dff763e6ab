// What a command buffer binds and dispatches.

#include <volk.h>

#include <array>
#include <cstdint>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/layer/run_options.h"
#include "capture/log/command_records.h"

namespace interlock {
namespace {

VKAPI_ATTR void VKAPI_CALL bind_pipeline(VkCommandBuffer commands, VkPipelineBindPoint bind_point,
                                         VkPipeline pipeline) {
  log().append(BindPipelineRecord{number_of(commands), static_cast<uint32_t>(bind_point),
                                  number_of(pipeline)});
  device_of(commands).next.vkCmdBindPipeline(commands, bind_point, pipeline);
}

VKAPI_ATTR void VKAPI_CALL bind_sets(VkCommandBuffer commands, VkPipelineBindPoint bind_point,
                                     VkPipelineLayout layout, uint32_t first_set, uint32_t count,
                                     const VkDescriptorSet* sets, uint32_t offset_count,
                                     const uint32_t* offsets) {
  BindSetsRecord record;
  record.commands = number_of(commands);
  record.bind_point = static_cast<uint32_t>(bind_point);
  record.layout = number_of(layout);
  record.first_set = first_set;
  record.sets = numbers_of(sets, count);
  if (offset_count > 0) record.dynamic_offsets.assign(offsets, offsets + offset_count);
  log().append(record);
  device_of(commands).next.vkCmdBindDescriptorSets(commands, bind_point, layout, first_set, count,
                                                   sets, offset_count, offsets);
}

VKAPI_ATTR void VKAPI_CALL push_constants(VkCommandBuffer commands, VkPipelineLayout layout,
                                          VkShaderStageFlags stages, uint32_t offset_bytes,
                                          uint32_t size_bytes, const void* values) {
  const Device& owner = device_of(commands);
  if (owner.gave_addresses) {
    const auto* const bytes = static_cast<const uint8_t*>(values);
    log().append(PushConstantsRecord{
        number_of(commands), stages, offset_bytes, {bytes, bytes + size_bytes}});
  }
  owner.next.vkCmdPushConstants(commands, layout, stages, offset_bytes, size_bytes, values);
}

VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  log().append(DispatchRecord{number_of(commands), x, y, z});
  if (run_options().is_dry) return;
  device_of(commands).next.vkCmdDispatch(commands, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL dispatch_base(VkCommandBuffer commands, uint32_t base_x, uint32_t base_y,
                                         uint32_t base_z, uint32_t x, uint32_t y, uint32_t z) {
  // Which groups run does not change what their bindings bound.
  log().append(DispatchRecord{number_of(commands), x, y, z});
  if (run_options().is_dry) return;
  device_of(commands).next.vkCmdDispatchBase(commands, base_x, base_y, base_z, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL dispatch_indirect(VkCommandBuffer commands, VkBuffer buffer,
                                             VkDeviceSize offset_bytes) {
  log().append(DispatchIndirectRecord{number_of(commands), number_of(buffer), offset_bytes});
  if (run_options().is_dry) return;
  device_of(commands).next.vkCmdDispatchIndirect(commands, buffer, offset_bytes);
}

}  // namespace

std::span<const Intercepted> dispatch_calls() {
  static const std::array kCalls = {
      Intercepted{"vkCmdBindPipeline", as_function(bind_pipeline)},
      Intercepted{"vkCmdBindDescriptorSets", as_function(bind_sets)},
      Intercepted{"vkCmdPushConstants", as_function(push_constants)},
      Intercepted{"vkCmdDispatch", as_function(dispatch)},
      Intercepted{"vkCmdDispatchBase", as_function(dispatch_base)},
      Intercepted{"vkCmdDispatchBaseKHR", as_function(dispatch_base)},
      Intercepted{"vkCmdDispatchIndirect", as_function(dispatch_indirect)},
  };
  return kCalls;
}

}  // namespace interlock
