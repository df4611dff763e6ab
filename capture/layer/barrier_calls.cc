// Barriers and events, of both generations. The stages of the older calls are those of all their
// barriers; their bits are those of the newer ones.

#include <volk.h>

#include <array>
#include <span>
#include <vector>

#include "capture/layer/devices.h"
#include "capture/layer/dropped_barriers.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/layer/pretended_device.h"
#include "capture/log/command_records.h"
#include "capture/log/object_records.h"

namespace interlock {
namespace {

// The barriers of one of the older calls.
struct OldBarriers {
  VkPipelineStageFlags source_stages;
  VkPipelineStageFlags destination_stages;
  std::span<const VkMemoryBarrier> memory;
  std::span<const VkBufferMemoryBarrier> buffers;
  std::span<const VkImageMemoryBarrier> images;
};

template <typename Barrier>
DependencyFields accesses_of(const Barrier& barrier) {
  DependencyFields fields;
  fields.source_accesses = barrier.srcAccessMask;
  fields.destination_accesses = barrier.dstAccessMask;
  return fields;
}

template <typename Barrier>
DependencyFields buffer_fields(const Barrier& barrier) {
  DependencyFields fields = accesses_of(barrier);
  fields.object = DependencyObject::kBuffer;
  fields.handle = number_of(barrier.buffer);
  fields.offset_bytes = barrier.offset;
  fields.size_bytes = barrier.size;
  fields.source_family = barrier.srcQueueFamilyIndex;
  fields.destination_family = barrier.dstQueueFamilyIndex;
  return fields;
}

template <typename Barrier>
DependencyFields image_fields(const Barrier& barrier) {
  DependencyFields fields = accesses_of(barrier);
  fields.object = DependencyObject::kImage;
  fields.handle = number_of(barrier.image);
  fields.old_layout = static_cast<uint32_t>(barrier.oldLayout);
  fields.new_layout = static_cast<uint32_t>(barrier.newLayout);
  fields.source_family = barrier.srcQueueFamilyIndex;
  fields.destination_family = barrier.dstQueueFamilyIndex;
  fields.range = fields_of(barrier.subresourceRange);
  return fields;
}

std::vector<DependencyFields> dependencies_from(const OldBarriers& barriers) {
  std::vector<DependencyFields> result;
  for (const VkMemoryBarrier& barrier : barriers.memory) result.push_back(accesses_of(barrier));
  for (const VkBufferMemoryBarrier& barrier : barriers.buffers) {
    result.push_back(buffer_fields(barrier));
  }
  for (const VkImageMemoryBarrier& barrier : barriers.images) {
    result.push_back(image_fields(barrier));
  }
  if (result.empty()) result.emplace_back();  // Of execution alone.
  for (DependencyFields& fields : result) {
    fields.source_stages = barriers.source_stages;
    fields.destination_stages = barriers.destination_stages;
  }
  return result;
}

template <typename Barrier>
void add_stages(const Barrier& barrier, DependencyFields& fields) {
  fields.source_stages = barrier.srcStageMask;
  fields.destination_stages = barrier.dstStageMask;
}

void add_dependencies(const VkDependencyInfo& info, std::vector<DependencyFields>& result) {
  for (const auto& barrier : std::span(info.pMemoryBarriers, info.memoryBarrierCount)) {
    add_stages(barrier, result.emplace_back(accesses_of(barrier)));
  }
  for (const auto& barrier : std::span(info.pBufferMemoryBarriers, info.bufferMemoryBarrierCount)) {
    add_stages(barrier, result.emplace_back(buffer_fields(barrier)));
  }
  for (const auto& barrier : std::span(info.pImageMemoryBarriers, info.imageMemoryBarrierCount)) {
    add_stages(barrier, result.emplace_back(image_fields(barrier)));
  }
}

// What the driver gets: the same, but for owners that it does not know.
class RealDependency {
 public:
  explicit RealDependency(const VkDependencyInfo& info) : info_(info) {
    if (!pretends_queues()) return;
    buffers_ = without_owners(std::span(info.pBufferMemoryBarriers, info.bufferMemoryBarrierCount));
    images_ = without_owners(std::span(info.pImageMemoryBarriers, info.imageMemoryBarrierCount));
    info_.pBufferMemoryBarriers = buffers_.data();
    info_.pImageMemoryBarriers = images_.data();
  }
  RealDependency(const RealDependency&) = delete;
  RealDependency& operator=(const RealDependency&) = delete;
  // Whatever moves keeps the bytes where they are.
  RealDependency(RealDependency&&) = default;

