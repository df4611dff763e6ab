// Lowers whole programs, one way for each way to run them; schedules in schedule_lowering.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/vulkan/barrier_lowering.h"
#include "backends/vulkan/dispatch_lowering.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// What of the program runs elsewhere than where its scopes say. Cost: linear.
RunsElsewhere runs_elsewhere(const VulkanLowering& lowering);

// Witness mode: the steps one after another, with a full barrier after each.
// Errors: as lower_piece(); late writes exceed `limit_bytes`.
Result<Success> lower_schedule(const VulkanLowering& lowering, const Schedule& schedule,
                               uint64_t limit_bytes);

// Overlap mode on one queue: the statements of the program, and no other sync, except that a
// dispatch that finds poison (poison.h) stands between full barriers.
// Errors: as lower_dispatch().
Result<Success> lower_statements(const VulkanLowering& lowering);

// What stands between two barriers: the commands of each dispatch.
using DispatchGroup = std::vector<CommandSpan>;

// Overlap mode on several queues: dispatches in groups that barriers part; the list has no barrier
// of the program. One that finds poison is a group of its own. Errors: as lower_dispatch().
Result<std::vector<DispatchGroup>> lower_groups(const VulkanLowering& lowering);

}  // namespace interlock
