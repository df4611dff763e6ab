// Assignments against all there are: the fewest paths, the width, and the shortest run.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "encoder/queues/assign_queues.h"
#include "encoder/queues/path_cover.h"
#include "simulator/schedules/choice.h"
#include "tests/encoder/queues/obvious_order.h"
#include "tests/program_count.h"

namespace interlock::assign_queues_test {
namespace {

constexpr uint32_t kOperations = 7;

Predecessors random_order(Choice& choice) {
  const uint64_t density = 1 + choice.below(6);
  PredecessorLists predecessors(1 + choice.below(kOperations));
  for (uint32_t b = 0; b < predecessors.size(); ++b) {
    for (uint32_t a = 0; a < b; ++a) {
      if (choice.chance(density, 8)) predecessors[b].push_back(a);
    }
  }
  return predecessors;
}

// The fewest paths along `edges` that have every operation once: all ways to go on from a path.
uint32_t fewest_paths(const OrderTable& edges, uint32_t at, std::vector<uint32_t>& ends) {
  if (at == edges.size()) return static_cast<uint32_t>(ends.size());
  ends.push_back(at);
  uint32_t fewest = fewest_paths(edges, at + 1, ends);
  ends.pop_back();
  for (size_t i = 0; i < ends.size(); ++i) {
    const uint32_t end = ends[i];
    if (!edges[end][at]) continue;
    ends[i] = at;
    fewest = std::min(fewest, fewest_paths(edges, at + 1, ends));
    ends[i] = end;
  }
  return fewest;
}

uint32_t fewest_paths(const OrderTable& edges) {
  std::vector<uint32_t> ends;
  return fewest_paths(edges, 0, ends);
}

OrderTable table_of_edges(const Predecessors& edges) {
  OrderTable table(edges.size(), std::vector<bool>(edges.size(), false));
  for (size_t b = 0; b < edges.size(); ++b) {
    for (const uint32_t a : edges[b]) table[a][b] = true;
  }
  return table;
}

// The most operations of which no two are ordered.
uint32_t width_of(const OrderTable& order) {
  int width = 0;
  for (uint32_t set = 0; set < 1u << order.size(); ++set) {
    bool is_antichain = true;
    for (size_t a = 0; a < order.size(); ++a) {
      for (size_t b = 0; b < order.size(); ++b) {
        const bool has_both = (set >> a & 1) != 0 && (set >> b & 1) != 0;
        is_antichain &= !(has_both && order[a][b]);
      }
    }
    if (is_antichain) width = std::max(width, std::popcount(set));
  }
  return static_cast<uint32_t>(width);
}

// The fewest steps of at most `queue_count` operations each, over all sets that have run.
uint32_t fewest_steps(const OrderTable& order, uint32_t queue_count) {
  const uint32_t all = (1u << order.size()) - 1;
  std::vector<uint32_t> steps(all + 1, UINT32_MAX);
  steps[0] = 0;
  for (uint32_t done = 0; done < all; ++done) {
    if (steps[done] == UINT32_MAX) continue;
    uint32_t ready = 0;
    for (size_t b = 0; b < order.size(); ++b) {
      bool may_run = (done >> b & 1) == 0;
      for (size_t a = 0; a < order.size(); ++a) may_run &= !order[a][b] || (done >> a & 1) != 0;
      ready |= static_cast<uint32_t>(may_run) << b;
    }
    for (uint32_t step = ready; step != 0; step = (step - 1) & ready) {
      if (std::popcount(step) > static_cast<int>(queue_count)) continue;
      steps[done | step] = std::min(steps[done | step], steps[done] + 1);
    }
  }
  return steps[all];
}

// How many steps the queues take if each begins an operation as soon as it may.
uint32_t steps_of(const OrderTable& order, const QueueAssignment& assignment) {
  std::vector<uint32_t> end(order.size(), 0);
  std::vector<uint32_t> end_of_queue(assignment.queue_count, 0);
  uint32_t last = 0;
  for (const uint32_t operation : assignment.issued) {
    uint32_t& queue_end = end_of_queue[assignment.queues[operation]];
    uint32_t begin = queue_end;
    for (size_t a = 0; a < order.size(); ++a) {
      if (order[a][operation]) begin = std::max(begin, end[a]);
    }
    end[operation] = queue_end = begin + 1;
    last = std::max(last, queue_end);
  }
  return last;
}

// Whether the queues order anything that was not, or issue it against the order.
bool adds_order(const OrderTable& order, const QueueAssignment& assignment) {
  bool adds = false;
  for (size_t i = 0; i < assignment.issued.size(); ++i) {
    for (size_t j = i + 1; j < assignment.issued.size(); ++j) {
      const uint32_t a = assignment.issued[i];
      const uint32_t b = assignment.issued[j];
      EXPECT_FALSE(order[b][a]) << "issued against the order";
      adds |= assignment.queues[a] == assignment.queues[b] && !order[a][b];
    }
  }
  return adds;
}

uint32_t queues_used(const QueueAssignment& assignment) {
  std::vector<uint32_t> queues = assignment.queues;
  std::sort(queues.begin(), queues.end());
  queues.erase(std::unique(queues.begin(), queues.end()), queues.end());
  return static_cast<uint32_t>(queues.size());
}

TEST(PathCover, HasTheFewestPathsAndThenTheFewestChains) {
  SeededChoice choice(71);
  const int count = program_count(3000);
  int joined_count = 0;
  for (int i = 0; i < count; ++i) {
    const Predecessors given = random_order(choice);
    const OrderReduction reduction(given);
    PathCover cover = cover_by_paths(reduction);
    ASSERT_EQ(cover.path_count, fewest_paths(table_of_edges(reduction.all_predecessors()))) << i;
    const uint32_t width = width_of(closure_of(given));
    joined_count += cover.path_count > width;
    EXPECT_FALSE(join_paths(cover, reduction, width - 1)) << i;
    ASSERT_EQ(cover.path_count, width) << i;
  }
  EXPECT_GT(joined_count, count / 300);
}

TEST(AssignQueues, KeepsAllConcurrencyIffThereAreAsManyQueuesAsTheWidth) {
  SeededChoice choice(72);
  const int count = program_count(3000);
  for (int i = 0; i < count; ++i) {
    const Predecessors given = random_order(choice);
    const OrderTable order = closure_of(given);
    const OrderReduction reduction(given);
    const uint32_t queue_count = static_cast<uint32_t>(choice.below(5));
    const QueueAssignment assignment = assign_queues(reduction, queue_count);
    ASSERT_EQ(assignment.issued.size(), given.size());
    const bool has_enough = queue_count == 0 || queue_count >= width_of(order);
    EXPECT_EQ(assignment.is_fully_concurrent, has_enough) << i;
    EXPECT_EQ(adds_order(order, assignment), !has_enough) << i;
    EXPECT_EQ(queues_used(assignment), assignment.queue_count) << i;
    if (queue_count > 0) {
      EXPECT_LE(assignment.queue_count, queue_count) << i;
    }
  }
}

TEST(AssignQueues, TakesLessThanTwiceTheShortestRunOnFewQueues) {
  SeededChoice choice(73);
  const int count = program_count(2000);
  int worse_count = 0;
  for (int i = 0; i < count; ++i) {
    const Predecessors given = random_order(choice);
    const OrderTable order = closure_of(given);
    const uint32_t queue_count = 1 + static_cast<uint32_t>(choice.below(3));
    const uint32_t steps = steps_of(order, assign_queues(OrderReduction(given), queue_count));
    const uint32_t fewest = fewest_steps(order, queue_count);
    // steps <= (2 - 1 / queues) fewest.
    ASSERT_LE(steps * queue_count, (2 * queue_count - 1) * fewest) << i;
    ASSERT_GE(steps, fewest) << i;
    worse_count += steps > fewest;
  }
  EXPECT_GT(worse_count, 0) << "The bound says nothing if the heuristic is always exact.";
}

}  // namespace
}  // namespace interlock::assign_queues_test
