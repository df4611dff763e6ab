// VulkanPipelines: one per shader, made when a run first needs it.
#pragma once

#include <volk.h>

#include <vector>

#include "backends/vulkan/device.h"
#include "backends/vulkan/shaders.h"
#include "encoder/program/result.h"

namespace interlock {

struct VulkanPipeline {
  VkPipeline handle = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;  // Of push descriptors.
  std::vector<VkDescriptorType> binding_types;        // By binding.
};

class VulkanPipelines {
 public:
  explicit VulkanPipelines(VulkanDevice& device) : device_(device), by_shader_(shaders().size()) {}
  ~VulkanPipelines();
  VulkanPipelines(const VulkanPipelines&) = delete;
  VulkanPipelines& operator=(const VulkanPipelines&) = delete;

  // Cost: constant but for the first call for this shader, which compiles it.
  // Errors: the driver failed.
  Result<const VulkanPipeline*> get(ShaderIndex shader);

 private:
  VkResult make_layouts(const Shader& shader, VulkanPipeline& pipeline);
  VkResult make_pipeline(const Shader& shader, VulkanPipeline& pipeline);

  VulkanDevice& device_;
  std::vector<VulkanPipeline> by_shader_;
};

}  // namespace interlock
