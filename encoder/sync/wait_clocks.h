// WaitClocks: which dispatches of serial queues come before which, by the waits between them. The
// basic idea is that of each queue a beginning comes before a dispatch, so that one number for each
// queue says all (C. J. Fidge, "Timestamps in Message-Passing Systems That Preserve the Partial
// Ordering", 1988; F. Mattern, "Virtual Time and Global States of Distributed Systems", 1989), and
// that the numbers of a dispatch are those of the one before it unless it waits: so only those of
// dispatches that wait are kept, and of these only what somebody may still wait for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/sync/queue_segment.h"

namespace interlock {

// A dispatch of a queue: how many there have been there, this one included.
struct QueuePoint {
  uint32_t queue = 0;
  uint64_t number = 0;

  bool operator==(const QueuePoint&) const = default;
};

class WaitClocks {
 public:
  explicit WaitClocks(uint32_t queue_count);

  // Returns the number of the next dispatch of the queue, which comes after all before it there.
  uint64_t begin_dispatch(uint32_t queue) {
    const uint64_t number = ++row_of(queue)[queue];
    few_row_of(queue)[queue % kFewQueues] = static_cast<int32_t>(number);
    histories_[queue].recent[number % kRecent] = histories_[queue].last_place();
    return number;
  }

  uint64_t dispatch_count(uint32_t queue) const { return row_of(queue)[queue]; }

  // By queue: the last dispatch that comes before what this queue does next; its own last one.
  const uint64_t* known_by(uint32_t queue) const { return row_of(queue); }

  // The same in kFewQueues numbers, of queues that there are not 0. It means something if there are
  // at most so many queues, and all numbers are below 2^31.
  const int32_t* few_known_by(uint32_t queue) const {
    return few_known_.data() + size_t{queue} * kFewQueues;
  }

  // By queue: the last dispatch that comes before what any other queue does next.
  // Cost: the square of the queues.
  const uint64_t* known_by_all();

  // Of `points`, which the dispatch `number` of `queue` must follow and does not yet, takes away
  // those that come before another one; then what is left comes before that dispatch. Requires: all
  // of different queues; the dispatch is the last of its queue, or the next.
  // Cost: the square of the points, and the queues for each.
  void wait(uint32_t queue, uint64_t number, std::vector<QueuePoint>& points);

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
  static constexpr uint32_t kRecent = 512;

  // Of a queue. Clock i holds from dispatch first[i] on, up to the next one.
  struct History {
    // How many clocks there have been, those that were let go of too.
    uint32_t last_place() const { return dropped_count + static_cast<uint32_t>(first.size()); }

    std::vector<uint64_t> first;
    std::vector<uint64_t> clocks;  // One after another, and room; the own number may be any.
    std::vector<bool> is_marked;
    // Of the last dispatches from `recent_from` on: last_place() as of then. Most waits are for one
    // of these, and need no search. It may wrap around: only differences count.
    std::array<uint32_t, kRecent> recent = {};
    uint64_t recent_from = 1;
    uint32_t dropped_count = 0;
  };

  uint64_t* row_of(uint32_t queue) { return known_.data() + size_t{queue} * queue_count_; }
  const uint64_t* row_of(uint32_t queue) const {
    return known_.data() + size_t{queue} * queue_count_;
  }
  int32_t* few_row_of(uint32_t queue) { return few_known_.data() + size_t{queue} * kFewQueues; }
  void note_few(uint32_t queue);
  size_t place_of(const History& history, uint64_t number) const;
  static size_t recent_place_of(const History& history, uint64_t number);
  const uint64_t* clock_of(const QueuePoint& point) const;
  void leave_latest(std::vector<QueuePoint>& points);
  void remember(uint32_t queue, uint64_t number);

  void drop_known_by_all();
  void begin_marks();
  void mark(uint32_t queue, uint64_t number);
  void drop_unmarked();
  void keep_in(History& history, const std::vector<size_t>& places);
  void set_limit();

  uint32_t queue_count_;
  std::vector<uint64_t> known_;         // By queue, a clock: a number for each queue.
  std::vector<int32_t> few_known_;      // The same in short, kFewQueues numbers by queue.
  std::vector<uint64_t> known_by_all_;  // As of the last question.
  std::vector<uint64_t> nothing_;       // The clock of a dispatch before which nobody has waited.
  std::vector<History> histories_;      // By queue.
  size_t clock_count_ = 0;              // In all of them.
  size_t clock_limit_ = kMinClockLimit;
  size_t marked_point_count_ = 0;
  std::vector<size_t> kept_places_;
  std::vector<const uint64_t*> clocks_of_points_;  // Of the wait at hand.
};

}  // namespace interlock
