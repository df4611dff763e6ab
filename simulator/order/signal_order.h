// Signal order: whether a wait can be met by one signal alone.
//
// A wait for a value is paired with the signal of the smallest value that meets it. That one stands
// for all others only if the signals of a semaphore fire in the order of their values, which the
// rest of the program must see to (Vulkan 1.3, VUID-VkSubmitInfo-pSignalSemaphores-03242).
#pragma once

#include <optional>

#include "encoder/program/program.h"

namespace interlock {

struct UnorderedSignals {
  SemaphoreId semaphore;
  // `higher` may fire while `lower`, the signal of the next lower value, has not.
  StatementId lower;
  StatementId higher;

  bool operator==(const UnorderedSignals&) const = default;
};

// Returns a pair, if there is one: the first in the reference run that fires in another order than
// that of the values, or of which the lower one never does; else the first that need not fire in
// this order. A signal that never fires is no higher one.
// Requires: no text_order. Cost: linear if each semaphore is signalled by one queue; else that of
// QueueClocks for every kSemaphoresAtOnce that are not.
std::optional<UnorderedSignals> find_unordered_signals(const Program& program);

inline constexpr uint32_t kSemaphoresAtOnce = 64;

}  // namespace interlock
