// The calls that --exact sees, about objects, command buffers and submissions. Each goes on to the
// call that logs it, or, of those that the log has no use for, to the next layer.
#include "capture/layer/exact_calls.h"

#include <volk.h>

#include <array>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>

#include "capture/layer/exact_device.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/layer/set_writes.h"
#include "capture/log/exact_records.h"

namespace interlock {

PFN_vkVoidFunction call_that_logs(std::string_view name) {
  using Table = std::unordered_map<std::string_view, PFN_vkVoidFunction>;
  static const Table& all = *[] {
    auto* const table = new Table;
    for (const auto list : {memory_calls, image_calls, descriptor_calls, pipeline_calls,
                            command_buffer_calls, dispatch_calls, queue_calls, host_sync_calls}) {
      for (const Intercepted& call : list()) table->emplace(call.name, call.function);
    }
    return table;
  }();
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

namespace {

VKAPI_ATTR VkResult VKAPI_CALL exact_create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                                   const VkAllocationCallbacks* allocator,
                                                   VkBuffer* buffer) {
  static const auto kLogging = logging<PFN_vkCreateBuffer>("vkCreateBuffer");
  const VkResult result = kLogging(device, info, allocator, buffer);
  if (result != VK_SUCCESS) return result;
  with_exact(device, [&](ExactDevice& exact) { exact.objects.add_buffer(*buffer, info->size); });
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL exact_create_image(VkDevice device, const VkImageCreateInfo* info,
                                                  const VkAllocationCallbacks* allocator,
                                                  VkImage* image) {
  static const auto kLogging = logging<PFN_vkCreateImage>("vkCreateImage");
  const VkResult result = kLogging(device, info, allocator, image);
  if (result != VK_SUCCESS) return result;
  with_exact(device, [&](ExactDevice& exact) { exact.objects.add_image(*image, *info); });
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL exact_create_view(VkDevice device, const VkImageViewCreateInfo* info,
                                                 const VkAllocationCallbacks* allocator,
                                                 VkImageView* view) {
  static const auto kLogging = logging<PFN_vkCreateImageView>("vkCreateImageView");
  const VkResult result = kLogging(device, info, allocator, view);
  if (result != VK_SUCCESS) return result;
  with_exact(device, [&](ExactDevice& exact) { exact.objects.add_view(*view, *info); });
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL exact_create_sampler(VkDevice device,
                                                    const VkSamplerCreateInfo* info,
                                                    const VkAllocationCallbacks* allocator,
                                                    VkSampler* sampler) {
  const VkResult result = device_of(device).next.vkCreateSampler(device, info, allocator, sampler);
  if (result != VK_SUCCESS) return result;
  with_exact(device, [&](ExactDevice& exact) { exact.objects.add_sampler(*sampler, *info); });
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL exact_create_set_layout(VkDevice device,
                                                       const VkDescriptorSetLayoutCreateInfo* info,
                                                       const VkAllocationCallbacks* allocator,
                                                       VkDescriptorSetLayout* layout) {
  static const auto kLogging =
      logging<PFN_vkCreateDescriptorSetLayout>("vkCreateDescriptorSetLayout");
  const VkResult result = kLogging(device, info, allocator, layout);
  if (result != VK_SUCCESS) return result;
  with_exact(device, [&](ExactDevice& exact) { exact.objects.add_set_layout(*layout, *info); });
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL exact_allocate_sets(VkDevice device,
                                                   const VkDescriptorSetAllocateInfo* info,
                                                   VkDescriptorSet* sets) {
  static const auto kLogging = logging<PFN_vkAllocateDescriptorSets>("vkAllocateDescriptorSets");
  const VkResult result = kLogging(device, info, sets);
  if (result != VK_SUCCESS) return result;
  with_exact(device, [&](ExactDevice& exact) {
    for (uint32_t i = 0; i < info->descriptorSetCount; ++i) {
      exact.objects.add_set(sets[i], info->pSetLayouts[i]);
    }
  });
  return result;
}

VKAPI_ATTR void VKAPI_CALL exact_update_sets(VkDevice device, uint32_t write_count,
                                             const VkWriteDescriptorSet* writes,
                                             uint32_t copy_count,
                                             const VkCopyDescriptorSet* copies) {
  static const auto kLogging = logging<PFN_vkUpdateDescriptorSets>("vkUpdateDescriptorSets");
  with_exact(device, [&](ExactDevice& exact) {
    exact.objects.write(fields_of_writes(write_count, writes));
    exact.objects.copy(std::span(copies, copy_count));
  });
  kLogging(device, write_count, writes, copy_count, copies);
}

// What a template writes; empty if it is not known.
std::vector<SetWriteFields> template_writes(Device& owner, VkDescriptorUpdateTemplate handle,
                                            uint64_t set, const void* data, uint32_t& bind_point) {
  std::shared_ptr<const UpdateTemplate> known;
  {
    const std::lock_guard lock(owner.mutex);
    const auto found = owner.templates.find(number_of(handle));
    if (found == owner.templates.end()) return {};
    known = found->second;
  }
  bind_point = known->bind_point;
  return fields_of_template(*known, set, data);
}

VKAPI_ATTR void VKAPI_CALL exact_update_with_template(VkDevice device, VkDescriptorSet set,
                                                      VkDescriptorUpdateTemplate handle,
                                                      const void* data) {
  static const auto kLogging =
      logging<PFN_vkUpdateDescriptorSetWithTemplate>("vkUpdateDescriptorSetWithTemplate");
  uint32_t bind_point = 0;
  const auto writes = template_writes(device_of(device), handle, number_of(set), data, bind_point);
  with_exact(device, [&](ExactDevice& exact) { exact.objects.write(writes); });
  kLogging(device, set, handle, data);
}

VKAPI_ATTR VkResult VKAPI_CALL exact_create_module(VkDevice device,
                                                   const VkShaderModuleCreateInfo* info,
                                                   const VkAllocationCallbacks* allocator,
                                                   VkShaderModule* module) {
  static const auto kLogging = logging<PFN_vkCreateShaderModule>("vkCreateShaderModule");
  const VkResult result = kLogging(device, info, allocator, module);
  if (result != VK_SUCCESS) return result;
  with_exact(device, [&](ExactDevice& exact) { exact.add_module(*module, *info); });
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL exact_create_pipeline_layout(VkDevice device,
                                                            const VkPipelineLayoutCreateInfo* info,
                                                            const VkAllocationCallbacks* allocator,
                                                            VkPipelineLayout* layout) {
  static const auto kLogging = logging<PFN_vkCreatePipelineLayout>("vkCreatePipelineLayout");
  const VkResult result = kLogging(device, info, allocator, layout);
  if (result != VK_SUCCESS) return result;
  with_exact(device, [&](ExactDevice& exact) { exact.create_own_layout(*info, *layout); });
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL exact_create_pipelines(VkDevice device, VkPipelineCache cache,
                                                      uint32_t count,
                                                      const VkComputePipelineCreateInfo* infos,
                                                      const VkAllocationCallbacks* allocator,
                                                      VkPipeline* pipelines) {
  static const auto kLogging = logging<PFN_vkCreateComputePipelines>("vkCreateComputePipelines");
  if (device_of(device).exact == nullptr) {
    return kLogging(device, cache, count, infos, allocator, pipelines);
  }
  VkResult result = VK_SUCCESS;
  with_exact(device, [&](ExactDevice& exact) {
    result = exact.create_pipelines(cache, count, infos, allocator, pipelines);
  });
  log_compute_pipelines(count, infos, pipelines);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL exact_allocate_commands(VkDevice device,
                                                       const VkCommandBufferAllocateInfo* info,
                                                       VkCommandBuffer* commands) {
  static const auto kLogging = logging<PFN_vkAllocateCommandBuffers>("vkAllocateCommandBuffers");
  const VkResult result = kLogging(device, info, commands);
  if (result != VK_SUCCESS) return result;
  with_exact(device, [&](ExactDevice& exact) {
    for (uint32_t i = 0; i < info->commandBufferCount; ++i) {
      ExactCommands& added = exact.commands(commands[i]);
      added.pool = number_of(info->commandPool);
      added.is_primary = info->level == VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    }
  });
  return result;
}

VKAPI_ATTR void VKAPI_CALL exact_free_commands(VkDevice device, VkCommandPool pool, uint32_t count,
                                               const VkCommandBuffer* commands) {
  static const auto kLogging = logging<PFN_vkFreeCommandBuffers>("vkFreeCommandBuffers");
  with_exact(device, [&](ExactDevice& exact) {
    for (uint32_t i = 0; i < count; ++i) exact.free(commands[i]);
  });
  kLogging(device, pool, count, commands);
}

VKAPI_ATTR VkResult VKAPI_CALL exact_begin_commands(VkCommandBuffer commands,
                                                    const VkCommandBufferBeginInfo* info) {
  static const auto kLogging = logging<PFN_vkBeginCommandBuffer>("vkBeginCommandBuffer");
  with_exact(commands, [&](ExactDevice& exact) { exact.reset(exact.commands(commands)); });
  return kLogging(commands, info);
}

VKAPI_ATTR VkResult VKAPI_CALL exact_reset_commands(VkCommandBuffer commands,
                                                    VkCommandBufferResetFlags flags) {
  static const auto kLogging = logging<PFN_vkResetCommandBuffer>("vkResetCommandBuffer");
  with_exact(commands, [&](ExactDevice& exact) { exact.reset(exact.commands(commands)); });
  return kLogging(commands, flags);
}

VKAPI_ATTR VkResult VKAPI_CALL exact_reset_pool(VkDevice device, VkCommandPool pool,
                                                VkCommandPoolResetFlags flags) {
  static const auto kLogging = logging<PFN_vkResetCommandPool>("vkResetCommandPool");
  with_exact(device, [&](ExactDevice& exact) { exact.reset_pool(number_of(pool)); });
  return kLogging(device, pool, flags);
}

VKAPI_ATTR void VKAPI_CALL exact_destroy_pool(VkDevice device, VkCommandPool pool,
                                              const VkAllocationCallbacks* allocator) {
  static const auto kLogging = logging<PFN_vkDestroyCommandPool>("vkDestroyCommandPool");
  with_exact(device, [&](ExactDevice& exact) { exact.reset_pool(number_of(pool)); });
  kLogging(device, pool, allocator);
}

// What dispatches noted is made visible to the host. This is no barrier of the application's.
VKAPI_ATTR VkResult VKAPI_CALL exact_end_commands(VkCommandBuffer commands) {
  const VolkDeviceTable& next = device_of(commands).next;
  with_exact(commands, [&](ExactDevice& exact) {
    const ExactCommands& recorded = exact.commands(commands);
    if (!recorded.is_primary || (recorded.slots->empty() && recorded.executed.empty())) return;
    VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    next.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                              VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  });
  return next.vkEndCommandBuffer(commands);
}

VKAPI_ATTR void VKAPI_CALL exact_execute_commands(VkCommandBuffer commands, uint32_t count,
                                                  const VkCommandBuffer* secondaries) {
  static const auto kLogging = logging<PFN_vkCmdExecuteCommands>("vkCmdExecuteCommands");
  with_exact(commands, [&](ExactDevice& exact) {
    ExactCommands& recorded = exact.commands(commands);
    for (uint32_t i = 0; i < count; ++i) {
      recorded.executed.push_back(exact.commands(secondaries[i]).slots);
    }
    recorded.sets.clear();
    recorded.pipeline = nullptr;
  });
  kLogging(commands, count, secondaries);
}

VKAPI_ATTR void VKAPI_CALL exact_bind_pipeline(VkCommandBuffer commands,
                                               VkPipelineBindPoint bind_point,
                                               VkPipeline pipeline) {
  static const auto kLogging = logging<PFN_vkCmdBindPipeline>("vkCmdBindPipeline");
  if (bind_point == VK_PIPELINE_BIND_POINT_COMPUTE) {
    with_exact(commands, [&](ExactDevice& exact) {
      exact.commands(commands).pipeline = exact.pipeline(pipeline);
    });
  }
  kLogging(commands, bind_point, pipeline);
}

VKAPI_ATTR void VKAPI_CALL exact_bind_sets(VkCommandBuffer commands, VkPipelineBindPoint bind_point,
                                           VkPipelineLayout layout, uint32_t first_set,
                                           uint32_t count, const VkDescriptorSet* sets,
                                           uint32_t offset_count, const uint32_t* offsets) {
  static const auto kLogging = logging<PFN_vkCmdBindDescriptorSets>("vkCmdBindDescriptorSets");
  if (bind_point == VK_PIPELINE_BIND_POINT_COMPUTE) {
    with_exact(commands, [&](ExactDevice& exact) {
      exact.bind_sets(exact.commands(commands), layout, first_set, std::span(sets, count),
                      std::span(offsets, offset_count));
    });
  }
  kLogging(commands, bind_point, layout, first_set, count, sets, offset_count, offsets);
}

void push(VkCommandBuffer commands, uint32_t bind_point, VkPipelineLayout layout, uint32_t set,
          const std::vector<SetWriteFields>& writes) {
  if (bind_point != VK_PIPELINE_BIND_POINT_COMPUTE) return;
  with_exact(commands, [&](ExactDevice& exact) {
    exact.push_set(exact.commands(commands), layout, set, writes);
  });
}

VKAPI_ATTR void VKAPI_CALL exact_push_set(VkCommandBuffer commands, VkPipelineBindPoint bind_point,
                                          VkPipelineLayout layout, uint32_t set, uint32_t count,
                                          const VkWriteDescriptorSet* writes) {
  static const auto kLogging = logging<PFN_vkCmdPushDescriptorSetKHR>("vkCmdPushDescriptorSetKHR");
  push(commands, static_cast<uint32_t>(bind_point), layout, set, fields_of_writes(count, writes));
  kLogging(commands, bind_point, layout, set, count, writes);
}

VKAPI_ATTR void VKAPI_CALL exact_push_with_template(VkCommandBuffer commands,
                                                    VkDescriptorUpdateTemplate handle,
                                                    VkPipelineLayout layout, uint32_t set,
                                                    const void* data) {
  static const auto kLogging =
      logging<PFN_vkCmdPushDescriptorSetWithTemplateKHR>("vkCmdPushDescriptorSetWithTemplateKHR");
  uint32_t bind_point = 0;
  const auto writes = template_writes(device_of(commands), handle, 0, data, bind_point);
  push(commands, bind_point, layout, set, writes);
  kLogging(commands, handle, layout, set, data);
}

}  // namespace

std::span<const Intercepted> exact_object_calls() {
  static const std::array kCalls = {
      Intercepted{"vkCreateBuffer", as_function(exact_create_buffer)},
      Intercepted{"vkCreateImage", as_function(exact_create_image)},
      Intercepted{"vkCreateImageView", as_function(exact_create_view)},
      Intercepted{"vkCreateSampler", as_function(exact_create_sampler)},
      Intercepted{"vkCreateDescriptorSetLayout", as_function(exact_create_set_layout)},
      Intercepted{"vkAllocateDescriptorSets", as_function(exact_allocate_sets)},
      Intercepted{"vkUpdateDescriptorSets", as_function(exact_update_sets)},
      Intercepted{"vkUpdateDescriptorSetWithTemplate", as_function(exact_update_with_template)},
      Intercepted{"vkUpdateDescriptorSetWithTemplateKHR", as_function(exact_update_with_template)},
      Intercepted{"vkCreateShaderModule", as_function(exact_create_module)},
      Intercepted{"vkCreatePipelineLayout", as_function(exact_create_pipeline_layout)},
      Intercepted{"vkCreateComputePipelines", as_function(exact_create_pipelines)},
      Intercepted{"vkAllocateCommandBuffers", as_function(exact_allocate_commands)},
      Intercepted{"vkFreeCommandBuffers", as_function(exact_free_commands)},
      Intercepted{"vkBeginCommandBuffer", as_function(exact_begin_commands)},
      Intercepted{"vkResetCommandBuffer", as_function(exact_reset_commands)},
      Intercepted{"vkResetCommandPool", as_function(exact_reset_pool)},
      Intercepted{"vkDestroyCommandPool", as_function(exact_destroy_pool)},
      Intercepted{"vkEndCommandBuffer", as_function(exact_end_commands)},
      Intercepted{"vkCmdExecuteCommands", as_function(exact_execute_commands)},
      Intercepted{"vkCmdBindPipeline", as_function(exact_bind_pipeline)},
      Intercepted{"vkCmdBindDescriptorSets", as_function(exact_bind_sets)},
      Intercepted{"vkCmdPushDescriptorSetKHR", as_function(exact_push_set)},
      Intercepted{"vkCmdPushDescriptorSetWithTemplateKHR", as_function(exact_push_with_template)},
  };
  return kCalls;
}

}  // namespace interlock
