// SubmissionRun: executes a SubmissionPlan on the queues of a device.
#pragma once

#include <volk.h>

#include <functional>
#include <memory>
#include <vector>

#include "backends/vulkan/session.h"
#include "backends/vulkan/several_queues.h"
#include "backends/vulkan/submission_plan.h"

namespace interlock {

class SubmissionRun {
 public:
  // Makes the semaphores, events and command buffers of the plan. Null where a call of the driver
  // failed; then `failure` is set.
  static std::unique_ptr<SubmissionRun> create(VulkanSession& session, VkBuffer arena,
                                               const SubmissionPlan& plan, DriverFailure& failure);
  ~SubmissionRun();  // Requires: !is_pending(). Else keep it: see abandon().
  SubmissionRun(const SubmissionRun&) = delete;
  SubmissionRun& operator=(const SubmissionRun&) = delete;

  // Carries the plan out, and calls `host` for what the host reads and writes, when it is its turn.
  // Returns when all is over. Requires: called once; list and plan are those that belong together.
  // Errors: a shader does not compile. `failure` is set where a call of the driver failed.
  Result<Success> execute(const CommandList& list, const SubmissionPlan& plan,
                          const std::function<void(DispatchId)>& host, double timeout_seconds,
                          DriverFailure& failure);

  // Whether what was submitted may still run.
  bool is_pending() const { return is_pending_; }

 private:
  SubmissionRun(VulkanSession& session, VkBuffer arena) : session_(session), arena_(arena) {}

  VkResult make(const SubmissionPlan& plan);
  VkResult submit(const QueueSubmission& submission, size_t first_buffer);
  VkResult act(const HostAction& action, double timeout_seconds);
  std::vector<VkSemaphoreSubmitInfo> infos_of(const std::vector<TimelinePoint>& points) const;

  VulkanSession& session_;
  VkBuffer arena_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<VkCommandBuffer> buffers_;
  std::vector<VkSemaphore> semaphores_;
  std::vector<VkEvent> events_;
  bool is_pending_ = false;
};

}  // namespace interlock
