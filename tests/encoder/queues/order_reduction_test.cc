// The reduction against all sets of edges.
#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "encoder/queues/order_reduction.h"
#include "tests/encoder/queues/obvious_order.h"

namespace interlock::order_reduction_test {
namespace {

TEST(OrderReduction, IsTheOneSmallestSetOfEdgesOfEveryOrderOfFiveOperations) {
  constexpr uint32_t kOperations = 5;
  constexpr uint64_t kEdgeSets = 1 << (kOperations * (kOperations - 1) / 2);
  struct Smallest {
    uint64_t edges = 0;
    int count = 0;  // Sets that are as small.
  };
  std::map<OrderTable, Smallest> smallest;
  for (uint64_t edges = 0; edges < kEdgeSets; ++edges) {
    Smallest& known = smallest[closure_of(predecessors_of(edges, kOperations))];
    const int fewer = std::popcount(known.edges) - std::popcount(edges);
    if (known.count == 0 || fewer > 0) {
      known = {edges, 1};
    } else if (fewer == 0) {
      ++known.count;
    }
  }
  for (uint64_t edges = 0; edges < kEdgeSets; ++edges) {
    const Predecessors given = predecessors_of(edges, kOperations);
    const OrderReduction reduction(given);
    const OrderClosure closure(reduction);
    const OrderTable order = closure_of(given);
    const Smallest& expected = smallest.at(order);
    ASSERT_EQ(expected.count, 1) << edges;
    ASSERT_EQ(reduction.all_predecessors(), predecessors_of(expected.edges, kOperations)) << edges;
    for (uint32_t a = 0; a < kOperations; ++a) {
      for (uint32_t b = 0; b < kOperations; ++b) {
        ASSERT_EQ(closure.is_ordered(a, b), order[a][b]) << edges << ": " << a << ", " << b;
      }
    }
  }
}

TEST(OrderReduction, GoesAcrossWordsOfBits) {
  PredecessorLists chain(200);
  for (uint32_t i = 1; i < 200; ++i) {
    chain[i] = {i - 1};
    if (i >= 70) chain[i].push_back(i - 70);
  }
  const OrderReduction reduction(chain);
  EXPECT_EQ(edge_count_of(reduction.all_predecessors()), 199u);
  const OrderClosure closure(reduction);
  EXPECT_TRUE(closure.is_ordered(0, 199));
  EXPECT_TRUE(closure.is_ordered(63, 64));
  EXPECT_FALSE(closure.is_ordered(199, 0));
}

}  // namespace
}  // namespace interlock::order_reduction_test
