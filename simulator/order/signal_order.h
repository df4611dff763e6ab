// Signal order: whether a wait can be met by one signal alone.
//
// A wait for a value is paired with the signal of the smallest value that meets it. That one stands
// for all others only if the signals of a semaphore fire in the order of their values, which the
// rest of the program must see to (Vulkan 1.3, VUID-VkSubmitInfo-pSignalSemaphores-03242).
//
// A binary semaphore is one bit: it must be unsignaled where a signal fires, and no two queues may
// wait for it at a time (VUID-vkQueueSubmit-pSignalSemaphores-00067, -pWaitSemaphores-00068). Its
// waits are paired with its signals one by one. So each has to be taken before the next signal
// fires, and before something else comes to the next wait.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

struct UnorderedSignals {
  SemaphoreId semaphore;
  // `higher` may fire while `lower`, the signal of the next lower value, has not. Of a binary
  // semaphore that the program waits for: `lower` is a wait, or a signal that nothing waits for,
  // and `higher` the next signal, or the next wait, which need not come after it.
  StatementId lower;
  StatementId higher;

  bool operator==(const UnorderedSignals&) const = default;
};

// Returns a pair, if there is one: the first in the reference run that fires in another order than
// that of the values, or of which the lower one never does; else the first that need not fire in
// this order. A signal that never fires is no higher one. What is signaled or taken outside of the
// program is not judged: a wait from outside, and binary_semaphores_taken_outside().
// Requires: no text_order. Cost: linear if each semaphore is signaled by one queue, and each binary
// one that is waited for but once; else that of QueueClocks for every kSemaphoresAtOnce that are
// not.
std::optional<UnorderedSignals> find_unordered_signals(const Program& program);

// By semaphore: the statements that signal it, rising, if it is a timeline that several queues
// signal, or the host and a queue; else none. Requires: the signals of each fire in the order of
// the text, as their values rise. Cost: O(n log n) for the signals.
std::vector<std::vector<StatementId>> crossing_signals_of(const Program& program);

// A signal, by its place among those of its semaphore, from 1, rising by value.
struct RankedSignal {
  SemaphoreId semaphore;
  uint32_t rank = 0;

  auto operator<=>(const RankedSignal&) const = default;
};

// Returns the signals of `timelines`, which are such, that need not fire after the one of the next
// lower value, each judged by itself. Requires: as above; `program` is its own reference run, and
// uses no binary semaphore again. Cost: that of QueueClocks for every kSemaphoresAtOnce of them.
std::vector<RankedSignal> find_signals_out_of_order(const Program& program,
                                                    std::span<const SemaphoreId> timelines);

// By semaphore: it is binary, signaled more than once, and waited for by the program. Then sync may
// be needed that orders no access. Cost: linear.
std::vector<bool> reused_binary_semaphores(const Program& program);

// By semaphore: it is binary, and nothing in the program waits for its signals. Who is outside, as
// one that presents images, takes each before the next one, which the program does not show. Cost:
// linear.
std::vector<bool> binary_semaphores_taken_outside(const Program& program);

inline constexpr uint32_t kSemaphoresAtOnce = 64;

// Of binary semaphores that are used again, in a program that is read.
inline constexpr uint32_t kReusedSemaphoresMax = 1024;

}  // namespace interlock
