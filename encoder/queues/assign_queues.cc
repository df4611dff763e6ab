#include "encoder/queues/assign_queues.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "encoder/program/stop.h"
#include "encoder/queues/path_cover.h"

namespace interlock {
namespace {

// Numbers below a bound, of which the smallest is taken: a bit for each, and a bit for each word of
// 64 that has one, and so on.
class SmallestFirst {
 public:
  // Requires: `bound` is not 0.
  explicit SmallestFirst(size_t bound) {
    do {
      bound = (bound + 63) / 64;
      levels_.emplace_back(bound, 0);
    } while (bound > 1);
  }

  bool empty() const { return levels_.back()[0] == 0; }

  void push(uint32_t number) {
    for (std::vector<uint64_t>& level : levels_) {
      uint64_t& word = level[number / 64];
      const bool has_some = word != 0;
      word |= uint64_t{1} << (number % 64);
      if (has_some) return;
      number /= 64;
    }
  }

  // Requires: not empty().
  uint32_t pop() {
    uint32_t number = 0;
    for (size_t i = levels_.size(); i-- > 0;) {
      number = number * 64 + static_cast<uint32_t>(std::countr_zero(levels_[i][number]));
    }
    uint32_t at = number;
    for (std::vector<uint64_t>& level : levels_) {
      uint64_t& word = level[at / 64];
      word &= word - 1;  // The smallest of a word is its lowest bit.
      if (word != 0) break;
      at /= 64;
    }
    return number;
  }

 private:
  std::vector<std::vector<uint64_t>> levels_;
};

// Steps of one operation for each queue.
class ListSchedule {
 public:
  ListSchedule(const OrderReduction& order, const PathCover& cover, uint32_t queue_count)
      : cover_(cover),
        first_successor_(order.count() + 1, 0),
        missing_(order.count()),
        ready_(std::max<size_t>(1, order.count())),
        last_uses_(queue_count, 0) {
    assignment_.queues.assign(order.count(), kNoOperation);
    assignment_.issued.reserve(order.count());
    assignment_.queue_count = queue_count;
    assignment_.is_fully_concurrent = false;
    for (uint32_t i = 0; i < order.count(); ++i) {
      missing_[i] = static_cast<uint32_t>(order.predecessors(i).size());
      if (missing_[i] == 0) ready_.push(i);
      for (const uint32_t before : order.predecessors(i)) ++first_successor_[before + 1];
    }
    std::partial_sum(first_successor_.begin(), first_successor_.end(), first_successor_.begin());
    successors_.resize(order.all_predecessors().pair_count());
    std::vector<uint32_t> next = first_successor_;
    for (uint32_t i = 0; i < order.count(); ++i) {
      for (const uint32_t before : order.predecessors(i)) successors_[next[before]++] = i;
    }
  }

  QueueAssignment run() {
    while (!ready_.empty() && !is_stopped()) take_step();
    leave_out_unused();
    return std::move(assignment_);
  }

 private:
  void take_step() {
    taken_.clear();
    while (taken_.size() < assignment_.queue_count && !ready_.empty()) {
      taken_.push_back(ready_.pop());
    }
    ++step_;
    for (const uint32_t operation : taken_) {
      const uint32_t before = cover_.previous[operation];
      if (before == kNoOperation) continue;
      const uint32_t queue = assignment_.queues[before];
      if (last_uses_[queue] == step_) continue;
      last_uses_[queue] = step_;
      assignment_.queues[operation] = queue;
    }
    uint32_t free_queue = 0;
    for (const uint32_t operation : taken_) {
      if (assignment_.queues[operation] == kNoOperation) {
        while (last_uses_[free_queue] == step_) ++free_queue;
        assignment_.queues[operation] = free_queue++;
      }
      issue(operation);
    }
  }

  void issue(uint32_t operation) {
    assignment_.issued.push_back(operation);
    for (uint32_t k = first_successor_[operation]; k < first_successor_[operation + 1]; ++k) {
      if (--missing_[successors_[k]] == 0) ready_.push(successors_[k]);
    }
  }

  // Where the paths say too often the same queue, another one may never be used.
  void leave_out_unused() {
    std::vector<uint32_t> new_queue(assignment_.queue_count, kNoOperation);
    uint32_t count = 0;
    for (const uint32_t operation : assignment_.issued) {
      uint32_t& queue = assignment_.queues[operation];
      if (new_queue[queue] == kNoOperation) new_queue[queue] = count++;
      queue = new_queue[queue];
    }
    assignment_.queue_count = count;
  }

  const PathCover& cover_;
  std::vector<uint32_t> first_successor_;  // By operation, and one more: into successors_.
  std::vector<uint32_t> successors_;
  std::vector<uint32_t> missing_;  // By operation: predecessors that have not run.
  SmallestFirst ready_;
  std::vector<uint32_t> taken_;      // In this step.
  std::vector<uint32_t> last_uses_;  // By queue: the last step that took it for a path; 0: none.
  uint32_t step_ = 0;
  QueueAssignment assignment_;
};

// The most of one depth, of which no two are ordered: chains are as many at least.
uint32_t operations_of_one_depth(const OrderReduction& order) {
  std::vector<uint32_t> depths(order.count(), 0);
  std::vector<uint32_t> counts(order.count() + 1, 0);
  for (size_t i = 0; i < order.count(); ++i) {
    for (const uint32_t before : order.predecessors(i)) {
      depths[i] = std::max(depths[i], depths[before] + 1);
    }
    ++counts[depths[i]];
  }
  return *std::ranges::max_element(counts);
}

}  // namespace

QueueAssignment assign_queues(const OrderReduction& order, uint32_t queue_count_max) {
  PathCover cover = cover_by_paths(order);
  const uint32_t limit = queue_count_max == 0 ? cover.path_count : queue_count_max;
  if (cover.path_count > limit) {
    const bool may_be_joined =
        order.count() <= kJoinedOperationsMax && operations_of_one_depth(order) <= limit;
    PathCover joined = may_be_joined ? cover : PathCover();
    if (!may_be_joined || !join_paths(joined, order, limit)) {
      return ListSchedule(order, cover, limit).run();
    }
    cover = std::move(joined);
  }
  QueueAssignment assignment;
  assignment.queues = cover.paths();
  assignment.issued.resize(order.count());
  std::iota(assignment.issued.begin(), assignment.issued.end(), 0u);
  assignment.queue_count = cover.path_count;
  return assignment;
}

}  // namespace interlock
