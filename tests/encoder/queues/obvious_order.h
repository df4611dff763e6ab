// Orders of few operations as tables, by definition: what the tests of encoder/queues compare with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/queues/order_reduction.h"

namespace interlock {

// [a][b]: a comes before b.
using OrderTable = std::vector<std::vector<bool>>;

// S. Warshall, "A Theorem on Boolean Matrices", Journal of the ACM 9(1), 1962.
inline void close_under_paths(OrderTable& order) {
  for (size_t by = 0; by < order.size(); ++by) {
    for (size_t a = 0; a < order.size(); ++a) {
      for (size_t b = 0; b < order.size(); ++b) {
        if (order[a][by] && order[by][b]) order[a][b] = true;
      }
    }
  }
}

inline OrderTable closure_of(const Predecessors& predecessors) {
  OrderTable order(predecessors.size(), std::vector<bool>(predecessors.size(), false));
  for (size_t b = 0; b < predecessors.size(); ++b) {
    for (const uint32_t a : predecessors[b]) order[a][b] = true;
  }
  close_under_paths(order);
  return order;
}

// The edges of `operation_count` operations that the bits of `edges` say, pair by pair.
inline Predecessors predecessors_of(uint64_t edges, uint32_t operation_count) {
  PredecessorLists predecessors(operation_count);
  int bit = 0;
  for (uint32_t b = 0; b < operation_count; ++b) {
    for (uint32_t a = 0; a < b; ++a) {
      if ((edges >> bit++ & 1) != 0) predecessors[b].push_back(a);
    }
  }
  return predecessors;
}

inline uint64_t edge_count_of(const Predecessors& predecessors) {
  return predecessors.pair_count();
}

}  // namespace interlock
