#include "capture/convert/command_lists.h"

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <utility>

namespace interlock {
namespace {

// Each command below a label has it: no more of it is kept than names have room for.
constexpr size_t kLabelBytesMax = 128;

bool is_followed(uint32_t bind_point) {
  return bind_point == VK_PIPELINE_BIND_POINT_COMPUTE ||
         bind_point == VK_PIPELINE_BIND_POINT_GRAPHICS;
}

bool is_of_graphics(uint32_t bind_point) { return bind_point == VK_PIPELINE_BIND_POINT_GRAPHICS; }

}  // namespace

bool is_without_place(const Command& command) {
  return std::holds_alternative<BindPipelineCommand>(command) ||
         std::holds_alternative<BindSetsCommand>(command) ||
         std::holds_alternative<PushSetCommand>(command) ||
         std::holds_alternative<BindVertexBuffersCommand>(command) ||
         std::holds_alternative<BindIndexBufferCommand>(command) ||
         std::holds_alternative<PushConstantsCommand>(command) ||
         std::holds_alternative<ResetEventCommand>(command);
}

bool is_dynamic(uint32_t type) {
  return type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC ||
         type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
}

uint64_t dynamic_count(const CapturedSetLayout& layout, uint64_t binding_end) {
  uint64_t count = 0;
  for (const auto& [number, binding] : layout.bindings) {
    if (number < binding_end && is_dynamic(binding.type)) count += binding.count;
  }
  return count;
}

void CommandLists::reset(Recording& recording) {
  // Whoever executes the old list keeps it.
  const uint64_t pool = recording.pool;
  recording = Recording();
  recording.pool = pool;
}

std::string CommandLists::take_label(Recording& recording) {
  std::string label = std::exchange(recording.next_label, {});
  return label.empty() && !recording.labels.empty() ? recording.labels.back() : label;
}

void CommandLists::apply(const AllocateCommandsRecord& record) {
  for (const uint64_t commands : record.commands) {
    recordings_[commands] = Recording();
    recordings_[commands].pool = record.pool;
    commands_of_pool_[record.pool].insert(commands);
  }
}

void CommandLists::apply(const BeginCommandsRecord& record) { reset(recording(record.commands)); }

void CommandLists::apply(const ResetCommandsRecord& record) { reset(recording(record.commands)); }

void CommandLists::apply(const ResetCommandPoolRecord& record) {
  for (const uint64_t commands : commands_of_pool_[record.pool]) reset(recording(commands));
}

void CommandLists::apply(const FreeCommandsRecord& record) {
  for (const uint64_t commands : record.commands) {
    const auto found = recordings_.find(commands);
    if (found == recordings_.end()) continue;
    commands_of_pool_[found->second.pool].erase(commands);
    recordings_.erase(found);
  }
}

void CommandLists::destroy_pool(uint64_t pool) {
  for (const uint64_t commands : commands_of_pool_[pool]) recordings_.erase(commands);
  commands_of_pool_.erase(pool);
}

void CommandLists::apply(const BindPipelineRecord& record) {
  if (!is_followed(record.bind_point)) return;
  recording(record.commands)
      .list->commands.emplace_back(BindPipelineCommand{objects_.pipeline(record.pipeline),
                                                       is_of_graphics(record.bind_point)});
}

void CommandLists::apply(const BindSetsRecord& record) {
  if (!is_followed(record.bind_point)) return;
  const auto layout = objects_.pipeline_layout(record.layout);
  BindSetsCommand command;
  command.is_graphics = is_of_graphics(record.bind_point);
  size_t next_offset = 0;
  for (size_t i = 0; i < record.sets.size(); ++i) {
    const uint64_t number = uint64_t{record.first_set} + i;
    BoundSet& bound = command.sets[number];
    bound.set = objects_.set(record.sets[i]);
    if (layout == nullptr || number >= layout->sets.size() || layout->sets[number] == nullptr) {
      continue;
    }
    const uint64_t count = dynamic_count(*layout->sets[number]);
    for (uint64_t k = 0; k < count && next_offset < record.dynamic_offsets.size(); ++k) {
      bound.dynamic_offsets.push_back(record.dynamic_offsets[next_offset++]);
    }
  }
  recording(record.commands).list->commands.emplace_back(std::move(command));
}

void CommandLists::apply(const PushSetRecord& record) {
  if (!is_followed(record.bind_point)) return;
  const auto layout = objects_.pipeline_layout(record.layout);
  const auto set = std::make_shared<CapturedSet>();
  if (layout != nullptr && record.set < layout->sets.size()) set->layout = layout->sets[record.set];
  for (const SetWriteFields& fields : record.writes) objects_.write(fields, *set);
  recording(record.commands)
      .list->commands.emplace_back(
          PushSetCommand{is_of_graphics(record.bind_point), record.set, set});
}

void CommandLists::apply(const PushConstantsRecord& record) {
  recording(record.commands)
      .list->commands.emplace_back(PushConstantsCommand{
          (record.stages & VK_SHADER_STAGE_COMPUTE_BIT) != 0,
          (record.stages & VK_SHADER_STAGE_ALL_GRAPHICS) != 0, record.offset_bytes, record.bytes});
}

void CommandLists::apply(const DispatchRecord& record) {
  Recording& now = recording(record.commands);
  std::string label = take_label(now);
  if (record.groups_x == 0 || record.groups_y == 0 || record.groups_z == 0) return;
  now.list->commands.emplace_back(
      DispatchCommand{false, nullptr, 0, std::move(label), std::exchange(now.next_slot, 0)});
}

void CommandLists::apply(const DispatchIndirectRecord& record) {
  Recording& now = recording(record.commands);
  now.list->commands.emplace_back(DispatchCommand{true, objects_.buffer(record.buffer),
                                                  record.offset_bytes, take_label(now),
                                                  std::exchange(now.next_slot, 0)});
}

TransferEnd CommandLists::end_of(const TransferEndFields& fields) const {
  TransferEnd end;
  end.fields = fields;
  if (fields.is_image != 0) {
    end.image = objects_.image(fields.handle);
  } else {
    end.buffer = objects_.buffer(fields.handle);
  }
  return end;
}

void CommandLists::apply(const TransferRecord& record) {
  Recording& now = recording(record.commands);
  take_label(now);  // One that was inserted is for this command, which has no use for it.
  TransferCommand command{record.use, {}};
  for (const TransferRegionFields& fields : record.regions) {
    TransferRegion region;
    if (!fields.from.empty()) region.from = end_of(fields.from.front());
    if (!fields.to.empty()) region.to = end_of(fields.to.front());
    command.regions.push_back(std::move(region));
  }
  now.list->commands.emplace_back(std::move(command));
}

std::vector<CapturedDependency> CommandLists::dependencies_of(
    const std::vector<DependencyFields>& fields) const {
  std::vector<CapturedDependency> dependencies;
  for (const DependencyFields& each : fields) {
    CapturedDependency dependency;
    dependency.fields = each;
    if (each.object == DependencyObject::kBuffer) dependency.buffer = objects_.buffer(each.handle);
    if (each.object == DependencyObject::kImage) dependency.image = objects_.image(each.handle);
    dependencies.push_back(std::move(dependency));
  }
  return dependencies;
}

void CommandLists::apply(const BarrierRecord& record) {
  recording(record.commands)
      .list->commands.emplace_back(
          BarrierCommand{barrier_count_++, dependencies_of(record.dependencies)});
}

void CommandLists::apply(const SetEventRecord& record) {
  recording(record.commands)
      .list->commands.emplace_back(SetEventCommand{record.event, record.has_dependencies != 0,
                                                   dependencies_of(record.dependencies)});
}

void CommandLists::apply(const ResetEventRecord& record) {
  recording(record.commands).list->commands.emplace_back(ResetEventCommand{record.event});
}

void CommandLists::apply(const WaitEventsRecord& record) {
  recording(record.commands)
      .list->commands.emplace_back(
          WaitEventsCommand{record.events, dependencies_of(record.dependencies)});
}

void CommandLists::apply(const ExecuteCommandsRecord& record) {
  Recording& now = recording(record.commands);
  for (const uint64_t secondary : record.secondaries) {
    const auto found = recordings_.find(secondary);
    if (found == recordings_.end()) {
      now.list->commands.emplace_back(
          UnknownCommand{"a secondary command buffer that was recorded before the log began"});
      continue;
    }
    const auto list = found->second.list;
    // One level, as without VK_EXT_nested_command_buffer: so no list contains itself, and none is
    // deeper than the stack.
    if (list == now.list || list->executes_others || now.list->is_executed) {
      now.list->commands.emplace_back(UnknownCommand{"a secondary command buffer within another"});
      continue;
    }
    list->is_executed = true;
    now.list->executes_others = true;
    now.list->commands.emplace_back(ExecuteCommand{list});
  }
}

void CommandLists::apply(const LabelRecord& record) {
  Recording& now = recording(record.commands);
  std::string name = record.name.substr(0, kLabelBytesMax);
  switch (record.use) {
    case LabelUse::kBegin:
      now.labels.push_back(std::move(name));
      return;
    case LabelUse::kInsert:
      now.next_label = std::move(name);
      return;
    case LabelUse::kEnd:
      if (!now.labels.empty()) now.labels.pop_back();
      return;
  }
}

void CommandLists::apply(const NotUnderstoodCommandRecord& record) {
  recording(record.commands).list->commands.emplace_back(UnknownCommand{record.name});
}

RecordedCommands* CommandLists::find_open(uint64_t commands) {
  const auto found = recordings_.find(commands);
  return found == recordings_.end() ? nullptr : found->second.list.get();
}

std::shared_ptr<const RecordedCommands> CommandLists::find(uint64_t commands) const {
  const auto found = recordings_.find(commands);
  return found == recordings_.end() ? nullptr : found->second.list;
}

}  // namespace interlock
