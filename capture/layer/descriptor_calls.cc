// Descriptor set layouts, pools and sets. What an update template writes is written out: its bytes
// say nothing without the template.

#include <volk.h>

#include <array>
#include <memory>
#include <mutex>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/layer/set_writes.h"
#include "capture/log/command_records.h"
#include "capture/log/object_records.h"

namespace interlock {
namespace {

VKAPI_ATTR VkResult VKAPI_CALL create_set_layout(VkDevice device,
                                                 const VkDescriptorSetLayoutCreateInfo* info,
                                                 const VkAllocationCallbacks* allocator,
                                                 VkDescriptorSetLayout* layout) {
  const VkResult result =
      device_of(device).next.vkCreateDescriptorSetLayout(device, info, allocator, layout);
  if (result != VK_SUCCESS) return result;
  const auto* const flags = find_in_chain<VkDescriptorSetLayoutBindingFlagsCreateInfo>(
      info->pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO);
  CreateSetLayoutRecord record{number_of(*layout), info->flags, {}};
  for (uint32_t i = 0; i < info->bindingCount; ++i) {
    const VkDescriptorSetLayoutBinding& binding = info->pBindings[i];
    record.bindings.push_back(
        {binding.binding, static_cast<uint32_t>(binding.descriptorType), binding.descriptorCount,
         flags != nullptr && i < flags->bindingCount ? flags->pBindingFlags[i] : 0});
  }
  log().append(record);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate_sets(VkDevice device,
                                             const VkDescriptorSetAllocateInfo* info,
                                             VkDescriptorSet* sets) {
  const VkResult result = device_of(device).next.vkAllocateDescriptorSets(device, info, sets);
  if (result != VK_SUCCESS) return result;
  AllocateSetsRecord record;
  record.pool = number_of(info->descriptorPool);
  record.sets = numbers_of(sets, info->descriptorSetCount);
  record.layouts = numbers_of(info->pSetLayouts, info->descriptorSetCount);
  const auto* const counts = find_in_chain<VkDescriptorSetVariableDescriptorCountAllocateInfo>(
      info->pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO);
  if (counts != nullptr && counts->descriptorSetCount == info->descriptorSetCount) {
    record.variable_counts.assign(counts->pDescriptorCounts,
                                  counts->pDescriptorCounts + counts->descriptorSetCount);
  }
  log().append(record);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL free_sets(VkDevice device, VkDescriptorPool pool, uint32_t count,
                                         const VkDescriptorSet* sets) {
  log().append(FreeSetsRecord{numbers_of(sets, count)});
  return device_of(device).next.vkFreeDescriptorSets(device, pool, count, sets);
}

VKAPI_ATTR VkResult VKAPI_CALL reset_descriptor_pool(VkDevice device, VkDescriptorPool pool,
                                                     VkDescriptorPoolResetFlags flags) {
  log().append(ResetSetPoolRecord{number_of(pool)});
  return device_of(device).next.vkResetDescriptorPool(device, pool, flags);
}

VKAPI_ATTR void VKAPI_CALL update_sets(VkDevice device, uint32_t write_count,
                                       const VkWriteDescriptorSet* writes, uint32_t copy_count,
                                       const VkCopyDescriptorSet* copies) {
  UpdateSetsRecord record;
  record.writes = fields_of_writes(write_count, writes);
  for (uint32_t i = 0; i < copy_count; ++i) {
    const VkCopyDescriptorSet& copy = copies[i];
    record.copies.push_back({number_of(copy.srcSet), copy.srcBinding, copy.srcArrayElement,
                             number_of(copy.dstSet), copy.dstBinding, copy.dstArrayElement,
                             copy.descriptorCount});
  }
  log().append(record);
  device_of(device).next.vkUpdateDescriptorSets(device, write_count, writes, copy_count, copies);
}

VKAPI_ATTR VkResult VKAPI_CALL create_template(VkDevice device,
                                               const VkDescriptorUpdateTemplateCreateInfo* info,
                                               const VkAllocationCallbacks* allocator,
                                               VkDescriptorUpdateTemplate* handle) {
  Device& owner = device_of(device);
  const VkResult result =
      owner.next.vkCreateDescriptorUpdateTemplate(device, info, allocator, handle);
  if (result != VK_SUCCESS) return result;
  const auto kept = std::make_shared<UpdateTemplate>();
  kept->entries.assign(info->pDescriptorUpdateEntries,
                       info->pDescriptorUpdateEntries + info->descriptorUpdateEntryCount);
  kept->bind_point = static_cast<uint32_t>(info->pipelineBindPoint);
  const std::lock_guard lock(owner.mutex);
  owner.templates[number_of(*handle)] = kept;
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroy_template(VkDevice device, VkDescriptorUpdateTemplate handle,
                                            const VkAllocationCallbacks* allocator) {
  Device& owner = device_of(device);
  {
    const std::lock_guard lock(owner.mutex);
    owner.templates.erase(number_of(handle));
  }
  owner.next.vkDestroyDescriptorUpdateTemplate(device, handle, allocator);
}

// One that is not known writes what nobody follows.
std::shared_ptr<const UpdateTemplate> template_of(Device& owner,
                                                  VkDescriptorUpdateTemplate handle) {
  const std::lock_guard lock(owner.mutex);
  const auto found = owner.templates.find(number_of(handle));
  if (found != owner.templates.end()) return found->second;
  log().append(NotUnderstoodRecord{"an update template that is not known"});
  return std::make_shared<const UpdateTemplate>();
}

VKAPI_ATTR void VKAPI_CALL update_with_template(VkDevice device, VkDescriptorSet set,
                                                VkDescriptorUpdateTemplate handle,
                                                const void* data) {
  Device& owner = device_of(device);
  UpdateSetsRecord record;
  record.writes = fields_of_template(*template_of(owner, handle), number_of(set), data);
  log().append(record);
  owner.next.vkUpdateDescriptorSetWithTemplate(device, set, handle, data);
}

VKAPI_ATTR void VKAPI_CALL push_set(VkCommandBuffer commands, VkPipelineBindPoint bind_point,
                                    VkPipelineLayout layout, uint32_t set, uint32_t count,
                                    const VkWriteDescriptorSet* writes) {
  log().append(PushSetRecord{number_of(commands), static_cast<uint32_t>(bind_point),
                             number_of(layout), set, fields_of_writes(count, writes)});
  device_of(commands).next.vkCmdPushDescriptorSetKHR(commands, bind_point, layout, set, count,
                                                     writes);
}

VKAPI_ATTR void VKAPI_CALL push_with_template(VkCommandBuffer commands,
                                              VkDescriptorUpdateTemplate handle,
                                              VkPipelineLayout layout, uint32_t set,
                                              const void* data) {
  Device& owner = device_of(commands);
  const auto known = template_of(owner, handle);
  log().append(PushSetRecord{number_of(commands), known->bind_point, number_of(layout), set,
                             fields_of_template(*known, 0, data)});
  owner.next.vkCmdPushDescriptorSetWithTemplateKHR(commands, handle, layout, set, data);
}

}  // namespace

std::span<const Intercepted> descriptor_calls() {
  static const std::array kCalls = {
      Intercepted{"vkCreateDescriptorSetLayout", as_function(create_set_layout)},
      Intercepted{
          "vkDestroyDescriptorSetLayout",
          as_function(destroy_object<&VolkDeviceTable::vkDestroyDescriptorSetLayout,
                                     VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, VkDescriptorSetLayout>)},
      Intercepted{"vkAllocateDescriptorSets", as_function(allocate_sets)},
      Intercepted{"vkFreeDescriptorSets", as_function(free_sets)},
      Intercepted{"vkResetDescriptorPool", as_function(reset_descriptor_pool)},
      Intercepted{"vkDestroyDescriptorPool",
                  as_function(destroy_object<&VolkDeviceTable::vkDestroyDescriptorPool,
                                             VK_OBJECT_TYPE_DESCRIPTOR_POOL, VkDescriptorPool>)},
      Intercepted{"vkUpdateDescriptorSets", as_function(update_sets)},
      Intercepted{"vkCreateDescriptorUpdateTemplate", as_function(create_template)},
      Intercepted{"vkCreateDescriptorUpdateTemplateKHR", as_function(create_template)},
      Intercepted{"vkDestroyDescriptorUpdateTemplate", as_function(destroy_template)},
      Intercepted{"vkDestroyDescriptorUpdateTemplateKHR", as_function(destroy_template)},
      Intercepted{"vkUpdateDescriptorSetWithTemplate", as_function(update_with_template)},
      Intercepted{"vkUpdateDescriptorSetWithTemplateKHR", as_function(update_with_template)},
      Intercepted{"vkCmdPushDescriptorSetKHR", as_function(push_set)},
      Intercepted{"vkCmdPushDescriptorSetWithTemplateKHR", as_function(push_with_template)},
  };
  return kCalls;
}

}  // namespace interlock
