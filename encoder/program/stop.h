// Stop: how long work is asked to end. Whoever may ask installs a Stop for a stretch of a thread;
// every long loop polls is_stopped() and returns early with a part of its result, which means
// nothing: whoever installed the Stop looks at it before a result is believed.
#pragma once

#include <atomic>
#include <cstdint>

namespace interlock {

class Stop {
 public:
  constexpr Stop() = default;
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  // Asks for the end; there is no way back. A signal handler may call this.
  void request() { state_.store(State::kRequested, std::memory_order_relaxed); }

  // Not a poll.
  bool is_requested() const { return state_.load(std::memory_order_relaxed) == State::kRequested; }

  // For tests: counts polls, and asks for the end at poll number `poll`, from 1.
  void request_at_poll(uint64_t poll) {
    is_counted_ = true;
    request_at_ = poll;
    state_.store(State::kCounting, std::memory_order_relaxed);
  }
  uint64_t poll_count() const { return poll_count_.load(std::memory_order_relaxed); }

  // True once the end was asked for.
  bool poll() {
    const State state = state_.load(std::memory_order_relaxed);
    return state != State::kRunning && (!is_counted_ || poll_counted());
  }

 private:
  enum class State : uint8_t { kRunning, kCounting, kRequested };

  bool poll_counted() {
    if (poll_count_.fetch_add(1, std::memory_order_relaxed) + 1 >= request_at_) request();
    return is_requested();
  }

  std::atomic<State> state_{State::kRunning};
  static_assert(std::atomic<State>::is_always_lock_free,
                "a signal handler may only use lock-free atomics");
  bool is_counted_ = false;
  uint64_t request_at_ = 0;
  std::atomic<uint64_t> poll_count_{0};
};

namespace stop_detail {
inline constinit thread_local Stop* installed = nullptr;
}

// The Stop of this thread; null if there is none.
inline Stop* installed_stop() { return stop_detail::installed; }

// Installs `stop` for this thread until the end of the scope; null: nothing stops the work here, as
// where what was found is put away.
class StopScope {
 public:
  explicit StopScope(Stop* stop) : previous_(stop_detail::installed) {
    stop_detail::installed = stop;
  }
  ~StopScope() { stop_detail::installed = previous_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  Stop* previous_;
};

// Polls the Stop of this thread. Cost: two loads; cheap enough for any loop whose body does not fit
// a few instructions.
inline bool is_stopped() {
  Stop* const stop = installed_stop();
  return stop != nullptr && stop->poll();
}

// Every so many steps of a loop that is too tight for a poll of its own at each of them.
inline bool is_stopped_at(uint64_t step) { return (step & 0xfff) == 0 && is_stopped(); }

}  // namespace interlock
