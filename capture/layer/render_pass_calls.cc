// Render passes, framebuffers, and pipelines of graphics.

#include <volk.h>

#include <algorithm>
#include <array>
#include <optional>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/log/graphics_records.h"

namespace interlock {
namespace {

// What touches more of two load operations: one that reads, else one that writes.
uint32_t widest_load(VkAttachmentLoadOp one, VkAttachmentLoadOp other) {
  if (one == VK_ATTACHMENT_LOAD_OP_LOAD || other == VK_ATTACHMENT_LOAD_OP_LOAD) {
    return VK_ATTACHMENT_LOAD_OP_LOAD;
  }
  return static_cast<uint32_t>(one == VK_ATTACHMENT_LOAD_OP_NONE_EXT ? other : one);
}

uint32_t widest_store(VkAttachmentStoreOp one, VkAttachmentStoreOp other) {
  return static_cast<uint32_t>(one == VK_ATTACHMENT_STORE_OP_NONE ? other : one);
}

// Formats from VK_FORMAT_D16_UNORM to VK_FORMAT_D32_SFLOAT_S8_UINT have depth, or stencil.
bool has_stencil(VkFormat format) {
  return format >= VK_FORMAT_S8_UINT && format <= VK_FORMAT_D32_SFLOAT_S8_UINT;
}

// A VkAttachmentDescription, of either generation.
template <typename Description>
PassAttachmentFields attachment_of(const Description& description) {
  PassAttachmentFields fields;
  fields.load_op = static_cast<uint32_t>(description.loadOp);
  fields.store_op = static_cast<uint32_t>(description.storeOp);
  if (has_stencil(description.format)) {
    fields.load_op = widest_load(description.loadOp, description.stencilLoadOp);
    fields.store_op = widest_store(description.storeOp, description.stencilStoreOp);
  }
  fields.initial_layout = static_cast<uint32_t>(description.initialLayout);
  fields.final_layout = static_cast<uint32_t>(description.finalLayout);
  return fields;
}

// VkAttachmentReference, of either generation; null: none.
template <typename Reference>
void add_use(AttachmentUse use, const Reference* reference, SubpassFields& fields) {
  if (reference == nullptr || reference->attachment == VK_ATTACHMENT_UNUSED) return;
  fields.uses.push_back({use, reference->attachment, static_cast<uint32_t>(reference->layout)});
}

template <typename Description>
SubpassFields subpass_of(const Description& description) {
  SubpassFields fields;
  for (uint32_t i = 0; i < description.inputAttachmentCount; ++i) {
    add_use(AttachmentUse::kInput, description.pInputAttachments + i, fields);
  }
  for (uint32_t i = 0; i < description.colorAttachmentCount; ++i) {
    add_use(AttachmentUse::kColor, description.pColorAttachments + i, fields);
    if (description.pResolveAttachments != nullptr) {
      add_use(AttachmentUse::kResolve, description.pResolveAttachments + i, fields);
    }
  }
  add_use(AttachmentUse::kDepth, description.pDepthStencilAttachment, fields);
  return fields;
}

template <typename Dependency>
SubpassDependencyFields dependency_of(const Dependency& dependency) {
  SubpassDependencyFields fields;
  fields.source_subpass = dependency.srcSubpass;
  fields.destination_subpass = dependency.dstSubpass;
  fields.source_stages = dependency.srcStageMask;
  fields.source_accesses = dependency.srcAccessMask;
  fields.destination_stages = dependency.dstStageMask;
  fields.destination_accesses = dependency.dstAccessMask;
  return fields;
}

// What both generations have.
template <typename Info>
CreateRenderPassRecord pass_record_of(const Info& info, VkRenderPass pass) {
  CreateRenderPassRecord record;
  record.render_pass = number_of(pass);
  for (uint32_t i = 0; i < info.attachmentCount; ++i) {
    record.attachments.push_back(attachment_of(info.pAttachments[i]));
  }
  for (uint32_t i = 0; i < info.subpassCount; ++i) {
    record.subpasses.push_back(subpass_of(info.pSubpasses[i]));
  }
  for (uint32_t i = 0; i < info.dependencyCount; ++i) {
    record.dependencies.push_back(dependency_of(info.pDependencies[i]));
  }
  return record;
}

VKAPI_ATTR VkResult VKAPI_CALL create_render_pass(VkDevice device,
                                                  const VkRenderPassCreateInfo* info,
                                                  const VkAllocationCallbacks* allocator,
                                                  VkRenderPass* pass) {
  const VkResult result = device_of(device).next.vkCreateRenderPass(device, info, allocator, pass);
  if (result == VK_SUCCESS) log().append(pass_record_of(*info, *pass));
  return result;
}

// What stands in the chains of the second generation.
void add_chained(const VkRenderPassCreateInfo2& info, CreateRenderPassRecord& record) {
  for (uint32_t i = 0; i < info.subpassCount; ++i) {
    const void* const chain = info.pSubpasses[i].pNext;
    if (const auto* const resolve = find_in_chain<VkSubpassDescriptionDepthStencilResolve>(
            chain, VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE)) {
      add_use(AttachmentUse::kResolve, resolve->pDepthStencilResolveAttachment,
              record.subpasses[i]);
    }
    if (const auto* const rate = find_in_chain<VkFragmentShadingRateAttachmentInfoKHR>(
            chain, VK_STRUCTURE_TYPE_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR)) {
      add_use(AttachmentUse::kShadingRate, rate->pFragmentShadingRateAttachment,
              record.subpasses[i]);
    }
  }
  for (uint32_t i = 0; i < info.dependencyCount; ++i) {
    const auto* const barrier = find_in_chain<VkMemoryBarrier2>(info.pDependencies[i].pNext,
                                                                VK_STRUCTURE_TYPE_MEMORY_BARRIER_2);
    if (barrier == nullptr) continue;
    record.dependencies[i].source_stages = barrier->srcStageMask;
    record.dependencies[i].source_accesses = barrier->srcAccessMask;
    record.dependencies[i].destination_stages = barrier->dstStageMask;
    record.dependencies[i].destination_accesses = barrier->dstAccessMask;
  }
}

VKAPI_ATTR VkResult VKAPI_CALL create_render_pass_2(VkDevice device,
                                                    const VkRenderPassCreateInfo2* info,
                                                    const VkAllocationCallbacks* allocator,
                                                    VkRenderPass* pass) {
  const VkResult result = device_of(device).next.vkCreateRenderPass2(device, info, allocator, pass);
  if (result != VK_SUCCESS) return result;
  CreateRenderPassRecord record = pass_record_of(*info, *pass);
  add_chained(*info, record);
  log().append(record);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_framebuffer(VkDevice device,
                                                  const VkFramebufferCreateInfo* info,
                                                  const VkAllocationCallbacks* allocator,
                                                  VkFramebuffer* framebuffer) {
  const VkResult result =
      device_of(device).next.vkCreateFramebuffer(device, info, allocator, framebuffer);
  if (result != VK_SUCCESS) return result;
  const bool has_views = (info->flags & VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT) == 0;
  log().append(CreateFramebufferRecord{
      number_of(*framebuffer),
      has_views ? numbers_of(info->pAttachments, info->attachmentCount) : std::vector<uint64_t>()});
  return result;
}

bool takes_any_vertices(const VkGraphicsPipelineCreateInfo& info) {
  if (info.pDynamicState == nullptr) return false;
  const auto* const states = info.pDynamicState->pDynamicStates;
  return std::count(states, states + info.pDynamicState->dynamicStateCount,
                    VK_DYNAMIC_STATE_VERTEX_INPUT_EXT) > 0;
}

bool has_vertex_stage(const VkGraphicsPipelineCreateInfo& info) {
  for (uint32_t i = 0; i < info.stageCount; ++i) {
    if (info.pStages[i].stage == VK_SHADER_STAGE_VERTEX_BIT) return true;
  }
  return false;
}

// Of a part of a pipeline other members are not looked at, and need not be valid.
bool has_vertex_input(const VkGraphicsPipelineCreateInfo& info) {
  const auto* const parts = find_in_chain<VkGraphicsPipelineLibraryCreateInfoEXT>(
      info.pNext, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT);
  if (parts != nullptr) {
    return (parts->flags & VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT) != 0;
  }
  return has_vertex_stage(info);
}

CreateGraphicsPipelineRecord pipeline_record_of(const VkGraphicsPipelineCreateInfo& info,
                                                VkPipeline pipeline) {
  CreateGraphicsPipelineRecord record;
  record.pipeline = number_of(pipeline);
  record.layout = number_of(info.layout);
  for (uint32_t i = 0; i < info.stageCount; ++i) {
    const VkPipelineShaderStageCreateInfo& stage = info.pStages[i];
    record.stages.push_back({static_cast<uint32_t>(stage.stage), number_of(stage.module),
                             own_code_of(stage), stage.pName});
  }
  if (const auto* const libraries = find_in_chain<VkPipelineLibraryCreateInfoKHR>(
          info.pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR)) {
    record.libraries = numbers_of(libraries->pLibraries, libraries->libraryCount);
  }
  if (!has_vertex_input(info)) return record;
  record.has_any_vertices = takes_any_vertices(info) ? 1 : 0;
  const VkPipelineVertexInputStateCreateInfo* const input = info.pVertexInputState;
  if (record.has_any_vertices != 0 || input == nullptr) return record;
  for (uint32_t i = 0; i < input->vertexBindingDescriptionCount; ++i) {
    record.vertex_bindings.push_back(input->pVertexBindingDescriptions[i].binding);
  }
  return record;
}

VKAPI_ATTR VkResult VKAPI_CALL create_graphics_pipelines(VkDevice device, VkPipelineCache cache,
                                                         uint32_t count,
                                                         const VkGraphicsPipelineCreateInfo* infos,
                                                         const VkAllocationCallbacks* allocator,
                                                         VkPipeline* pipelines) {
  const VkResult result = device_of(device).next.vkCreateGraphicsPipelines(
      device, cache, count, infos, allocator, pipelines);
  for (uint32_t i = 0; i < count; ++i) {
    if (pipelines[i] != VK_NULL_HANDLE) log().append(pipeline_record_of(infos[i], pipelines[i]));
  }
  return result;
}

}  // namespace

std::span<const Intercepted> render_pass_calls() {
  static const std::array kCalls = {
      Intercepted{"vkCreateRenderPass", as_function(create_render_pass)},
      Intercepted{"vkCreateRenderPass2", as_function(create_render_pass_2)},
      Intercepted{"vkCreateRenderPass2KHR", as_function(create_render_pass_2)},
      Intercepted{"vkDestroyRenderPass",
                  as_function(destroy_object<&VolkDeviceTable::vkDestroyRenderPass,
                                             VK_OBJECT_TYPE_RENDER_PASS, VkRenderPass>)},
      Intercepted{"vkCreateFramebuffer", as_function(create_framebuffer)},
      Intercepted{"vkDestroyFramebuffer",
                  as_function(destroy_object<&VolkDeviceTable::vkDestroyFramebuffer,
                                             VK_OBJECT_TYPE_FRAMEBUFFER, VkFramebuffer>)},
      Intercepted{"vkCreateGraphicsPipelines", as_function(create_graphics_pipelines)},
  };
  return kCalls;
}

}  // namespace interlock
