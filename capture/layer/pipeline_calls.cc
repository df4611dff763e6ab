// Shaders and compute pipelines. The code of a module is written once, where the module is created.

#include <volk.h>

#include <array>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/log/object_records.h"

namespace interlock {
namespace {

VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                             const VkAllocationCallbacks* allocator,
                                             VkShaderModule* module) {
  const VkResult result =
      device_of(device).next.vkCreateShaderModule(device, info, allocator, module);
  if (result == VK_SUCCESS) {
    log().append(CreateShaderModuleRecord{
        number_of(*module), {info->pCode, info->pCode + info->codeSize / sizeof(uint32_t)}});
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_pipeline_layout(VkDevice device,
                                                      const VkPipelineLayoutCreateInfo* info,
                                                      const VkAllocationCallbacks* allocator,
                                                      VkPipelineLayout* layout) {
  const VkResult result =
      device_of(device).next.vkCreatePipelineLayout(device, info, allocator, layout);
  if (result != VK_SUCCESS) return result;
  log().append(CreatePipelineLayoutRecord{number_of(*layout),
                                          numbers_of(info->pSetLayouts, info->setLayoutCount)});
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_compute_pipelines(VkDevice device, VkPipelineCache cache,
                                                        uint32_t count,
                                                        const VkComputePipelineCreateInfo* infos,
                                                        const VkAllocationCallbacks* allocator,
                                                        VkPipeline* pipelines) {
  const VkResult result = device_of(device).next.vkCreateComputePipelines(
      device, cache, count, infos, allocator, pipelines);
  log_compute_pipelines(count, infos, pipelines);
  return result;
}

}  // namespace

void log_compute_pipelines(uint32_t count, const VkComputePipelineCreateInfo* infos,
                           const VkPipeline* pipelines) {
  for (uint32_t i = 0; i < count; ++i) {
    if (pipelines[i] == VK_NULL_HANDLE) continue;
    const VkPipelineShaderStageCreateInfo& stage = infos[i].stage;
    CreateComputePipelineRecord record;
    record.pipeline = number_of(pipelines[i]);
    record.layout = number_of(infos[i].layout);
    record.module = number_of(stage.module);
    record.entry = stage.pName;
    record.code = own_code_of(stage);
    log().append(record);
  }
}

std::vector<uint32_t> own_code_of(const VkPipelineShaderStageCreateInfo& stage) {
  const auto* const own = find_in_chain<VkShaderModuleCreateInfo>(
      stage.pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  if (own == nullptr) return {};
  return {own->pCode, own->pCode + own->codeSize / sizeof(uint32_t)};
}

std::span<const Intercepted> pipeline_calls() {
  static const std::array kCalls = {
      Intercepted{"vkCreateShaderModule", as_function(create_module)},
      Intercepted{"vkDestroyShaderModule",
                  as_function(destroy_object<&VolkDeviceTable::vkDestroyShaderModule,
                                             VK_OBJECT_TYPE_SHADER_MODULE, VkShaderModule>)},
      Intercepted{"vkCreatePipelineLayout", as_function(create_pipeline_layout)},
      Intercepted{"vkDestroyPipelineLayout",
                  as_function(destroy_object<&VolkDeviceTable::vkDestroyPipelineLayout,
                                             VK_OBJECT_TYPE_PIPELINE_LAYOUT, VkPipelineLayout>)},
      Intercepted{"vkCreateComputePipelines", as_function(create_compute_pipelines)},
      Intercepted{"vkDestroyPipeline",
                  as_function(destroy_object<&VolkDeviceTable::vkDestroyPipeline,
                                             VK_OBJECT_TYPE_PIPELINE, VkPipeline>)},
  };
  return kCalls;
}

}  // namespace interlock
