// The basic idea is that of each queue a beginning comes before an operation, so that how long it
// is says all: a clock of one number for each queue. Where queues are many a bit for each operation
// is less.
#include "encoder/queues/queue_waits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "encoder/program/stop.h"
#include "encoder/sync/lanes.h"

namespace interlock {
namespace {

constexpr size_t kClockQueuesMax = 32;

// By position: where the dispatch before it on its queue is issued; UINT32_MAX: there is none.
std::vector<uint32_t> positions_before(const QueuePlan& plan) {
  std::vector<uint32_t> before(plan.issued.size());
  std::vector<uint32_t> last(plan.queues.size(), UINT32_MAX);
  for (uint32_t i = 0; i < plan.issued.size(); ++i) {
    uint32_t& previous = last[plan.queue_of[plan.issued[i]]];
    before[i] = previous;
    previous = i;
  }
  return before;
}

std::vector<uint32_t> positions_of(const QueuePlan& plan) {
  std::vector<uint32_t> positions(plan.issued.size());
  for (uint32_t i = 0; i < positions.size(); ++i) positions[plan.issued[i]] = i;
  return positions;
}

// By position: the positions that are waited for, rising.
class WaitsByClocks {
 public:
  WaitsByClocks(const QueuePlan& plan, const Predecessors& pairs,
                const std::vector<uint32_t>& positions)
      : plan_(plan),
        pairs_(pairs),
        positions_(positions),
        queue_at_(plan.issued.size()),
        clock_size_((plan.queues.size() + Lanes::kCount - 1) / Lanes::kCount * Lanes::kCount),
        clocks_(plan.issued.size() * clock_size_),
        last_(plan.queues.size(), UINT32_MAX) {
    for (uint32_t i = 0; i < queue_at_.size(); ++i) queue_at_[i] = plan.queue_of[plan.issued[i]];
    waits_.reserve(pairs.size(), pairs.pair_count());
  }

  Predecessors run() {
    for (uint32_t i = 0; i < queue_at_.size() && !is_stopped(); ++i) {
      uint32_t& last = last_[queue_at_[i]];
      uint32_t* const clock = clock_of(i);
      if (last != UINT32_MAX) std::copy_n(clock_of(last), clock_size_, clock);
      last = i;
      latest_first_.clear();
      for (const uint32_t earlier : pairs_[plan_.issued[i]]) {
        const uint32_t position = positions_[earlier];
        if (!is_before(position, clock)) latest_first_.push_back(position);
      }
      if (!latest_first_.empty()) wait(clock);
      waits_.end_operation();
      clock[queue_at_[i]] = i + 1;
    }
    while (waits_.size() < queue_at_.size()) waits_.end_operation();
    return std::move(waits_);
  }

 private:
  // A clock says of each queue up to which position its dispatches come before, themselves
  // included: one more, 0: none. In whole lanes.
  uint32_t* clock_of(uint32_t position) { return clocks_.data() + position * clock_size_; }

  bool is_before(uint32_t position, const uint32_t* clock) const {
    return position < clock[queue_at_[position]];
  }

  // Of latest_first_, which are in any order yet, those that are left.
  void wait(uint32_t* clock) {
    if (latest_first_.size() > 1) {
      std::sort(latest_first_.begin(), latest_first_.end(), std::greater<>());
    }
    for (const uint32_t position : latest_first_) {
      if (is_before(position, clock)) continue;
      waits_.push_back(position);
      join(clock, clock_of(position));
    }
    std::ranges::reverse(waits_.unended());
  }

  void join(uint32_t* clock, const uint32_t* theirs) const {
    for (size_t i = 0; i < clock_size_; i += Lanes::kCount) {
      greater_of(Lanes::from(clock + i), Lanes::from(theirs + i)).store(clock + i);
    }
  }

  const QueuePlan& plan_;
  const Predecessors& pairs_;
  const std::vector<uint32_t>& positions_;
  std::vector<uint32_t> queue_at_;  // By position.
  const size_t clock_size_;
  std::vector<uint32_t> clocks_;  // By position, a number for each queue.
  std::vector<uint32_t> last_;    // By queue: the position of its last one.
  std::vector<uint32_t> latest_first_;
  Predecessors waits_;
};

// The same, of the reduction.
Predecessors waits_by_reduction(const QueuePlan& plan, const Predecessors& pairs,
                                const std::vector<uint32_t>& positions) {
  const std::vector<uint32_t> before = positions_before(plan);
  Predecessors by_position;
  by_position.reserve(pairs.size(), pairs.pair_count() + pairs.size());
  for (uint32_t i = 0; i < before.size(); ++i) {
    for (const uint32_t earlier : pairs[plan.issued[i]]) by_position.push_back(positions[earlier]);
    if (before[i] != UINT32_MAX) by_position.push_back(before[i]);
    by_position.end_operation();
  }
  const OrderReduction order(by_position);
  Predecessors waits;
  waits.reserve(pairs.size(), order.all_predecessors().pair_count());
  for (uint32_t i = 0; i < before.size(); ++i) {
    const uint32_t queue = plan.queue_of[plan.issued[i]];
    for (const uint32_t position : order.predecessors(i)) {
      if (plan.queue_of[plan.issued[position]] != queue) waits.push_back(position);
    }
    waits.end_operation();
  }
  return waits;
}

}  // namespace

Predecessors waits_of(const QueuePlan& plan, const Predecessors& pairs) {
  const std::vector<uint32_t> positions = positions_of(plan);
  const Predecessors by_position = plan.queues.size() <= kClockQueuesMax
                                       ? WaitsByClocks(plan, pairs, positions).run()
                                       : waits_by_reduction(plan, pairs, positions);
  Predecessors waits;
  waits.reserve(pairs.size(), by_position.pair_count());
  for (uint32_t dispatch = 0; dispatch < pairs.size(); ++dispatch) {
    for (const uint32_t position : by_position[positions[dispatch]]) {
      waits.push_back(plan.issued[position]);
    }
    waits.end_operation();
  }
  return waits;
}

}  // namespace interlock