  const VkDependencyInfo& info() const { return info_; }

 private:
  VkDependencyInfo info_;
  std::vector<VkBufferMemoryBarrier2> buffers_;
  std::vector<VkImageMemoryBarrier2> images_;
};

// The same of the older calls: lets both point to what the driver gets, while it lives.
class RealBarriers {
 public:
  RealBarriers(uint32_t buffer_count, const VkBufferMemoryBarrier*& buffers, uint32_t image_count,
               const VkImageMemoryBarrier*& images) {
    if (!pretends_queues()) return;
    buffers_ = without_owners(std::span(buffers, buffer_count));
    images_ = without_owners(std::span(images, image_count));
    buffers = buffers_.data();
    images = images_.data();
  }
  RealBarriers(const RealBarriers&) = delete;
  RealBarriers& operator=(const RealBarriers&) = delete;

 private:
  std::vector<VkBufferMemoryBarrier> buffers_;
  std::vector<VkImageMemoryBarrier> images_;
};

VKAPI_ATTR void VKAPI_CALL pipeline_barrier(
    VkCommandBuffer commands, VkPipelineStageFlags source_stages,
    VkPipelineStageFlags destination_stages, VkDependencyFlags flags, uint32_t memory_count,
    const VkMemoryBarrier* memory, uint32_t buffer_count, const VkBufferMemoryBarrier* buffers,
    uint32_t image_count, const VkImageMemoryBarrier* images) {
  const BarrierRecord record{
      number_of(commands),
      dependencies_from({source_stages, destination_stages, std::span(memory, memory_count),
                         std::span(buffers, buffer_count), std::span(images, image_count)})};
  const auto& next = device_of(commands).next.vkCmdPipelineBarrier;
  const RealBarriers real(buffer_count, buffers, image_count, images);
  if (!append_barrier(record)) {
    next(commands, source_stages, destination_stages, flags, memory_count, memory, buffer_count,
         buffers, image_count, images);
    return;
  }
  const auto left_buffers = left_of(std::span(buffers, buffer_count));
  const auto left_images = left_of(std::span(images, image_count));
  if (left_buffers.empty() && left_images.empty()) return;
  // Both are empty scopes.
  next(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, flags, 0,
       nullptr, static_cast<uint32_t>(left_buffers.size()), left_buffers.data(),
       static_cast<uint32_t>(left_images.size()), left_images.data());
}

VKAPI_ATTR void VKAPI_CALL pipeline_barrier_2(VkCommandBuffer commands,
                                              const VkDependencyInfo* info) {
  BarrierRecord record{number_of(commands), {}};
  add_dependencies(*info, record.dependencies);
  const auto& next = device_of(commands).next.vkCmdPipelineBarrier2;
  const RealDependency real(*info);
  info = &real.info();
  if (!append_barrier(record)) return next(commands, info);
  const auto left_buffers =
      left_of(std::span(info->pBufferMemoryBarriers, info->bufferMemoryBarrierCount));
  const auto left_images =
      left_of(std::span(info->pImageMemoryBarriers, info->imageMemoryBarrierCount));
  if (left_buffers.empty() && left_images.empty()) return;
  VkDependencyInfo left = *info;
  left.memoryBarrierCount = 0;
  left.bufferMemoryBarrierCount = static_cast<uint32_t>(left_buffers.size());
  left.pBufferMemoryBarriers = left_buffers.data();
  left.imageMemoryBarrierCount = static_cast<uint32_t>(left_images.size());
  left.pImageMemoryBarriers = left_images.data();
  next(commands, &left);
}

VKAPI_ATTR void VKAPI_CALL set_event(VkCommandBuffer commands, VkEvent event,
                                     VkPipelineStageFlags stages) {
  DependencyFields fields;
  fields.source_stages = stages;
  log().append(SetEventRecord{number_of(commands), number_of(event), 0, {fields}});
  device_of(commands).next.vkCmdSetEvent(commands, event, stages);
}

VKAPI_ATTR void VKAPI_CALL set_event_2(VkCommandBuffer commands, VkEvent event,
                                       const VkDependencyInfo* info) {
  SetEventRecord record{number_of(commands), number_of(event), 1, {}};
  add_dependencies(*info, record.dependencies);
  log().append(record);
  const RealDependency real(*info);
  device_of(commands).next.vkCmdSetEvent2(commands, event, &real.info());
}

VKAPI_ATTR void VKAPI_CALL reset_event(VkCommandBuffer commands, VkEvent event,
                                       VkPipelineStageFlags stages) {
  log().append(ResetEventRecord{number_of(commands), number_of(event)});
  device_of(commands).next.vkCmdResetEvent(commands, event, stages);
}

VKAPI_ATTR void VKAPI_CALL reset_event_2(VkCommandBuffer commands, VkEvent event,
                                         VkPipelineStageFlags2 stages) {
  log().append(ResetEventRecord{number_of(commands), number_of(event)});
  device_of(commands).next.vkCmdResetEvent2(commands, event, stages);
}

VKAPI_ATTR void VKAPI_CALL wait_events(VkCommandBuffer commands, uint32_t count,
                                       const VkEvent* events, VkPipelineStageFlags source_stages,
                                       VkPipelineStageFlags destination_stages,
                                       uint32_t memory_count, const VkMemoryBarrier* memory,
                                       uint32_t buffer_count, const VkBufferMemoryBarrier* buffers,
                                       uint32_t image_count, const VkImageMemoryBarrier* images) {
  log().append(WaitEventsRecord{
      number_of(commands), numbers_of(events, count),
      dependencies_from({source_stages, destination_stages, std::span(memory, memory_count),
                         std::span(buffers, buffer_count), std::span(images, image_count)})});
  const RealBarriers real(buffer_count, buffers, image_count, images);
  device_of(commands).next.vkCmdWaitEvents(commands, count, events, source_stages,
                                           destination_stages, memory_count, memory, buffer_count,
                                           buffers, image_count, images);
}

VKAPI_ATTR void VKAPI_CALL wait_events_2(VkCommandBuffer commands, uint32_t count,
                                         const VkEvent* events, const VkDependencyInfo* infos) {
  WaitEventsRecord record{number_of(commands), numbers_of(events, count), {}};
  for (uint32_t i = 0; i < count; ++i) add_dependencies(infos[i], record.dependencies);
  log().append(record);
  const auto& next = device_of(commands).next.vkCmdWaitEvents2;
  if (!pretends_queues()) return next(commands, count, events, infos);
  std::vector<RealDependency> kept;
  std::vector<VkDependencyInfo> real;
  kept.reserve(count);
  for (uint32_t i = 0; i < count; ++i) real.push_back(kept.emplace_back(infos[i]).info());
  next(commands, count, events, real.data());
}

}  // namespace

std::span<const Intercepted> barrier_calls() {
  static const std::array kCalls = {
      Intercepted{"vkCmdPipelineBarrier", as_function(pipeline_barrier)},
      Intercepted{"vkCmdPipelineBarrier2", as_function(pipeline_barrier_2)},
      Intercepted{"vkCmdPipelineBarrier2KHR", as_function(pipeline_barrier_2)},
      Intercepted{"vkCmdSetEvent", as_function(set_event)},
      Intercepted{"vkCmdSetEvent2", as_function(set_event_2)},
      Intercepted{"vkCmdSetEvent2KHR", as_function(set_event_2)},
      Intercepted{"vkCmdResetEvent", as_function(reset_event)},
      Intercepted{"vkCmdResetEvent2", as_function(reset_event_2)},
      Intercepted{"vkCmdResetEvent2KHR", as_function(reset_event_2)},
      Intercepted{"vkCmdWaitEvents", as_function(wait_events)},
      Intercepted{"vkCmdWaitEvents2", as_function(wait_events_2)},
      Intercepted{"vkCmdWaitEvents2KHR", as_function(wait_events_2)},
  };
  return kCalls;
}

}  // namespace interlock
