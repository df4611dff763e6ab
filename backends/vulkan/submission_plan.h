// SubmissionPlan: a program with several queues, and with the host, as submissions to the queues of
// a device and what the host does between them. Made without any device; submission_run.h executes
// it.
//
//   semaphores     a timeline each; the signals of one count 1, 2, 3, …, and a wait is for the
//   count
//                  of its own signal. Binary ones, too.
//   signal, wait   of a submission, with their stages. A signal ends a submission, and a wait
//   begins
//                  one.
//   set, await     vkCmdSetEvent2, vkCmdWaitEvents2; an event of its own for each set.
//   split          a command buffer ends.
//   serial         a full barrier before each dispatch.
//   graph          a submission for each operation, dealt out over the queues of the device; a
//                  semaphore for each of them, and a wait for each edge.
//   legacy-default waits for all that blocking queues have, before each of its statements, and they
//                  likewise.
//   host waits     vkWaitSemaphores. For `host idle` a submission signals that its queue is as far.
//   host signals   vkSignalSemaphore.
//
// More than the program says: queues of the program that share one of the device share the commands
// that a barrier or a signal covers; an edge that is programmatic is full.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "backends/vulkan/dispatch_lowering.h"

namespace interlock {

// What a timeline semaphore comes to, and the stages (VkPipelineStageFlags2) that it concerns.
struct TimelinePoint {
  uint32_t semaphore = 0;
  uint64_t value = 0;
  uint64_t stages = 0;

  bool operator==(const TimelinePoint&) const = default;
};

struct QueueSubmission {
  uint32_t device_queue = 0;
  std::vector<TimelinePoint> waits;
  std::vector<std::vector<CommandSpan>> buffers;  // Command buffers: commands of the list.
  std::vector<TimelinePoint> signals;
};

struct HostAction {
  enum class Kind : uint8_t {
    kDispatch,  // Reads or writes as `dispatch` says.
    kWait,      // For all points.
    kSignal,    // All points.
  };

  Kind kind = Kind::kDispatch;
  DispatchId dispatch;
  std::vector<TimelinePoint> points;
};

struct SubmissionPlan {
  std::vector<std::variant<QueueSubmission, HostAction>> actions;  // As the host carries them out.
  uint32_t semaphore_count = 0;
  uint32_t event_count = 0;
};

// Appends the commands to the list of `lowering`, and plans their submissions to a device with so
// many queues. The plan ends with a wait for everything. `order`: issue_order_of() the program.
// `rotation` chooses which queue of the device is the first one of the program.
// Errors: as lower_dispatch().
Result<SubmissionPlan> plan_submissions(const VulkanLowering& lowering,
                                        std::span<const StatementId> order,
                                        uint32_t device_queue_count, uint64_t rotation);

}  // namespace interlock
