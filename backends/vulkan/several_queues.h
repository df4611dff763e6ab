// Overlap mode on several queues: dispatches that no barrier parts go to different queues at the
// same time, so that a missing barrier can really show. The queues are those of the device; where
// there is one only, those of two devices that import the same host memory.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "backends/vulkan/command_list.h"
#include "backends/vulkan/program_lowering.h"
#include "backends/vulkan/session.h"

namespace interlock {

// Host memory that two devices import as one arena.
class SharedArena {
 public:
  // Makes room. Errors: no memory left; a device does not import it.
  Result<Success> reserve(VulkanDevice& first, VulkanDevice& second, uint64_t size_bytes);

  uint8_t* host_bytes() const { return host_.get(); }
  VkBuffer first() const { return first_->handle(); }
  VkBuffer second() const { return second_->handle(); }

 private:
  struct Free {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };

  uint64_t size_bytes_ = 0;
  std::unique_ptr<uint8_t, Free> host_;
  std::unique_ptr<VulkanBuffer> first_;
  std::unique_ptr<VulkanBuffer> second_;
};

// A queue, and the arena as its device sees it.
struct QueueLane {
  VulkanSession* session = nullptr;
  VulkanQueue* queue = nullptr;
  VkBuffer arena = VK_NULL_HANDLE;
};

// What went wrong on the driver's side, and while doing what.
struct DriverFailure {
  VkResult result = VK_SUCCESS;
  std::string action;
};

// Runs the groups one after another, each spread over the lanes. `trial` varies which dispatch goes
// where, and which lane starts first: the same numbers, the same choices.
// Errors: a shader does not compile. `failure` is set where a call of the driver failed, and then
// something may still run.
Result<Success> run_groups(const std::vector<QueueLane>& lanes, const CommandList& list,
                           const std::vector<DispatchGroup>& groups, uint64_t trial,
                           double timeout_seconds, DriverFailure& failure);

}  // namespace interlock
