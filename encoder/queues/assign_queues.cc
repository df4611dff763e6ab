#include "encoder/queues/assign_queues.h"

#include <numeric>
#include <set>
#include <utility>

#include "encoder/program/stop.h"
#include "encoder/queues/path_cover.h"

namespace interlock {
namespace {

// Steps of one operation for each queue.
class ListSchedule {
 public:
  ListSchedule(const OrderReduction& order, const PathCover& cover, uint32_t queue_count)
      : cover_(cover), successors_(order.count()), missing_(order.count()) {
    assignment_.queues.assign(order.count(), kNoOperation);
    assignment_.queue_count = queue_count;
    assignment_.is_fully_concurrent = false;
    for (uint32_t i = 0; i < order.count(); ++i) {
      missing_[i] = order.predecessors(i).size();
      if (missing_[i] == 0) ready_.insert(i);
      for (const uint32_t before : order.predecessors(i)) successors_[before].push_back(i);
    }
  }

  QueueAssignment run() {
    while (!ready_.empty() && !is_stopped()) take_step();
    leave_out_unused();
    return std::move(assignment_);
  }

 private:
  void take_step() {
    std::vector<uint32_t> taken;
    while (taken.size() < assignment_.queue_count && !ready_.empty()) {
      taken.push_back(*ready_.begin());
      ready_.erase(ready_.begin());
    }
    std::vector<bool> is_used(assignment_.queue_count, false);
    for (const uint32_t operation : taken) {
      const uint32_t before = cover_.previous[operation];
      if (before == kNoOperation) continue;
      const uint32_t queue = assignment_.queues[before];
      if (is_used[queue]) continue;
      is_used[queue] = true;
      assignment_.queues[operation] = queue;
    }
    uint32_t free_queue = 0;
    for (const uint32_t operation : taken) {
      if (assignment_.queues[operation] == kNoOperation) {
        while (is_used[free_queue]) ++free_queue;
        assignment_.queues[operation] = free_queue++;
      }
      issue(operation);
    }
  }

  void issue(uint32_t operation) {
    assignment_.issued.push_back(operation);
    for (const uint32_t successor : successors_[operation]) {
      if (--missing_[successor] == 0) ready_.insert(successor);
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
  Predecessors successors_;
  std::vector<size_t> missing_;  // By operation: predecessors that have not run.
  std::set<uint32_t> ready_;
  QueueAssignment assignment_;
};

}  // namespace

QueueAssignment assign_queues(const OrderReduction& order, uint32_t queue_count_max) {
  PathCover cover = cover_by_paths(order);
  const uint32_t limit = queue_count_max == 0 ? cover.path_count : queue_count_max;
  if (cover.path_count > limit) {
    PathCover joined = cover;
    const bool is_joined =
        order.count() <= kJoinedOperationsMax && join_paths(joined, order, limit);
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
