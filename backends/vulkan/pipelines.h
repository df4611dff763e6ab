// Pipelines: one per shader, made when a run first needs it.
#pragma once

#include <volk.h>

#include <vector>

#include "backends/vulkan/device.h"
#include "backends/vulkan/shaders.h"
#include "encoder/result.h"

namespace interlock {

struct Pipeline {
  VkPipeline handle = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;  // Of push descriptors.
  std::vector<VkDescriptorType> binding_types;        // By binding.
};

class Pipelines {
 public:
  explicit Pipelines(Device& device) : device_(device), by_shader_(shaders().size()) {}
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  // Cost: constant but for the first call for this shader, which compiles it.
  // Errors: the driver failed.
  Result<const Pipeline*> get(ShaderIndex shader);

 private:
  VkResult make_layouts(const Shader& shader, Pipeline& pipeline);
  VkResult make_pipeline(const Shader& shader, Pipeline& pipeline);

  Device& device_;
  std::vector<Pipeline> by_shader_;
};

}  // namespace interlock
