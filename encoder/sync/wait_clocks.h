// WaitClocks: which dispatches of serial queues come before which, by the waits between them. The
// basic idea is that of each queue a beginning comes before a dispatch, so that one number for each
// queue says all (C. J. Fidge, "Timestamps in Message-Passing Systems That Preserve the Partial
// Ordering", 1988; F. Mattern, "Virtual Time and Global States of Distributed Systems", 1989), and
// that the numbers of a dispatch are those of the one before it unless it waits: so only those of
// dispatches that wait are kept, and of these only what somebody may still wait for.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/sync/clock_history.h"
#include "encoder/sync/few_numbers.h"
#include "encoder/sync/queue_point.h"
#include "encoder/sync/queue_segment.h"

namespace interlock {

class WaitClocks {
 public:
  explicit WaitClocks(uint32_t queue_count);

  // Whether the queues are few, and all numbers small: then they are computed with at once. Before
  // a number does not fit take_any_numbers() is due.
  bool are_few() const { return are_few_; }
  void take_any_numbers();

  // Returns the number of the next dispatch of the queue, which comes after all before it there.
  uint64_t begin_dispatch(uint32_t queue) { return histories_[queue].begin_dispatch(); }

  uint64_t dispatch_count(uint32_t queue) const { return histories_[queue].dispatch_count(); }

  // By queue: the last dispatch that comes before what this queue does next; its own last one.
  // Valid until the next such call. Cost: linear in the queues.
  const uint64_t* known_by(uint32_t queue);

  // The same but for its own, which is 0. Requires: are_few(). Cost: constant.
  FewNumbers few_known_by(uint32_t queue) const { return few_in(row_of(queue)); }

  // By queue: the last dispatch that comes before what any other queue does next.
  // Cost: the square of the queues.
  const uint64_t* known_by_all();

  // Of `points`, which the dispatch `number` of `queue` must follow and does not yet, takes away
  // those that come before another one; then what is left comes before that dispatch. Requires: all
  // of different queues, rising; the dispatch is the last of its queue, or the next.
  // Cost: the square of the points, and the queues for each; linear in the points if are_few().
  void wait(uint32_t queue, uint64_t number, std::vector<QueuePoint>& points);

  // The same where the points are those of `latest` that are later than in `known`, what the
  // dispatch follows already, its own number included, which is that of both. Writes what is left
  // to `waits`, which has room for kFewQueues, and returns how many these are. Requires: are_few();
  // no number of `latest` is earlier, and some are later.
  size_t wait_few(uint32_t queue, const FewNumbers& known, const FewNumbers& latest,
                  QueuePoint* waits);

  // All that there has been comes before all that is next. Cost: the square of the queues.
  void wait_for_all();

  // How many clocks are kept, and whether that is enough to let go of some.
  size_t clock_count() const { return clock_count_; }
  bool is_full() const { return clock_count_ > clock_limit_; }

  // Lets go of the clocks that no wait can need: of dispatches that come before what all other
  // queues do next. If too few are, `for_each_point(visit)` is to call visit(queue, number) with
  // all dispatches but the last ones that may be waited for, and others go too. Cost: that, and
  // logarithmic for each point; amortized constant for each wait, if called when is_full() says so.
  template <typename ForEachPoint>
  void prune(const ForEachPoint& for_each_point) {
    drop_known_by_all();
    if (2 * clock_count_ > clock_limit_) {
      begin_marks();
      for_each_point([&](uint32_t queue, uint64_t number) { mark(queue, number); });
      drop_unmarked();
    }
    set_limit();
  }

  size_t size_bytes() const;

 private:
  static constexpr size_t kMinClockLimit = 256;
  static constexpr uint32_t kFewQueues = QueueSegment::kFewQueues;
  static_assert(kFewQueues == FewNumbers::kCount);
  static constexpr size_t kFewWords = kFewQueues * sizeof(uint32_t) / sizeof(uint64_t);

  uint64_t* row_of(uint32_t queue) { return known_.data() + queue * clock_words_; }
  const uint64_t* row_of(uint32_t queue) const { return known_.data() + queue * clock_words_; }
  static FewNumbers few_in(const uint64_t* clock) {
    return FewNumbers::from(reinterpret_cast<const uint32_t*>(clock));
  }
  static void put_few(const FewNumbers& numbers, uint64_t* clock) {
    numbers.store(reinterpret_cast<uint32_t*>(clock));
  }
  static FewNumbers::Array numbers_of(const FewNumbers& few) {
    FewNumbers::Array numbers;
    few.store(numbers.data());
    return numbers;
  }

  void copy_known_by(uint32_t queue, std::vector<uint64_t>& known) const;
  void wait_any(uint32_t queue, uint64_t number, std::vector<QueuePoint>& points);
  void leave_latest(std::vector<QueuePoint>& points);
  uint64_t* clock_from(uint32_t queue, uint64_t number);

  void drop_known_by_all();
  void begin_marks();
  void mark(uint32_t queue, uint64_t number);
  void drop_unmarked();
  void set_limit();

  uint32_t queue_count_;
  bool are_few_;
  // A clock is a number for each queue, or FewNumbers; that of its own queue may be any, and is 0
  // in FewNumbers.
  size_t clock_words_;
  std::vector<uint64_t> known_;          // By queue, a clock: what its next dispatch comes after.
  std::vector<uint64_t> known_by_one_;   // As of the last question.
  std::vector<uint64_t> known_row_;      // While that of known_by_all() is answered.
  std::vector<uint64_t> known_by_all_;   // Likewise.
  std::vector<ClockHistory> histories_;  // By queue.
  size_t clock_count_ = 0;               // In all of them.
  size_t clock_limit_ = kMinClockLimit;
  size_t marked_point_count_ = 0;
  std::vector<const uint64_t*> clocks_of_points_;  // Of the wait at hand.
};

// Whatever comes before a point that goes comes before one that stays; one alone stays.
[[gnu::always_inline]] inline size_t WaitClocks::wait_few(uint32_t queue, const FewNumbers& known,
                                                          const FewNumbers& latest,
                                                          QueuePoint* waits) {
  const FewNumbers::Array numbers = numbers_of(latest);
  uint32_t are_later = queues_later(latest, known);
  FewNumbers carried;
  size_t count = 0;
  const auto carry = [&](uint32_t other) {
    carried = latest_of(carried, few_in(histories_[other].clock_of(numbers[other])));
  };
  if ((are_later & (are_later - 1)) == 0) [[likely]] {
    const auto other = static_cast<uint32_t>(std::countr_zero(are_later));
    carry(other);
    waits[count++] = {other, numbers[other]};
  } else {
    for (uint32_t left = are_later; left != 0; left &= left - 1) {
      carry(static_cast<uint32_t>(std::countr_zero(left)));
    }
    are_later &= queues_later(latest, carried);
    for (; are_later != 0; are_later &= are_later - 1) {
      const auto other = static_cast<uint32_t>(std::countr_zero(are_later));
      waits[count++] = {other, numbers[other]};
    }
  }
  const FewNumbers clock = latest_of(latest, carried).without(queue);
  put_few(clock, row_of(queue));
  put_few(clock, clock_from(queue, numbers[queue]));
  return count;
}

[[gnu::always_inline]] inline uint64_t* WaitClocks::clock_from(uint32_t queue, uint64_t number) {
  ClockHistory& history = histories_[queue];
  if (history.latest_from() != number) {
    history.append(number);
    ++clock_count_;
  }
  return history.latest();
}

}  // namespace interlock
