// PathCover: operations on as few paths as can be, each path a chain of the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/queues/order_reduction.h"

namespace interlock {

inline constexpr uint32_t kNoOperation = UINT32_MAX;

struct PathCover {
  std::vector<uint32_t> next;      // By operation: the next on its path; kNoOperation at the end.
  std::vector<uint32_t> previous;  // Likewise, at the start.
  uint32_t path_count = 0;

  // By operation: its path. Paths count from 0 by their first operations.
  std::vector<uint32_t> paths() const;
};

// Returns the fewest paths along edges of the reduction: a maximum matching of operations with
// their successors (W. Kwon, G.-I. Yu, E. Jeong, B.-G. Chun, "Nimble", NeurIPS 2020, where each
// path is a stream: no assignment that keeps all concurrency needs fewer waits, as one is left for
// each edge that is on no path). Matched by J. E. Hopcroft, R. M. Karp, SIAM Journal on Computing
// 2(4), 1973. A stop ends it early. Cost: O(e sqrt(n)) for n operations and e edges of the
// reduction.
PathCover cover_by_paths(const OrderReduction& order);

// Makes do with at most `path_count_max` paths if any chains of the order do: neighbours on a path
// are then ordered, and need be no edge of the reduction. The fewest possible is the order's width
// (R. P. Dilworth, Annals of Mathematics 51(1), 1950). Returns whether there are so few now.
// Cost: O(p sqrt(n)) for p ordered pairs, and 4 bytes for each.
bool join_paths(PathCover& cover, const OrderReduction& order, uint32_t path_count_max);

}  // namespace interlock
