#include "encoder/sync/wait_clocks.h"

#include <algorithm>
#include <numeric>

#include "encoder/program/check.h"

namespace interlock {

WaitClocks::WaitClocks(uint32_t queue_count)
    : queue_count_(queue_count),
      known_(size_t{queue_count} * queue_count, 0),
      few_known_(size_t{queue_count} * kFewQueues, 0),
      known_by_all_(queue_count, 0),
      nothing_(queue_count, 0),
      histories_(queue_count) {}

const uint64_t* WaitClocks::known_by_all() {
  std::ranges::fill(known_by_all_, UINT64_MAX);
  for (uint32_t queue = 0; queue < queue_count_; ++queue) {
    const uint64_t* const known = row_of(queue);
    for (uint32_t other = 0; other < queue_count_; ++other) {
      if (other != queue) known_by_all_[other] = std::min(known_by_all_[other], known[other]);
    }
  }
  return known_by_all_.data();
}

// How many clocks hold from `number` on, or before: the last of them is its own. A search without
// branches, since nothing tells where it ends.
size_t WaitClocks::place_of(const History& history, uint64_t number) const {
  size_t place = 0;
  for (size_t count = history.first.size(); count > 0;) {
    const size_t half = (count + 1) / 2;
    place += history.first[place + half - 1] <= number ? half : 0;
    count -= half;
  }
  return place;
}

size_t WaitClocks::recent_place_of(const History& history, uint64_t number) {
  const auto place = static_cast<int32_t>(history.recent[number % kRecent] - history.dropped_count);
  return place > 0 ? static_cast<size_t>(place) : 0;
}

const uint64_t* WaitClocks::clock_of(const QueuePoint& point) const {
  const History& history = histories_[point.queue];
  const uint64_t count = dispatch_count(point.queue);
  const bool is_recent = point.number + kRecent > count && point.number >= history.recent_from;
  const size_t place =
      is_recent ? recent_place_of(history, point.number) : place_of(history, point.number);
  return place == 0 ? nothing_.data() : history.clocks.data() + (place - 1) * queue_count_;
}

void WaitClocks::wait(uint32_t queue, uint64_t number, std::vector<QueuePoint>& points) {
  clocks_of_points_.clear();
  for (const QueuePoint& point : points) clocks_of_points_.push_back(clock_of(point));
  if (points.size() > 1) leave_latest(points);
  uint64_t* const known = row_of(queue);
  for (size_t i = 0; i < points.size(); ++i) {
    const uint64_t* const clock = clocks_of_points_[i];
    for (uint32_t other = 0; other < queue_count_; ++other) {
      known[other] = std::max(known[other], clock[other]);
    }
    uint64_t& last = known[points[i].queue];
    last = std::max(last, points[i].number);
  }
  note_few(queue);
  remember(queue, number);
}

void WaitClocks::note_few(uint32_t queue) {
  const uint64_t* const known = row_of(queue);
  int32_t* const few = few_row_of(queue);
  const uint32_t count = std::min(queue_count_, kFewQueues);
  for (uint32_t other = 0; other < count; ++other) few[other] = static_cast<int32_t>(known[other]);
}

// Whatever comes before one that goes comes before one that stays.
void WaitClocks::leave_latest(std::vector<QueuePoint>& points) {
  for (size_t i = points.size(); i-- > 0;) {
    const QueuePoint point = points[i];
    bool is_before_another = false;
    for (size_t k = 0; k < points.size(); ++k) {
      if (k != i) is_before_another |= clocks_of_points_[k][point.queue] >= point.number;
    }
    if (!is_before_another) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    points.erase(points.begin() + at);
    clocks_of_points_.erase(clocks_of_points_.begin() + at);
  }
}

void WaitClocks::remember(uint32_t queue, uint64_t number) {
  History& history = histories_[queue];
  const uint64_t* const known = row_of(queue);
  if (history.first.empty() || history.first.back() != number) {
    history.first.push_back(number);
    if (history.clocks.size() < history.first.size() * queue_count_) {
      history.clocks.resize(2 * history.first.size() * queue_count_);
    }
    ++clock_count_;
    // Of the next dispatch begin_dispatch() says it.
    if (number <= dispatch_count(queue)) history.recent[number % kRecent] = history.last_place();
  }
  uint64_t* const clock = history.clocks.data() + (history.first.size() - 1) * queue_count_;
  for (uint32_t other = 0; other < queue_count_; ++other) clock[other] = known[other];
}

void WaitClocks::wait_for_all() {
  for (uint32_t queue = 0; queue < queue_count_; ++queue) {
    for (uint32_t other = 0; other < queue_count_; ++other) {
      row_of(queue)[other] = dispatch_count(other);
    }
    note_few(queue);
  }
  for (uint32_t queue = 0; queue < queue_count_; ++queue) {
    remember(queue, dispatch_count(queue) + 1);
  }
}

void WaitClocks::drop_known_by_all() {
  marked_point_count_ = 0;
  const uint64_t* const known = known_by_all();
  for (uint32_t queue = 0; queue < queue_count_; ++queue) {
    History& history = histories_[queue];
    // The first that holds for a dispatch after those.
    const size_t place = place_of(history, std::min(known[queue], dispatch_count(queue)) + 1);
    if (place <= 1) continue;
    kept_places_.resize(history.first.size() - (place - 1));
    std::iota(kept_places_.begin(), kept_places_.end(), place - 1);
    keep_in(history, kept_places_);
  }
}

void WaitClocks::begin_marks() {
  for (uint32_t queue = 0; queue < queue_count_; ++queue) {
    History& history = histories_[queue];
    history.is_marked.assign(history.first.size(), false);
    if (!history.first.empty()) history.is_marked.back() = true;
  }
}

void WaitClocks::mark(uint32_t queue, uint64_t number) {
  ++marked_point_count_;
  if (number <= known_by_all_[queue]) return;
  History& history = histories_[queue];
  const size_t place = place_of(history, number);
  if (place > 0) history.is_marked[place - 1] = true;
}

void WaitClocks::drop_unmarked() {
  for (History& history : histories_) {
    kept_places_.clear();
    for (size_t i = 0; i < history.first.size(); ++i) {
      if (history.is_marked[i]) kept_places_.push_back(i);
    }
    if (kept_places_.size() == history.first.size()) continue;
    keep_in(history, kept_places_);
    history.recent_from = history.first.back();
  }
}

// A dispatch whose clock is not kept finds that of an earlier one; it is never waited for.
void WaitClocks::keep_in(History& history, const std::vector<size_t>& places) {
  clock_count_ -= history.first.size() - places.size();
  history.dropped_count += static_cast<uint32_t>(history.first.size() - places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    history.first[i] = history.first[places[i]];
    std::copy_n(history.clocks.begin() + static_cast<std::ptrdiff_t>(places[i] * queue_count_),
                queue_count_,
                history.clocks.begin() + static_cast<std::ptrdiff_t>(i * queue_count_));
  }
  history.first.resize(places.size());
}

void WaitClocks::set_limit() {
  clock_limit_ = std::max({kMinClockLimit, 2 * clock_count_, marked_point_count_});
}

size_t WaitClocks::size_bytes() const {
  size_t bytes =
      (known_.capacity() + known_by_all_.capacity() + nothing_.capacity()) * sizeof(uint64_t) +
      few_known_.capacity() * sizeof(int32_t) + histories_.capacity() * sizeof(History) +
      kept_places_.capacity() * sizeof(size_t);
  for (const History& history : histories_) {
    bytes += (history.first.capacity() + history.clocks.capacity()) * sizeof(uint64_t) +
             history.is_marked.capacity() / 8;
  }
  return bytes;
}

}  // namespace interlock
