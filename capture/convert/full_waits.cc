#include "capture/convert/full_waits.h"

#include <algorithm>
#include <utility>

namespace interlock {
namespace {

constexpr uint64_t kKeptMax = 1u << 18;  // About 25 MB.

}  // namespace

void FullWaits::join(Cover& cover, const Cover& other) {
  for (const auto& [queue, count] : other) cover[queue] = std::max(cover[queue], count);
}

const FullWaits::Cover* FullWaits::find(const std::string& semaphore, uint64_t value,
                                        bool is_exact) const {
  const auto reached = reached_.find(semaphore);
  if (reached != reached_.end() && value <= reached->second) return nullptr;
  const auto values = signals_.find(semaphore);
  if (values == signals_.end()) return nullptr;
  const auto signal = values->second.lower_bound(value);
  if (signal == values->second.end() || (is_exact && signal->first != value)) return nullptr;
  return &signal->second;
}

void FullWaits::keep(const std::string& semaphore, uint64_t value, Cover cover) {
  // Many signals that nobody waits for, of many queues: then less is known to be waited for.
  if (kept_count_ > kKeptMax) forget_signals();
  const auto [signal, is_new] = signals_[semaphore].try_emplace(value);
  if (!is_new) kept_count_ -= 1 + signal->second.size();
  signal->second = std::move(cover);
  kept_count_ += 1 + signal->second.size();
}

void FullWaits::submit(const std::string& queue) {
  if (!is_followed_) return;
  queues_[queue][queue] = ++batch_counts_[queue];
}

void FullWaits::signal(const std::string& queue, const std::string& semaphore, uint64_t value,
                       bool is_whole) {
  if (!is_followed_) return;
  keep(semaphore, value, is_whole ? queues_[queue] : Cover());
}

void FullWaits::signal(const std::string& semaphore, uint64_t value) {
  if (is_followed_) keep(semaphore, value, {});
}

void FullWaits::wait(const std::string& queue, const std::string& semaphore, uint64_t value) {
  if (const Cover* const cover = find(semaphore, value, true)) join(queues_[queue], *cover);
}

void FullWaits::host_waits(const std::string& semaphore, uint64_t value) {
  if (!is_followed_) return;
  if (const Cover* const cover = find(semaphore, value, false)) join(host_, *cover);
  uint64_t& reached = reached_[semaphore];
  reached = std::max(reached, value);
  const auto values = signals_.find(semaphore);
  if (values == signals_.end()) return;
  const auto end = values->second.upper_bound(value);
  for (auto signal = values->second.begin(); signal != end;) {
    kept_count_ -= 1 + signal->second.size();
    signal = values->second.erase(signal);
  }
}

void FullWaits::host_idle(const std::string& queue) {
  if (is_followed_) join(host_, queues_[queue]);
}

void FullWaits::forget(const std::string& semaphore) {
  reached_.erase(semaphore);
  const auto values = signals_.find(semaphore);
  if (values == signals_.end()) return;
  for (const auto& [value, cover] : values->second) kept_count_ -= 1 + cover.size();
  signals_.erase(values);
}

bool FullWaits::is_full() const {
  return is_followed_ && std::ranges::all_of(batch_counts_, [&](const auto& entry) {
           const auto waited = host_.find(entry.first);
           return waited != host_.end() && waited->second == entry.second;
         });
}

void FullWaits::forget_signals() {
  for (const auto& [semaphore, values] : signals_) {
    if (values.empty()) continue;
    uint64_t& reached = reached_[semaphore];
    reached = std::max(reached, values.rbegin()->first);
  }
  signals_.clear();
  kept_count_ = 0;
}

}  // namespace interlock
