// SemaphoreSketch: how a semaphore of a random program has been used so far, so that the next use
// comes in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace interlock {

struct SemaphoreSketch {
  std::string name;
  size_t owner = 0;  // The queue that signals it; that after the last one is the host.
  bool is_binary = false;
  uint64_t signal_count = 0;    // And the initial value.
  uint64_t wait_value_max = 0;  // Of a binary one: how many waits.
  // Of a binary one, where its last wait stands: the next use comes after that. The host is last.
  size_t taker = 0;

  // A bit is taken before it is set again, and nobody takes what others are to have.
  bool may_be_signaled() const {
    return !is_binary || signal_count == 0 || signal_count <= wait_value_max;
  }
  bool may_be_waited_for() const {
    return !is_binary || wait_value_max < std::max<uint64_t>(signal_count, 1);
  }
  // Of the next signal, as its statement says it.
  std::string next_signal(size_t host) {
    ++signal_count;
    hand_on(host);
    return is_binary ? name : name + "=" + std::to_string(signal_count);
  }
  void hand_on(size_t host) {
    if (is_binary && signal_count == wait_value_max && taker != host) owner = taker;
  }
};

}  // namespace interlock
