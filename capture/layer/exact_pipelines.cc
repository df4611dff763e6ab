// The part of ExactDevice about pipelines: which modules are instrumented, and with which layout.

#include <algorithm>

#include "capture/layer/exact_device.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/log/exact_records.h"

namespace interlock {

void ExactDevice::remark(const std::string& what) const { log().append(ExactRemarkRecord{what}); }

bool ExactDevice::has_room_for_buffer(const ExactPipelineLayout& layout) const {
  uint64_t buffer_count = 1;
  uint64_t buffer_count_compute = 1;
  uint64_t resource_count_compute = 1;
  for (const auto& set : layout.sets) {
    if (set == nullptr) continue;
    buffer_count += set->storage_buffer_count;
    buffer_count_compute += set->storage_buffer_count_compute;
    resource_count_compute += set->resource_count_compute;
  }
  return buffer_count <= limits_.maxDescriptorSetStorageBuffers &&
         buffer_count_compute <= limits_.maxPerStageDescriptorStorageBuffers &&
         resource_count_compute <= limits_.maxPerStageResources;
}

void ExactDevice::create_own_layout(const VkPipelineLayoutCreateInfo& info,
                                    VkPipelineLayout layout) {
  const std::shared_ptr<ExactPipelineLayout> described = objects.describe(info, own_set_);
  const bool has_all = std::ranges::count(described->sets, nullptr) == 0;
  described->has_room_for_buffer = has_room_for_buffer(*described);
  if (info.setLayoutCount <= own_set_ && has_all && described->has_room_for_buffer) {
    VkPipelineLayout& own = own_layouts_[described->prefixes.back()];
    if (own == VK_NULL_HANDLE) {
      std::vector<VkDescriptorSetLayout> sets(info.pSetLayouts,
                                              info.pSetLayouts + info.setLayoutCount);
      sets.resize(own_set_, arena_.empty_layout());
      sets.push_back(arena_.layout());
      VkPipelineLayoutCreateInfo with_own = info;
      with_own.setLayoutCount = static_cast<uint32_t>(sets.size());
      with_own.pSetLayouts = sets.data();
      device_.next.vkCreatePipelineLayout(device_.handle, &with_own, nullptr, &own);
    }
    described->own = own;
  }
  objects.add_pipeline_layout(layout, described);
}

void ExactDevice::add_module(VkShaderModule module, const VkShaderModuleCreateInfo& info) {
  modules_[number_of(module)].assign(info.pCode, info.pCode + info.codeSize / sizeof(uint32_t));
}

std::vector<uint32_t> ExactDevice::code_of(const VkPipelineShaderStageCreateInfo& stage) const {
  if (stage.module == VK_NULL_HANDLE) {
    const auto* const own = find_in_chain<VkShaderModuleCreateInfo>(
        stage.pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    if (own == nullptr) return {};
    return {own->pCode, own->pCode + own->codeSize / sizeof(uint32_t)};
  }
  const auto found = modules_.find(number_of(stage.module));
  return found == modules_.end() ? std::vector<uint32_t>() : found->second;
}

std::shared_ptr<const InstrumentedModule> ExactDevice::instrumented(
    const std::vector<uint32_t>& code) {
  const auto known = instrumented_.find(code);
  if (known != instrumented_.end()) return known->second;
  Result<InstrumentedModule> made = instrument(code, own_set_);
  if (!made) {
    remark("a shader as it is: " + made.error().message);
    return instrumented_[code] = nullptr;
  }
  for (const UnmeasuredBinding& binding : made->unmeasured) {
    remark("a binding as it is: " + binding.reason);
  }
  // Without a binding that is measured there is nothing to bind, either.
  if (made->entry_count == 0) return instrumented_[code] = nullptr;
  return instrumented_[code] = std::make_shared<const InstrumentedModule>(std::move(*made));
}

VkResult ExactDevice::create_pipelines(VkPipelineCache cache, uint32_t count,
                                       const VkComputePipelineCreateInfo* infos,
                                       const VkAllocationCallbacks* allocator,
                                       VkPipeline* pipelines) {
  std::vector<VkComputePipelineCreateInfo> changed(infos, infos + count);
  std::vector<ExactPipeline> made(count);
  std::vector<VkShaderModule> modules;
  for (uint32_t i = 0; i < count; ++i) {
    made[i].layout = objects.pipeline_layout(infos[i].layout);
    const std::vector<uint32_t> code = code_of(infos[i].stage);
    // A chain that holds the code itself would have to be made again without it.
    const bool is_simple = infos[i].stage.module != VK_NULL_HANDLE;
    if (code.empty() || !is_simple || made[i].layout == nullptr ||
        made[i].layout->own == VK_NULL_HANDLE) {
      const bool is_full = made[i].layout != nullptr && !made[i].layout->has_room_for_buffer;
      remark(code.empty() ? "a shader as it is: its code is not known"
             : !is_simple ? "a shader as it is: it stands in the call that creates its pipeline"
             : is_full    ? "a shader as it is: the device allows its layout no buffer more"
                          : "a shader as it is: its layout has no set to spare");
      continue;
    }
    made[i].module = instrumented(code);
    if (made[i].module == nullptr) continue;
    VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.codeSize = made[i].module->words.size() * sizeof(uint32_t);
    info.pCode = made[i].module->words.data();
    VkShaderModule module = VK_NULL_HANDLE;
    if (device_.next.vkCreateShaderModule(device_.handle, &info, nullptr, &module) != VK_SUCCESS) {
      made[i].module = nullptr;
      continue;
    }
    modules.push_back(module);
    changed[i].stage.module = module;
    changed[i].layout = made[i].layout->own;
  }
  VkResult result = device_.next.vkCreateComputePipelines(device_.handle, cache, count,
                                                          changed.data(), allocator, pipelines);
  if (result < VK_SUCCESS) {
    // As the application made them they may do.
    for (uint32_t i = 0; i < count; ++i) {
      device_.next.vkDestroyPipeline(device_.handle, pipelines[i], allocator);
      made[i].module = nullptr;
    }
    remark("a shader as it is: the driver did not take it with bitmaps");
    result = device_.next.vkCreateComputePipelines(device_.handle, cache, count, infos, allocator,
                                                   pipelines);
  }
  for (const VkShaderModule module : modules) {
    device_.next.vkDestroyShaderModule(device_.handle, module, nullptr);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (pipelines[i] == VK_NULL_HANDLE) continue;
    pipelines_[number_of(pipelines[i])] = std::make_shared<const ExactPipeline>(std::move(made[i]));
  }
  return result;
}

std::shared_ptr<const ExactPipeline> ExactDevice::pipeline(VkPipeline handle) const {
  const auto found = pipelines_.find(number_of(handle));
  return found == pipelines_.end() ? nullptr : found->second;
}

}  // namespace interlock
