#include "encoder/sync/wait_clocks.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {

WaitClocks::WaitClocks(uint32_t queue_count)
    : queue_count_(queue_count),
      are_few_(queue_count <= kFewQueues),
      clock_words_(are_few_ ? kFewWords : queue_count),
      known_(queue_count * clock_words_, 0),
      known_by_one_(queue_count, 0),
      known_row_(queue_count, 0),
      known_by_all_(queue_count, 0),
      histories_(queue_count, ClockHistory(clock_words_)) {}

void WaitClocks::take_any_numbers() {
  const size_t few_words = clock_words_;
  clock_words_ = queue_count_;
  are_few_ = false;
  const auto widen = [&](const uint64_t* few, uint64_t* clock) {
    const FewNumbers::Array numbers = numbers_of(few_in(few));
    std::copy_n(numbers.begin(), queue_count_, clock);
  };
  std::vector<uint64_t> known(size_t{queue_count_} * queue_count_, 0);
  for (uint32_t queue = 0; queue < queue_count_; ++queue) {
    widen(known_.data() + queue * few_words, known.data() + size_t{queue} * queue_count_);
    histories_[queue].change_clocks(queue_count_, widen);
  }
  known_ = std::move(known);
}

void WaitClocks::copy_known_by(uint32_t queue, std::vector<uint64_t>& known) const {
  if (are_few_) {
    const FewNumbers::Array numbers = numbers_of(few_known_by(queue));
    std::copy_n(numbers.begin(), queue_count_, known.begin());
  } else {
    std::copy_n(row_of(queue), queue_count_, known.begin());
  }
  known[queue] = dispatch_count(queue);
}

const uint64_t* WaitClocks::known_by(uint32_t queue) {
  if (!are_few_) {
    row_of(queue)[queue] = dispatch_count(queue);
    return row_of(queue);
  }
  copy_known_by(queue, known_by_one_);
  return known_by_one_.data();
}

const uint64_t* WaitClocks::known_by_all() {
  std::ranges::fill(known_by_all_, UINT64_MAX);
  for (uint32_t queue = 0; queue < queue_count_; ++queue) {
    copy_known_by(queue, known_row_);
    for (uint32_t other = 0; other < queue_count_; ++other) {
      if (other == queue) continue;
      known_by_all_[other] = std::min(known_by_all_[other], known_row_[other]);
    }
  }
  return known_by_all_.data();
}

void WaitClocks::wait(uint32_t queue, uint64_t number, std::vector<QueuePoint>& points) {
  if (!are_few_) return wait_any(queue, number, points);
  const FewNumbers known =
      few_known_by(queue) | FewNumbers::of(queue, static_cast<uint32_t>(number));
  FewNumbers latest = known;
  for (const QueuePoint& point : points) {
    latest = latest_of(latest, FewNumbers::of(point.queue, static_cast<uint32_t>(point.number)));
  }
  points.resize(kFewQueues);
  points.resize(wait_few(queue, known, latest, points.data()));
}

void WaitClocks::wait_any(uint32_t queue, uint64_t number, std::vector<QueuePoint>& points) {
  clocks_of_points_.clear();
  for (const QueuePoint& point : points) {
    clocks_of_points_.push_back(histories_[point.queue].clock_of(point.number));
  }
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
  std::copy_n(known, queue_count_, clock_from(queue, number));
}

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

void WaitClocks::wait_for_all() {
  FewNumbers::Array counts = {};
  for (uint32_t queue = 0; queue < queue_count_; ++queue) {
    for (uint32_t other = 0; other < queue_count_; ++other) {
      if (are_few_) {
        counts[other] = static_cast<uint32_t>(dispatch_count(other));
      } else {
        row_of(queue)[other] = dispatch_count(other);
      }
    }
    if (are_few_) put_few(FewNumbers::from(counts.data()).without(queue), row_of(queue));
  }
  for (uint32_t queue = 0; queue < queue_count_; ++queue) {
    std::copy_n(row_of(queue), clock_words_, clock_from(queue, dispatch_count(queue) + 1));
  }
}

void WaitClocks::drop_known_by_all() {
  marked_point_count_ = 0;
  const uint64_t* const known = known_by_all();
  for (uint32_t queue = 0; queue < queue_count_; ++queue) {
    ClockHistory& history = histories_[queue];
    clock_count_ -= history.clock_count();
    // The first that holds for a dispatch after those.
    history.drop_before(history.place_of(std::min(known[queue], dispatch_count(queue)) + 1));
    clock_count_ += history.clock_count();
  }
}

void WaitClocks::begin_marks() {
  for (ClockHistory& history : histories_) history.begin_marks();
}

void WaitClocks::mark(uint32_t queue, uint64_t number) {
  ++marked_point_count_;
  if (number <= known_by_all_[queue]) return;
  histories_[queue].mark(histories_[queue].place_of(number));
}

void WaitClocks::drop_unmarked() {
  clock_count_ = 0;
  for (ClockHistory& history : histories_) {
    history.drop_unmarked();
    clock_count_ += history.clock_count();
  }
}

void WaitClocks::set_limit() {
  clock_limit_ = std::max({kMinClockLimit, 2 * clock_count_, marked_point_count_});
}

size_t WaitClocks::size_bytes() const {
  size_t bytes = (known_.capacity() + known_by_one_.capacity() + known_row_.capacity() +
                  known_by_all_.capacity()) *
                     sizeof(uint64_t) +
                 clocks_of_points_.capacity() * sizeof(const uint64_t*);
  for (const ClockHistory& history : histories_) bytes += history.size_bytes();
  return bytes;
}

}  // namespace interlock
