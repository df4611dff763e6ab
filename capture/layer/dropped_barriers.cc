#include "capture/layer/dropped_barriers.h"

#include <cstdint>
#include <mutex>

#include "capture/layer/devices.h"
#include "capture/layer/run_options.h"
#include "capture/log/run_records.h"

namespace interlock {
namespace {

struct BarrierCount {
  std::mutex mutex;
  uint64_t count = 0;
};

BarrierCount& barrier_count() {
  static BarrierCount& count = *new BarrierCount;
  return count;
}

bool changes_owner(const auto& barrier) {
  return barrier.srcQueueFamilyIndex != barrier.dstQueueFamilyIndex;
}

bool changes_layout(const auto& barrier) {
  if constexpr (requires { barrier.oldLayout; }) return barrier.oldLayout != barrier.newLayout;
  return false;
}

// The same of what the log has.
bool does_more_than_order(const DependencyFields& fields) {
  return fields.object != DependencyObject::kMemory &&
         (fields.source_family != fields.destination_family ||
          fields.old_layout != fields.new_layout);
}

template <typename Barrier>
std::vector<Barrier> rest_of(std::span<const Barrier> barriers) {
  std::vector<Barrier> rest;
  for (const Barrier& barrier : barriers) {
    if (!changes_owner(barrier) && !changes_layout(barrier)) continue;
    Barrier& left = rest.emplace_back(barrier);
    left.srcAccessMask = left.dstAccessMask = 0;
    if constexpr (requires { left.srcStageMask; }) left.srcStageMask = left.dstStageMask = 0;
  }
  return rest;
}

}  // namespace

bool append_barrier(const BarrierRecord& record) {
  const std::optional<uint64_t> dropped = run_options().dropped_barrier;
  if (!dropped) {
    log().append(record);
    return false;
  }
  BarrierCount& barriers = barrier_count();
  const std::lock_guard lock(barriers.mutex);
  const uint64_t number = barriers.count++;
  if (number != *dropped) {
    log().append(record);
    return false;
  }
  log().append(DroppedBarrierRecord{record.commands, number, record.dependencies});
  BarrierRecord left{record.commands, {}};
  for (DependencyFields fields : record.dependencies) {
    if (!does_more_than_order(fields)) continue;
    fields.source_stages = fields.destination_stages = 0;
    fields.source_accesses = fields.destination_accesses = 0;
    left.dependencies.push_back(fields);
  }
  log().append(left);
  return true;
}

std::vector<VkBufferMemoryBarrier> left_of(std::span<const VkBufferMemoryBarrier> barriers) {
  return rest_of(barriers);
}

std::vector<VkImageMemoryBarrier> left_of(std::span<const VkImageMemoryBarrier> barriers) {
  return rest_of(barriers);
}

std::vector<VkBufferMemoryBarrier2> left_of(std::span<const VkBufferMemoryBarrier2> barriers) {
  return rest_of(barriers);
}

std::vector<VkImageMemoryBarrier2> left_of(std::span<const VkImageMemoryBarrier2> barriers) {
  return rest_of(barriers);
}

}  // namespace interlock
