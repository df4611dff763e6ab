#include "encoder/queues/assign_queues.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "encoder/program/stop.h"
#include "encoder/queues/path_cover.h"

namespace interlock {
namespace {

// Steps of one operation for each queue.
class ListSchedule {
 public:
  ListSchedule(const OrderReduction& order, const PathCover& cover, uint32_t queue_count)
      : cover_(cover), first_successor_(order.count() + 1, 0), missing_(order.count()) {
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
      taken_.push_back(ready_.top());
      ready_.pop();
    }
    is_used_.assign(assignment_.queue_count, false);
    for (const uint32_t operation : taken_) {
      const uint32_t before = cover_.previous[operation];
      if (before == kNoOperation) continue;
      const uint32_t queue = assignment_.queues[before];
      if (is_used_[queue]) continue;
      is_used_[queue] = true;
      assignment_.queues[operation] = queue;
    }
    uint32_t free_queue = 0;
    for (const uint32_t operation : taken_) {
      if (assignment_.queues[operation] == kNoOperation) {
        while (is_used_[free_queue]) ++free_queue;
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
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready_;
  std::vector<uint32_t> taken_;  // In this step.
  std::vector<bool> is_used_;    // By queue, in this step.
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
    PathCover joined = cover;
    const bool is_joined = order.count() <= kJoinedOperationsMax &&
                           operations_of_one_depth(order) <= limit &&
                           join_paths(joined, order, limit);
    if (!is_joined) return ListSchedule(order, cover, limit).run();
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
