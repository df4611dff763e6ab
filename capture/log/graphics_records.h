// Records about graphics: render passes, what is drawn in them, and with which pipelines. Handles,
// enumerations and flags as in object_records.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/log/record_kind.h"

namespace interlock {

struct PassAttachmentFields {
  uint32_t load_op = 0;  // Of depth and stencil both: the one that touches more. So the next.
  uint32_t store_op = 0;
  uint32_t initial_layout = 0;
  uint32_t final_layout = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.load_op, self.store_op, self.initial_layout, self.final_layout);
  }
};

enum class AttachmentUse : uint32_t { kInput, kColor, kDepth, kResolve, kShadingRate };

struct AttachmentUseFields {
  AttachmentUse use = AttachmentUse::kColor;
  uint32_t attachment = 0;
  uint32_t layout = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.use, self.attachment, self.layout);
  }
};

// Attachments that are not used, or only preserved, are not among them.
struct SubpassFields {
  std::vector<AttachmentUseFields> uses;

  static void each_field(auto& self, auto& fields) { fields(self.uses); }
};

struct SubpassDependencyFields {
  uint32_t source_subpass = 0;  // Or VK_SUBPASS_EXTERNAL. So the next.
  uint32_t destination_subpass = 0;
  uint64_t source_stages = 0;
  uint64_t source_accesses = 0;
  uint64_t destination_stages = 0;
  uint64_t destination_accesses = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.source_subpass, self.destination_subpass, self.source_stages, self.source_accesses,
           self.destination_stages, self.destination_accesses);
  }
};

struct CreateRenderPassRecord {
  static constexpr RecordKind kKind = RecordKind::kCreateRenderPass;
  uint64_t render_pass = 0;
  std::vector<PassAttachmentFields> attachments;
  std::vector<SubpassFields> subpasses;
  std::vector<SubpassDependencyFields> dependencies;

  static void each_field(auto& self, auto& fields) {
    fields(self.render_pass, self.attachments, self.subpasses, self.dependencies);
  }
};

struct CreateFramebufferRecord {
  static constexpr RecordKind kKind = RecordKind::kCreateFramebuffer;
  uint64_t framebuffer = 0;
  std::vector<uint64_t> views;  // None where they are named when a pass begins.

  static void each_field(auto& self, auto& fields) { fields(self.framebuffer, self.views); }
};

struct ShaderStageFields {
  uint32_t stage = 0;          // VkShaderStageFlagBits.
  uint64_t module = 0;         // 0: its code stands here.
  std::vector<uint32_t> code;  // VkShaderModuleCreateInfo in the chain of the stage.
  std::string entry;

  static void each_field(auto& self, auto& fields) {
    fields(self.stage, self.module, self.code, self.entry);
  }
};

struct CreateGraphicsPipelineRecord {
  static constexpr RecordKind kKind = RecordKind::kCreateGraphicsPipeline;
  uint64_t pipeline = 0;
  uint64_t layout = 0;
  std::vector<ShaderStageFields> stages;
  std::vector<uint32_t> vertex_bindings;
  uint32_t has_any_vertices = 0;    // Which bindings are read is said while commands are recorded.
  std::vector<uint64_t> libraries;  // Pipelines that it is made of, too.

  static void each_field(auto& self, auto& fields) {
    fields(self.pipeline, self.layout, self.stages, self.vertex_bindings, self.has_any_vertices,
           self.libraries);
  }
};

struct BeginPassRecord {
  static constexpr RecordKind kKind = RecordKind::kBeginPass;
  uint64_t commands = 0;
  uint64_t render_pass = 0;
  uint64_t framebuffer = 0;
  std::vector<uint64_t> views;  // Of a framebuffer without any.

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.render_pass, self.framebuffer, self.views);
  }
};

struct NextSubpassRecord {
  static constexpr RecordKind kKind = RecordKind::kNextSubpass;
  uint64_t commands = 0;

  static void each_field(auto& self, auto& fields) { fields(self.commands); }
};

struct RenderingAttachmentFields {
  AttachmentUse use = AttachmentUse::kColor;
  uint64_t view = 0;
  uint32_t layout = 0;
  uint32_t load_op = 0;
  uint32_t store_op = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.use, self.view, self.layout, self.load_op, self.store_op);
  }
};

// A pass without a render pass.
struct BeginRenderingRecord {
  static constexpr RecordKind kKind = RecordKind::kBeginRendering;
  uint64_t commands = 0;
  uint32_t flags = 0;
  std::vector<RenderingAttachmentFields> attachments;

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.flags, self.attachments);
  }
};

// Of either.
struct EndPassRecord {
  static constexpr RecordKind kKind = RecordKind::kEndPass;
  uint64_t commands = 0;

  static void each_field(auto& self, auto& fields) { fields(self.commands); }
};

struct VertexBufferFields {
  uint64_t buffer = 0;  // 0: none.
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;  // Or "whole size".

  static void each_field(auto& self, auto& fields) {
    fields(self.buffer, self.offset_bytes, self.size_bytes);
  }
};

struct BindVertexBuffersRecord {
  static constexpr RecordKind kKind = RecordKind::kBindVertexBuffers;
  uint64_t commands = 0;
  uint32_t first_binding = 0;
  std::vector<VertexBufferFields> buffers;

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.first_binding, self.buffers);
  }
};

struct BindIndexBufferRecord {
  static constexpr RecordKind kKind = RecordKind::kBindIndexBuffer;
  uint64_t commands = 0;
  uint64_t buffer = 0;
  uint64_t offset_bytes = 0;
  uint32_t index_bytes = 0;  // Of one index.

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.buffer, self.offset_bytes, self.index_bytes);
  }
};

// Bytes of a buffer that a draw has its arguments from, or their count.
struct DrawArgumentsFields {
  uint64_t buffer = 0;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.buffer, self.offset_bytes, self.size_bytes);
  }
};

struct DrawRecord {
  static constexpr RecordKind kKind = RecordKind::kDraw;
  uint64_t commands = 0;
  uint32_t is_indexed = 0;
  uint64_t first_index = 0;
  uint64_t index_count = 0;  // UINT64_MAX: it is not known.
  std::vector<DrawArgumentsFields> arguments;

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.is_indexed, self.first_index, self.index_count, self.arguments);
  }
};

}  // namespace interlock
