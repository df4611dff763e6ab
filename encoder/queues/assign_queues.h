// assign_queues: which serial queue each dispatch goes to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/queues/order_reduction.h"

namespace interlock {

struct QueueAssignment {
  std::vector<uint32_t> queues;  // By operation; counted from 0 as they are first used.
  std::vector<uint32_t> issued;  // The operations as they are to be issued.
  uint32_t queue_count = 0;
  // Operations of one queue are ordered anyway: the queues take away no concurrency.
  bool is_fully_concurrent = true;
};

// Up to so many operations chains of the whole order are tried: they are pairs, a square.
inline constexpr size_t kJoinedOperationsMax = 4096;

// Assigns at most `queue_count_max` queues to the operations of `order`; 0: as many as it takes for
// the fewest waits that keep all concurrency.
//
// Where the paths of cover_by_paths() are few enough they are the queues; else, up to
// kJoinedOperationsMax operations, chains of the whole order if these are few enough, which keep
// all concurrency and may take more waits. Else, by a heuristic, list scheduling: in each step as
// many operations as there are queues, the first by index of those that may run, each on the queue
// of its path where that is free. If every operation takes one step and waits take none, that run,
// in the order of steps in which they are issued, takes at most 2 - 1 / queues as long as the
// shortest one (R. L. Graham, "Bounds for Certain Multiprocessing Anomalies", Bell System Technical
// Journal 45(9), 1966). A stop ends it early. Cost: that of cover_by_paths() and join_paths(); else
// O(n (log n + queues)).
QueueAssignment assign_queues(const OrderReduction& order, uint32_t queue_count_max);

}  // namespace interlock
