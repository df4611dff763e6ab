#include "capture/convert/scopes.h"

#include <vulkan/vulkan_core.h>

namespace interlock {
namespace {

constexpr uint64_t kTransferStages =
    VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT |
    VK_PIPELINE_STAGE_2_RESOLVE_BIT | VK_PIPELINE_STAGE_2_BLIT_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT;

constexpr uint64_t kShaderReads = VK_ACCESS_2_SHADER_READ_BIT |
                                  VK_ACCESS_2_SHADER_SAMPLED_READ_BIT |
                                  VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_MEMORY_READ_BIT;
constexpr uint64_t kShaderWrites = VK_ACCESS_2_SHADER_WRITE_BIT |
                                   VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT |
                                   VK_ACCESS_2_MEMORY_WRITE_BIT;

constexpr uint64_t kGraphicsReads =
    VK_ACCESS_2_INDEX_READ_BIT | VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT |
    VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |
    VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT;
constexpr uint64_t kGraphicsWrites =
    VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;

constexpr uint64_t kPartsOfGraphics =
    VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT |
    VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT | VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT |
    VK_PIPELINE_STAGE_2_TESSELLATION_CONTROL_SHADER_BIT |
    VK_PIPELINE_STAGE_2_TESSELLATION_EVALUATION_SHADER_BIT |
    VK_PIPELINE_STAGE_2_GEOMETRY_SHADER_BIT | VK_PIPELINE_STAGE_2_PRE_RASTERIZATION_SHADERS_BIT |
    VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |
    VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT |
    VK_PIPELINE_STAGE_2_TRANSFORM_FEEDBACK_BIT_EXT |
    VK_PIPELINE_STAGE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR |
    VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT | VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT;

struct KnownAccess {
  StageAccess access;
  uint64_t flags;
};

constexpr KnownAccess kKnownAccesses[] = {
    {StageAccess::kComputeRead, kShaderReads},
    {StageAccess::kComputeWrite, kShaderWrites},
    {StageAccess::kComputeUniform, VK_ACCESS_2_UNIFORM_READ_BIT | VK_ACCESS_2_MEMORY_READ_BIT},
    {StageAccess::kCopyRead, VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_MEMORY_READ_BIT},
    {StageAccess::kCopyWrite, VK_ACCESS_2_TRANSFER_WRITE_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT},
    {StageAccess::kIndirectRead,
     VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT | VK_ACCESS_2_MEMORY_READ_BIT},
    {StageAccess::kGraphicsRead, kShaderReads | kGraphicsReads},
    {StageAccess::kGraphicsWrite, kShaderWrites | kGraphicsWrites},
    {StageAccess::kGraphicsUniform, VK_ACCESS_2_UNIFORM_READ_BIT | VK_ACCESS_2_MEMORY_READ_BIT},
    {StageAccess::kHostRead, VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_MEMORY_READ_BIT},
    {StageAccess::kHostWrite, VK_ACCESS_2_HOST_WRITE_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT},
};

}  // namespace

StageMask stages_of(uint64_t stages, ScopeEnd end) {
  const uint64_t everything = end == ScopeEnd::kFirst ? VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT
                                                      : VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT;
  StageMask mask = 0;
  const auto add = [&](uint64_t flags, StageMask added) {
    if ((stages & flags) != 0) mask = static_cast<StageMask>(mask | added);
  };
  add(VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | everything, kDeviceStages);
  add(VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, bit_of(Stage::kCompute));
  add(kTransferStages, bit_of(Stage::kCopy));
  add(VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT | VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT,
      bit_of(Stage::kIndirect));
  add(VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT | kPartsOfGraphics, bit_of(Stage::kGraphics));
  add(VK_PIPELINE_STAGE_2_HOST_BIT, bit_of(Stage::kHost));
  return mask;
}

bool has_unknown_stages(uint64_t stages) {
  constexpr uint64_t kKnownStages =
      VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT | VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT |
      VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT |
      VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT | VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT |
      VK_PIPELINE_STAGE_2_HOST_BIT | kTransferStages | kPartsOfGraphics;
  return (stages & ~kKnownStages) != 0;
}

bool has_parts_of_graphics(uint64_t stages) { return (stages & kPartsOfGraphics) != 0; }

Scope scope_of(uint64_t stages, uint64_t accesses, ScopeEnd end) {
  Scope scope;
  scope.stages = stages_of(stages, end);
  for (const KnownAccess& known : kKnownAccesses) {
    if ((accesses & known.flags) == 0) continue;
    if ((scope.stages & bit_of(stage_of(known.access))) == 0) continue;
    scope.accesses = static_cast<AccessMask>(scope.accesses | bit_of(known.access));
  }
  return scope;
}

}  // namespace interlock
