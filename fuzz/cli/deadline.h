// Deadline: work that ends after a time, as it does at ^C.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "encoder/program/stop.h"

namespace interlock {

class Deadline {
 public:
  // `seconds` from now; 0: never.
  explicit Deadline(double seconds);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // Is requested when the time has passed, or the user asks for the end.
  Stop& stop() { return has_time_ ? stop_ : user_stop(); }

  // Whether the time has passed, and nobody asked.
  bool has_passed() const;

 private:
  static Stop& user_stop();

  const bool has_time_;
  Stop stop_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ended_ = false;  // The work.
  std::thread waiter_;
};

}  // namespace interlock
