// Workers: threads that do the same work at the same time, again and again. They last as long as a
// campaign does: what an allocator keeps for a thread, and what a thread keeps for its programs, is
// lost with it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace interlock {

class Workers {
 public:
  // `count` with the caller's thread, which is one of them also where none is asked for.
  explicit Workers(uint32_t count) {
    for (uint32_t i = 1; i < count; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls `work` once on each thread, and returns once all calls have. `work` throws nothing.
  void run(const std::function<void()>& work);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  uint64_t round_ = 0;     // A new one is begun with `work_`.
  size_t busy_count_ = 0;  // Threads that are not done with it.
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace interlock
