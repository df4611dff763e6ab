// The barrier that is left out, where one is: a test of those who judge.
#pragma once

#include <volk.h>

#include <span>
#include <vector>

#include "capture/log/command_records.h"

namespace interlock {

// Appends the record. True: this is the barrier to leave out, of which the log now has what is
// left: changes of layout and transfers of ownership, which nothing orders any more; without them
// the application would mean other bytes. Calls of all threads are counted from 0, in the order of
// the log.
bool append_barrier(const BarrierRecord& record);

// What is left of such a barrier: those that do more than order. Their scopes are the caller's.
std::vector<VkBufferMemoryBarrier> left_of(std::span<const VkBufferMemoryBarrier> barriers);
std::vector<VkImageMemoryBarrier> left_of(std::span<const VkImageMemoryBarrier> barriers);

// The same, with empty scopes.
std::vector<VkBufferMemoryBarrier2> left_of(std::span<const VkBufferMemoryBarrier2> barriers);
std::vector<VkImageMemoryBarrier2> left_of(std::span<const VkImageMemoryBarrier2> barriers);

}  // namespace interlock
