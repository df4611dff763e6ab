// The part of ObjectState about graphics: render passes, framebuffers, pipelines.

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "capture/convert/object_state.h"

namespace interlock {
namespace {

// Of SPIR-V (3.3).
enum ExecutionModel : uint32_t {
  kVertexModel = 0,
  kTessellationControlModel = 1,
  kTessellationEvaluationModel = 2,
  kGeometryModel = 3,
  kFragmentModel = 4,
};

// By VkShaderStageFlagBits. None: its stage is not followed.
std::optional<uint32_t> model_of(uint32_t stage) {
  constexpr std::pair<uint32_t, uint32_t> kModels[] = {
      {VK_SHADER_STAGE_VERTEX_BIT, kVertexModel},
      {VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, kTessellationControlModel},
      {VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, kTessellationEvaluationModel},
      {VK_SHADER_STAGE_GEOMETRY_BIT, kGeometryModel},
      {VK_SHADER_STAGE_FRAGMENT_BIT, kFragmentModel},
  };
  for (const auto& [known, model] : kModels) {
    if (known == stage) return model;
  }
  return std::nullopt;
}

// What either does.
void add_accesses(const ShaderAccesses& more, ShaderAccesses& all) {
  all.addresses.insert(all.addresses.end(), more.addresses.begin(), more.addresses.end());
  all.has_unbound = all.has_unbound || more.has_unbound;
  for (const BindingUse& use : more.bindings) {
    const auto same = std::ranges::find_if(all.bindings, [&](const BindingUse& known) {
      return known.set == use.set && known.binding == use.binding;
    });
    if (same == all.bindings.end()) {
      all.bindings.push_back(use);
    } else {
      same->is_loaded = same->is_loaded || use.is_loaded;
      same->is_stored = same->is_stored || use.is_stored;
    }
  }
}

}  // namespace

CapturedViews ObjectState::views(const std::vector<uint64_t>& handles) const {
  CapturedViews found;
  for (const uint64_t handle : handles) found.push_back(view(handle));
  return found;
}

void ObjectState::apply(const CreateRenderPassRecord& record) {
  const auto pass = render_passes_.create(record.render_pass);
  pass->info = record;
  pass->number = ++render_pass_count_;
  pass->last_uses.resize(record.attachments.size());
  for (size_t i = 0; i < record.subpasses.size(); ++i) {
    std::vector<AttachmentUseFields>& uses = pass->info.subpasses[i].uses;
    std::erase_if(uses, [&](const AttachmentUseFields& use) {
      return use.attachment >= record.attachments.size();
    });
    for (const AttachmentUseFields& use : uses) pass->last_uses[use.attachment] = i;
  }
}

void ObjectState::apply(const CreateFramebufferRecord& record) {
  framebuffers_.create(record.framebuffer)->views = views(record.views);
}

void ObjectState::apply(const CreateGraphicsPipelineRecord& record) {
  const auto pipeline = pipelines_.create(record.pipeline);
  pipeline->number = ++pipeline_count_;
  pipeline->layout = pipeline_layouts_.find(record.layout);
  pipeline->vertex_bindings.insert(record.vertex_bindings.begin(), record.vertex_bindings.end());
  pipeline->has_any_vertices = record.has_any_vertices != 0;
  std::optional<ShaderAccesses> all = ShaderAccesses();
  for (const ShaderStageFields& stage : record.stages) {
    const auto model = model_of(stage.stage);
    if (!model) summary_.note("a pipeline of graphics with stages that are not followed");
    const auto module = modules_.find(stage.module);
    const Code& code = stage.module == 0 || module == nullptr ? stage.code : *module;
    const auto accesses = model ? accesses_of(code, stage.entry, *model) : std::nullopt;
    if (accesses && all) add_accesses(*accesses, *all);
    if (!accesses) all.reset();
  }
  for (const uint64_t handle : record.libraries) {
    const auto library = pipelines_.find(handle);
    if (library == nullptr || !library->accesses) {
      all.reset();
      continue;
    }
    if (all) add_accesses(*library->accesses, *all);
    pipeline->vertex_bindings.insert(library->vertex_bindings.begin(),
                                     library->vertex_bindings.end());
    pipeline->has_any_vertices = pipeline->has_any_vertices || library->has_any_vertices;
  }
  pipeline->accesses = std::move(all);
}

}  // namespace interlock
