#include "backends/vulkan/command_recorder.h"

#include <array>
#include <variant>

#include "encoder/program/check.h"

namespace interlock {

Result<Success> CommandRecorder::record(const CommandList& list, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    const DeviceCommand& command = list.commands[i];
    log_.set_statement(command.statement);
    auto recorded = std::visit([&](const auto& work) { return record(list, work); }, command.work);
    if (!recorded) return recorded;
  }
  log_.set_statement(ValidationLog::kNoStatement);
  return Success{};
}

Result<Success> CommandRecorder::record(const CommandList&, const BufferCopy& copy) {
  const VkBufferCopy region{copy.source_bytes, copy.destination_bytes, copy.size_bytes};
  table_.vkCmdCopyBuffer(commands_, arena_, arena_, 1, &region);
  return Success{};
}

Result<Success> CommandRecorder::record(const CommandList&, const BufferFill& fill) {
  table_.vkCmdFillBuffer(commands_, arena_, fill.range.offset_bytes, fill.range.size_bytes,
                         fill.word);
  return Success{};
}

Result<Success> CommandRecorder::record(const CommandList& list, const ShaderLaunch& launch) {
  auto found = pipelines_.get(launch.shader);
  if (!found) return found.error();
  const VulkanPipeline& pipeline = **found;
  if (bound_ != &pipeline) {
    table_.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle);
    bound_ = &pipeline;
  }
  INTERLOCK_CHECK(launch.binding_count == pipeline.binding_types.size() &&
                  launch.binding_count <= kBindingCountMax);
  std::array<VkDescriptorBufferInfo, kBindingCountMax> buffers;
  std::array<VkWriteDescriptorSet, kBindingCountMax> writes;
  for (uint32_t i = 0; i < launch.binding_count; ++i) {
    const DeviceRange& range = list.bindings[launch.first_binding + i];
    buffers[i] = {arena_, range.offset_bytes, range.size_bytes};
    writes[i] = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    writes[i].dstBinding = i;
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = pipeline.binding_types[i];
    writes[i].pBufferInfo = &buffers[i];
  }
  table_.vkCmdPushDescriptorSetKHR(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0,
                                   launch.binding_count, writes.data());
  table_.vkCmdPushConstants(commands_, pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                            launch.push_word_count * sizeof(uint32_t),
                            &list.push_words[launch.first_push_word]);
  table_.vkCmdDispatch(commands_, launch.group_count_x, launch.group_count_y, 1);
  return Success{};
}

Result<Success> CommandRecorder::record(const CommandList& list, const DeviceBarrier& barrier) {
  const VkDependencyInfo info = dependency_of(list, barrier);
  table_.vkCmdPipelineBarrier2(commands_, &info);
  return Success{};
}

Result<Success> CommandRecorder::record(const CommandList& list, const DeviceEvent& event) {
  INTERLOCK_CHECK(event.event < events_.size());
  const VkDependencyInfo info = dependency_of(list, event.barrier);
  if (event.is_wait) {
    table_.vkCmdWaitEvents2(commands_, 1, &events_[event.event], &info);
  } else {
    table_.vkCmdSetEvent2(commands_, events_[event.event], &info);
  }
  return Success{};
}

VkDependencyInfo CommandRecorder::dependency_of(const CommandList& list,
                                                const DeviceBarrier& barrier) {
  memory_barriers_.clear();
  buffer_barriers_.clear();
  for (uint32_t i = 0; i < barrier.dependency_count; ++i) {
    const DeviceDependency& part = list.dependencies[barrier.first_dependency + i];
    if (part.range_count == 0) {
      memory_barriers_.push_back({VK_STRUCTURE_TYPE_MEMORY_BARRIER_2, nullptr, part.source_stages,
                                  part.source_accesses, part.destination_stages,
                                  part.destination_accesses});
    }
    for (uint32_t k = 0; k < part.range_count; ++k) {
      const DeviceRange& range = list.barrier_ranges[part.first_range + k];
      buffer_barriers_.push_back({VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2, nullptr,
                                  part.source_stages, part.source_accesses, part.destination_stages,
                                  part.destination_accesses, VK_QUEUE_FAMILY_IGNORED,
                                  VK_QUEUE_FAMILY_IGNORED, arena_, range.offset_bytes,
                                  range.size_bytes});
    }
  }
  VkDependencyInfo info{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  info.memoryBarrierCount = static_cast<uint32_t>(memory_barriers_.size());
  info.pMemoryBarriers = memory_barriers_.data();
  info.bufferMemoryBarrierCount = static_cast<uint32_t>(buffer_barriers_.size());
  info.pBufferMemoryBarriers = buffer_barriers_.data();
  return info;
}

}  // namespace interlock
