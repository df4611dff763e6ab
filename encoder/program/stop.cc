#include "encoder/program/stop.h"

namespace interlock {

void Stop::request_at_poll(uint64_t poll) {
  is_counted_ = true;
  request_at_ = poll;
  state_.store(State::kCounting, std::memory_order_relaxed);
}

bool Stop::poll_counted() {
  if (poll_count_.fetch_add(1, std::memory_order_relaxed) + 1 >= request_at_) request();
  return is_requested();
}

}  // namespace interlock
