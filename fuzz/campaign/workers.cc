#include "fuzz/campaign/workers.h"

namespace interlock {

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(const std::function<void()>& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    busy_count_ = threads_.size();
    ++round_;
  }
  changed_.notify_all();
  work();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return busy_count_ == 0; });
}

void Workers::serve() {
  uint64_t done_round = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_over_ || round_ != done_round; });
    if (is_over_) return;
    done_round = round_;
    const std::function<void()>& work = *work_;
    lock.unlock();
    work();
    lock.lock();
    if (--busy_count_ == 0) changed_.notify_all();
  }
}

}  // namespace interlock
