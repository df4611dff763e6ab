// Passes of graphics in command buffers, with a render pass or without one.

#include <volk.h>

#include <array>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/log/graphics_records.h"

namespace interlock {
namespace {

void log_pass(VkCommandBuffer commands, const VkRenderPassBeginInfo& info) {
  BeginPassRecord record;
  record.commands = number_of(commands);
  record.render_pass = number_of(info.renderPass);
  record.framebuffer = number_of(info.framebuffer);
  if (const auto* const views = find_in_chain<VkRenderPassAttachmentBeginInfo>(
          info.pNext, VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO)) {
    record.views = numbers_of(views->pAttachments, views->attachmentCount);
  }
  log().append(record);
}

VKAPI_ATTR void VKAPI_CALL begin_render_pass(VkCommandBuffer commands,
                                             const VkRenderPassBeginInfo* info,
                                             VkSubpassContents contents) {
  log_pass(commands, *info);
  device_of(commands).next.vkCmdBeginRenderPass(commands, info, contents);
}

VKAPI_ATTR void VKAPI_CALL begin_render_pass_2(VkCommandBuffer commands,
                                               const VkRenderPassBeginInfo* info,
                                               const VkSubpassBeginInfo* begin) {
  log_pass(commands, *info);
  device_of(commands).next.vkCmdBeginRenderPass2(commands, info, begin);
}

VKAPI_ATTR void VKAPI_CALL next_subpass(VkCommandBuffer commands, VkSubpassContents contents) {
  log().append(NextSubpassRecord{number_of(commands)});
  device_of(commands).next.vkCmdNextSubpass(commands, contents);
}

VKAPI_ATTR void VKAPI_CALL next_subpass_2(VkCommandBuffer commands, const VkSubpassBeginInfo* begin,
                                          const VkSubpassEndInfo* end) {
  log().append(NextSubpassRecord{number_of(commands)});
  device_of(commands).next.vkCmdNextSubpass2(commands, begin, end);
}

VKAPI_ATTR void VKAPI_CALL end_render_pass(VkCommandBuffer commands) {
  log().append(EndPassRecord{number_of(commands)});
  device_of(commands).next.vkCmdEndRenderPass(commands);
}

VKAPI_ATTR void VKAPI_CALL end_render_pass_2(VkCommandBuffer commands,
                                             const VkSubpassEndInfo* end) {
  log().append(EndPassRecord{number_of(commands)});
  device_of(commands).next.vkCmdEndRenderPass2(commands, end);
}

void add_attachment(AttachmentUse use, const VkRenderingAttachmentInfo* info,
                    BeginRenderingRecord& record) {
  if (info == nullptr || info->imageView == VK_NULL_HANDLE) return;
  RenderingAttachmentFields fields;
  fields.use = use;
  fields.view = number_of(info->imageView);
  fields.layout = static_cast<uint32_t>(info->imageLayout);
  fields.load_op = static_cast<uint32_t>(info->loadOp);
  fields.store_op = static_cast<uint32_t>(info->storeOp);
  record.attachments.push_back(fields);
  if (info->resolveMode == VK_RESOLVE_MODE_NONE || info->resolveImageView == VK_NULL_HANDLE) return;
  fields.use = AttachmentUse::kResolve;
  fields.view = number_of(info->resolveImageView);
  fields.layout = static_cast<uint32_t>(info->resolveImageLayout);
  fields.load_op = static_cast<uint32_t>(VK_ATTACHMENT_LOAD_OP_DONT_CARE);
  fields.store_op = static_cast<uint32_t>(VK_ATTACHMENT_STORE_OP_STORE);
  record.attachments.push_back(fields);
}

VKAPI_ATTR void VKAPI_CALL begin_rendering(VkCommandBuffer commands, const VkRenderingInfo* info) {
  BeginRenderingRecord record;
  record.commands = number_of(commands);
  record.flags = info->flags;
  for (uint32_t i = 0; i < info->colorAttachmentCount; ++i) {
    add_attachment(AttachmentUse::kColor, info->pColorAttachments + i, record);
  }
  add_attachment(AttachmentUse::kDepth, info->pDepthAttachment, record);
  add_attachment(AttachmentUse::kDepth, info->pStencilAttachment, record);
  log().append(record);
  device_of(commands).next.vkCmdBeginRendering(commands, info);
}

VKAPI_ATTR void VKAPI_CALL end_rendering(VkCommandBuffer commands) {
  log().append(EndPassRecord{number_of(commands)});
  device_of(commands).next.vkCmdEndRendering(commands);
}

}  // namespace

std::span<const Intercepted> pass_calls() {
  static const std::array kCalls = {
      Intercepted{"vkCmdBeginRenderPass", as_function(begin_render_pass)},
      Intercepted{"vkCmdBeginRenderPass2", as_function(begin_render_pass_2)},
      Intercepted{"vkCmdBeginRenderPass2KHR", as_function(begin_render_pass_2)},
      Intercepted{"vkCmdNextSubpass", as_function(next_subpass)},
      Intercepted{"vkCmdNextSubpass2", as_function(next_subpass_2)},
      Intercepted{"vkCmdNextSubpass2KHR", as_function(next_subpass_2)},
      Intercepted{"vkCmdEndRenderPass", as_function(end_render_pass)},
      Intercepted{"vkCmdEndRenderPass2", as_function(end_render_pass_2)},
      Intercepted{"vkCmdEndRenderPass2KHR", as_function(end_render_pass_2)},
      Intercepted{"vkCmdBeginRendering", as_function(begin_rendering)},
      Intercepted{"vkCmdBeginRenderingKHR", as_function(begin_rendering)},
      Intercepted{"vkCmdEndRendering", as_function(end_rendering)},
      Intercepted{"vkCmdEndRenderingKHR", as_function(end_rendering)},
  };
  return kCalls;
}

}  // namespace interlock
