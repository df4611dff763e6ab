#include "fuzz/cli/deadline.h"

#include <chrono>

#include "fuzz/cli/interrupt.h"

namespace interlock {
namespace {

// A signal handler cannot wake the thread that waits.
constexpr std::chrono::milliseconds kLookPeriod{20};

}  // namespace

Deadline::Deadline(double seconds) : has_time_(seconds > 0) {
  if (!has_time_) return;
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  waiter_ = std::thread([this, end] {
    std::unique_lock lock(mutex_);
    while (!is_ended_ && !user_stop().is_requested() && Clock::now() < end) {
      ended_.wait_for(lock, kLookPeriod);
    }
    if (!is_ended_) stop_.request();
  });
}

Deadline::~Deadline() {
  if (!waiter_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  ended_.notify_all();
  waiter_.join();
}

bool Deadline::has_passed() const {
  return has_time_ && stop_.is_requested() && !user_stop().is_requested();
}

Stop& Deadline::user_stop() { return interrupt_stop(); }

}  // namespace interlock
