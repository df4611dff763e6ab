// The part of CommandLists about graphics: passes, and what is drawn in them.

#include <vulkan/vulkan_core.h>

#include <utility>

#include "capture/convert/command_lists.h"

namespace interlock {

void CommandLists::apply(const BeginPassRecord& record) {
  Recording& now = recording(record.commands);
  const auto framebuffer = objects_.framebuffer(record.framebuffer);
  BeginPassCommand command;
  command.render_pass = objects_.render_pass(record.render_pass);
  command.views = objects_.views(record.views);
  if (record.views.empty() && framebuffer != nullptr) command.views = framebuffer->views;
  command.label = take_label(now);
  now.list->commands.emplace_back(std::move(command));
}

void CommandLists::apply(const BeginRenderingRecord& record) {
  Recording& now = recording(record.commands);
  const auto pass = std::make_shared<CapturedRenderPass>();
  BeginPassCommand command;
  pass->info.subpasses.emplace_back();
  for (const RenderingAttachmentFields& fields : record.attachments) {
    const auto attachment = static_cast<uint32_t>(pass->info.attachments.size());
    pass->info.attachments.push_back(
        {fields.load_op, fields.store_op, fields.layout, fields.layout});
    pass->info.subpasses.front().uses.push_back({fields.use, attachment, fields.layout});
    command.views.push_back(objects_.view(fields.view));
  }
  pass->last_uses.resize(record.attachments.size());
  constexpr uint32_t kParts = VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT;
  if ((record.flags & kParts) != 0) {
    now.list->commands.emplace_back(UnknownCommand{"a pass of graphics in several parts"});
  }
  command.render_pass = pass;
  command.label = take_label(now);
  now.list->commands.emplace_back(std::move(command));
}

void CommandLists::apply(const NextSubpassRecord& record) {
  recording(record.commands).list->commands.emplace_back(NextSubpassCommand{});
}

void CommandLists::apply(const EndPassRecord& record) {
  recording(record.commands).list->commands.emplace_back(EndPassCommand{});
}

void CommandLists::apply(const BindVertexBuffersRecord& record) {
  BindVertexBuffersCommand command{record.first_binding, {}};
  for (const VertexBufferFields& fields : record.buffers) {
    command.buffers.push_back(
        {objects_.buffer(fields.buffer), fields.offset_bytes, fields.size_bytes});
  }
  recording(record.commands).list->commands.emplace_back(std::move(command));
}

void CommandLists::apply(const BindIndexBufferRecord& record) {
  recording(record.commands)
      .list->commands.emplace_back(BindIndexBufferCommand{
          {objects_.buffer(record.buffer), record.offset_bytes, VK_WHOLE_SIZE},
          record.index_bytes});
}

void CommandLists::apply(const DrawRecord& record) {
  Recording& now = recording(record.commands);
  take_label(now);  // The pass is told as one.
  DrawCommand command{record.is_indexed != 0, record.first_index, record.index_count, {}};
  for (const DrawArgumentsFields& fields : record.arguments) {
    command.arguments.push_back(
        {objects_.buffer(fields.buffer), fields.offset_bytes, fields.size_bytes});
  }
  now.list->commands.emplace_back(std::move(command));
}

}  // namespace interlock
