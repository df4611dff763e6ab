#include "backends/vulkan/pipelines.h"

#include <fmt/format.h>

#include "backends/vulkan/driver_error.h"
#include "backends/vulkan/spirv.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr uint32_t kPushBytes = 128;  // At least what any shader has.

}  // namespace

Result<const VulkanPipeline*> VulkanPipelines::get(ShaderIndex shader) {
  VulkanPipeline& pipeline = by_shader_[shader];
  if (pipeline.handle != VK_NULL_HANDLE) return &pipeline;
  VkResult result = VK_SUCCESS;
  if (pipeline.layout == VK_NULL_HANDLE) result = make_layouts(shaders()[shader], pipeline);
  if (result == VK_SUCCESS) result = make_pipeline(shaders()[shader], pipeline);
  if (result == VK_SUCCESS) return &pipeline;
  return driver_error(result, fmt::format("compiling shader {}", shaders()[shader].name));
}

// The module says what its bindings are, so there is no second list of them.
VkResult VulkanPipelines::make_layouts(const Shader& shader, VulkanPipeline& pipeline) {
  const VolkDeviceTable& table = device_.table();
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  pipeline.binding_types.clear();
  for (const SpirvBinding& declared : bindings_of(shader.module)) {
    INTERLOCK_CHECK(declared.set == 0 && declared.binding == bindings.size());
    VkDescriptorSetLayoutBinding& binding = bindings.emplace_back();
    binding.binding = declared.binding;
    binding.descriptorType =
        declared.is_uniform ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    binding.descriptorCount = 1;
    binding.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    pipeline.binding_types.push_back(binding.descriptorType);
  }
  VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
  set.bindingCount = static_cast<uint32_t>(bindings.size());
  set.pBindings = bindings.data();
  if (pipeline.set_layout == VK_NULL_HANDLE) {  // Else from a call that failed after it.
    const VkResult made =
        table.vkCreateDescriptorSetLayout(device_.handle(), &set, nullptr, &pipeline.set_layout);
    if (made != VK_SUCCESS) return made;
  }
  const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, kPushBytes};
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &pipeline.set_layout;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &push;
  return table.vkCreatePipelineLayout(device_.handle(), &layout, nullptr, &pipeline.layout);
}

VkResult VulkanPipelines::make_pipeline(const Shader& shader, VulkanPipeline& pipeline) {
  const VolkDeviceTable& table = device_.table();
  const std::vector<uint32_t> words = with_aliased_buffers(shader.module);
  VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  module_info.codeSize = words.size() * sizeof(uint32_t);
  module_info.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  VkResult result = table.vkCreateShaderModule(device_.handle(), &module_info, nullptr, &module);
  if (result != VK_SUCCESS) return result;
  // Constant 0: invocations of a workgroup.
  const uint32_t lane_count = device_.limits().lane_count;
  const VkSpecializationMapEntry entry{0, 0, sizeof lane_count};
  const VkSpecializationInfo specialization{1, &entry, sizeof lane_count, &lane_count};
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &specialization;
  info.layout = pipeline.layout;
  result = table.vkCreateComputePipelines(device_.handle(), VK_NULL_HANDLE, 1, &info, nullptr,
                                          &pipeline.handle);
  table.vkDestroyShaderModule(device_.handle(), module, nullptr);
  return result;
}

VulkanPipelines::~VulkanPipelines() {
  const VolkDeviceTable& table = device_.table();
  for (const VulkanPipeline& pipeline : by_shader_) {
    table.vkDestroyPipeline(device_.handle(), pipeline.handle, nullptr);
    table.vkDestroyPipelineLayout(device_.handle(), pipeline.layout, nullptr);
    table.vkDestroyDescriptorSetLayout(device_.handle(), pipeline.set_layout, nullptr);
  }
}

}  // namespace interlock
