#include "backends/vulkan/several_queues.h"

#include <numeric>

#include "backends/vulkan/command_recorder.h"
#include "encoder/program/hash.h"

namespace interlock {
namespace {

// Which lane has each dispatch of the group. Every second trial deals them out in turn, so that
// neighbours never share a lane; the others choose at random.
std::vector<size_t> lanes_of_group(size_t dispatch_count, size_t lane_count, uint64_t seed,
                                   uint64_t trial) {
  std::vector<size_t> lanes(dispatch_count);
  for (size_t i = 0; i < dispatch_count; ++i) {
    const uint64_t random = splitmix64(seed + i) >> 32;
    lanes[i] = trial % 2 == 0 ? (i + seed) % lane_count : random % lane_count;
  }
  return lanes;
}

VkResult begin_all(const std::vector<QueueLane>& lanes) {
  for (const QueueLane& lane : lanes) {
    const VkResult begun = lane.queue->begin();
    if (begun != VK_SUCCESS) return begun;
    record_full_barrier(lane.session->device->table(), lane.queue->commands());
  }
  return VK_SUCCESS;
}

// Starts the lanes as close together as can be, the first one by turns.
VkResult submit_all(const std::vector<QueueLane>& lanes, uint64_t seed) {
  for (size_t i = 0; i < lanes.size(); ++i) {
    const VkResult submitted = lanes[(i + (seed >> 8)) % lanes.size()].queue->submit();
    if (submitted != VK_SUCCESS) return submitted;
  }
  return VK_SUCCESS;
}

}  // namespace

Result<Success> SharedArena::reserve(VulkanDevice& first, VulkanDevice& second,
                                     uint64_t size_bytes) {
  if (size_bytes <= size_bytes_) return Success{};
  const uint64_t alignment =
      std::lcm(first.import_alignment_bytes(), second.import_alignment_bytes());
  uint64_t rounded = alignment;
  while (rounded < size_bytes) rounded *= 2;
  first_.reset();
  second_.reset();
  size_bytes_ = 0;
  host_.reset(static_cast<uint8_t*>(std::aligned_alloc(alignment, rounded)));
  if (host_ == nullptr) return Error{"There is not enough host memory for the arena."};
  auto first_buffer = VulkanBuffer::import(first, host_.get(), rounded);
  if (!first_buffer) return first_buffer.error();
  auto second_buffer = VulkanBuffer::import(second, host_.get(), rounded);
  if (!second_buffer) return second_buffer.error();
  first_ = std::move(*first_buffer);
  second_ = std::move(*second_buffer);
  size_bytes_ = rounded;
  return Success{};
}

Result<Success> run_groups(const std::vector<QueueLane>& lanes, const CommandList& list,
                           const std::vector<DispatchGroup>& groups, uint64_t trial,
                           double timeout_seconds, DriverFailure& failure) {
  for (size_t g = 0; g < groups.size(); ++g) {
    const DispatchGroup& group = groups[g];
    const uint64_t seed = splitmix64(trial * groups.size() + g);
    const std::vector<size_t> lane_of = lanes_of_group(group.size(), lanes.size(), seed, trial);
    failure = {begin_all(lanes), "recording commands"};
    if (failure.result != VK_SUCCESS) return Success{};
    for (size_t l = 0; l < lanes.size(); ++l) {
      const QueueLane& lane = lanes[l];
      CommandRecorder recorder(*lane.session->device, *lane.session->pipelines,
                               lane.session->instance->log(), lane.arena, lane.queue->commands());
      for (size_t i = 0; i < group.size(); ++i) {
        if (lane_of[i] != l) continue;
        auto recorded = recorder.record(list, group[i].begin, group[i].end);
        if (!recorded) return recorded;
      }
      record_full_barrier(lane.session->device->table(), lane.queue->commands());
    }
    failure = {submit_all(lanes, seed), "submitting commands"};
    for (const QueueLane& lane : lanes) {
      if (failure.result != VK_SUCCESS) return Success{};
      failure = {lane.queue->wait(timeout_seconds), "waiting for its queues"};
    }
    if (failure.result != VK_SUCCESS) return Success{};
  }
  return Success{};
}

}  // namespace interlock
