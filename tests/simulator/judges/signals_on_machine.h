// A second judge of signal_order.h: whether the machine fires a signal while a lower one is
// withheld.
#pragma once

#include <optional>

#include "encoder/program/program.h"
#include "simulator/order/signal_order.h"
#include "simulator/schedules/queue_machine.h"

namespace interlock {

// Returns two signals of one semaphore of which that of the higher value may fire first, or two
// uses of a binary one that the program waits for; none if nothing in the program leaves that open.
// A counter must only grow (Vulkan 1.3, VUID-VkSubmitInfo-pSignalSemaphores-03242), and only then a
// wait is for the signal of the smallest value that is not below its own: else the other signal
// releases it as well. Requires: no text_order. Cost: for each signal of a semaphore that is
// signaled from several places, a run of the program.
std::optional<UnorderedSignals> find_unordered_on_machine(
    const Program& program, FrontEnds front_ends = FrontEnds::kRunAhead);

}  // namespace interlock
