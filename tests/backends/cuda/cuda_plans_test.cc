// The plans of the CUDA backend have the order of the program and no more: in the graph of a
// program, and in its plan for enough streams, one dispatch is reachable from another iff
// happens-before orders them; joins keep the edges linear.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/cuda/dispatch_graph.h"
#include "backends/cuda/stream_plan.h"
#include "encoder/text/printer.h"
#include "simulator/schedules/choice.h"
#include "tests/backends/cuda/dispatch_relations.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_programs.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::cuda_plans_test {
namespace {

constexpr uint32_t kStreamCountUnbounded = UINT32_MAX;

Relation reachability(const Program& program, const StreamPlan& plan) {
  const size_t n = program.dispatches.size();
  Relation relation(n, std::vector<bool>(n));
  std::vector<Set> of_stream(plan.stream_count, Set(n));
  std::vector<Set> of_event(plan.event_count, Set(n));
  for (const StreamAction& action : plan.actions) {
    Set& stream = of_stream.at(action.stream);
    switch (action.kind) {
      case StreamAction::Kind::kLaunch:
        for (size_t first = 0; first < n; ++first) relation[first][action.index] = stream[first];
        stream[action.index] = true;
        break;
      case StreamAction::Kind::kRecord:
        of_event.at(action.index) = stream;
        break;
      case StreamAction::Kind::kWait:
        include(stream, of_event.at(action.index));
        break;
    }
  }
  return relation;
}

void expect_the_order_of(const Program& program) {
  const HappensBefore order(program);
  const DispatchGraph graph = graph_of(program, order);
  const Relation expected = relation_of(program, order);
  ASSERT_EQ(reachability(program, graph), expected) << print(program);
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const StreamPlan plan = plan_streams(graph, kStreamCountUnbounded, seed);
    ASSERT_EQ(reachability(program, plan), expected) << "seed " << seed << "\n" << print(program);
  }
}

std::vector<uint32_t> launches_of(const StreamPlan& plan) {
  std::vector<uint32_t> launches;
  for (const StreamAction& action : plan.actions) {
    if (action.kind == StreamAction::Kind::kLaunch) launches.push_back(action.index);
  }
  return launches;
}

TEST(CudaPlans, HaveTheOrderOfRandomPrograms) {
  RandomProgramOptions options;
  options.dispatch_count_max = 12;
  for (uint64_t seed = 1; seed <= program_count(2000); ++seed) {
    SeededChoice choice(seed);
    expect_the_order_of(random_program(choice, options));
  }
}

TEST(CudaPlans, HaveTheOrderOfRandomProgramsWithScopes) {
  RandomScopedProgramOptions options;
  options.dispatch_count_max = 10;
  options.command_count_max = 7;
  for (uint64_t seed = 1; seed <= program_count(4000); ++seed) {
    SeededChoice choice(seed);
    expect_the_order_of(random_scoped_program(choice, options));
  }
}

TEST(CudaPlans, HaveTheOrderOfRandomProgramsOfCopiesAndComputeWork) {
  for (uint64_t seed = 1; seed <= program_count(3000); ++seed) {
    SeededChoice choice(seed);
    expect_the_order_of(
        tiny_scoped_program(choice, {.dispatch_count = 4 + seed % 8, .dependency_count = 2}));
  }
}

TEST(CudaPlans, OnFewStreamsAddTheOrderWithinAStreamAndNoOther) {
  RandomProgramOptions options;
  options.dispatch_count_max = 12;
  for (uint64_t seed = 1; seed <= program_count(1000); ++seed) {
    SeededChoice choice(seed);
    const Program program = random_program(choice, options);
    const DispatchGraph graph = graph_of(program, HappensBefore(program));
    const auto stream_count = static_cast<uint32_t>(1 + seed % 4);
    const StreamPlan plan = plan_streams(graph, stream_count, seed);
    // The graph with the order within streams as edges of its own.
    std::vector<uint32_t> stream_of(program.dispatches.size());
    for (const StreamAction& action : plan.actions) {
      if (action.kind == StreamAction::Kind::kLaunch) stream_of[action.index] = action.stream;
    }
    Relation expected = relation_of(program, HappensBefore(program));
    const size_t n = expected.size();
    for (size_t second = 0; second < n; ++second) {
      for (size_t first = 0; first < second; ++first) {
        if (stream_of[first] == stream_of[second]) expected[first][second] = true;
      }
    }
    // Closed under chains; dispatches are in issue order, so going up is enough.
    for (size_t third = 0; third < n; ++third) {
      for (size_t second = third; second-- > 0;) {
        if (!expected[second][third]) continue;
        for (size_t first = 0; first < second; ++first) {
          if (expected[first][second]) expected[first][third] = true;
        }
      }
    }
    ASSERT_EQ(reachability(program, plan), expected) << stream_count << "\n" << print(program);
    std::sort(stream_of.begin(), stream_of.end());
    stream_of.erase(std::unique(stream_of.begin(), stream_of.end()), stream_of.end());
    EXPECT_LE(stream_of.size(), stream_count);
  }
}

TEST(CudaPlans, LaunchEveryDispatchOnceInIssueOrder) {
  SeededChoice choice(1);
  const Program program =
      random_program(choice, {.dispatch_count_min = 30, .dispatch_count_max = 30});
  const DispatchGraph graph = graph_of(program, HappensBefore(program));
  std::vector<uint32_t> expected;
  for (uint32_t d = 0; d < 30; ++d) expected.push_back(d);
  EXPECT_EQ(launches_of(plan_streams(graph, 4, 0)), expected);
  const StreamPlan one = plan_streams(chain_of(program), 1, 0);
  EXPECT_EQ(one.stream_count, 1);
  EXPECT_EQ(one.actions.size(), 30);  // No events.
  EXPECT_EQ(launches_of(one), expected);
}

// `count` dispatches, a barrier, and so on.
Program epochs(const std::vector<int>& counts, const char* barrier = "barrier") {
  std::string text = "interlock 1\nmemory m 64\n";
  for (size_t i = 0; i < counts.size(); ++i) {
    if (i > 0) text += fmt::format("{}\n", barrier);
    for (int k = 0; k < counts[i]; ++k) text += "dispatch K reads m\n";
  }
  return parsed(text);
}

size_t join_count(const DispatchGraph& graph) {
  return static_cast<size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [](const DispatchGraph::Node& node) { return node.is_join(); }));
}

TEST(CudaPlans, JoinABarrierBetweenManyDispatchesInsteadOfAnEdgePerPair) {
  const Program program = epochs({20, 30, 40});
  const DispatchGraph graph = graph_of(program, HappensBefore(program));
  EXPECT_EQ(join_count(graph), 2);
  EXPECT_EQ(graph.predecessors.size(), 20 + 30 + 30 + 40);
}

TEST(CudaPlans, HaveNoJoinWhereItSavesNoEdge) {
  for (const std::vector<int>& counts : std::vector<std::vector<int>>{{1, 5}, {5, 1}, {1, 1, 1}}) {
    const Program program = epochs(counts);
    const DispatchGraph graph = graph_of(program, HappensBefore(program));
    EXPECT_EQ(join_count(graph), 0);
    EXPECT_EQ(graph.predecessors.size(), counts.size() == 2 ? 5u : 2u);
  }
}

TEST(CudaPlans, OrderByAnExecutionBarrierAsByAFullOne) {
  const Program full = epochs({2, 3, 2});
  const Program execution = epochs({2, 3, 2}, "barrier execution");
  EXPECT_EQ(graph_of(full, HappensBefore(full)).predecessors,
            graph_of(execution, HappensBefore(execution)).predecessors);
}

TEST(CudaPlans, LeaveUnorderedWhatAScopedBarrierDoesNotName) {
  const Program program = parsed(R"(interlock 1
memory m 64
dispatch K reads m
dispatch fill writes m[0:4] value=1
barrier copy -> compute
dispatch K reads m
)");
  const DispatchGraph graph = graph_of(program, HappensBefore(program));
  ASSERT_EQ(graph.nodes.size(), 3);
  EXPECT_THAT(graph.predecessors_of(graph.nodes[2]), testing::ElementsAre(1));
}

// Copies that do not wait for each other, and compute work that waits for all of them so far.
TEST(CudaPlans, ContinueAPrefixOfOneStage) {
  const Program program = parsed(R"(interlock 1
memory m 64
dispatch fill writes m[0:4] value=1
barrier copy -> compute
dispatch K reads m
dispatch fill writes m[4:8] value=1
barrier copy -> compute
dispatch K reads m
dispatch K reads m
)");
  expect_the_order_of(program);
  const DispatchGraph graph = graph_of(program, HappensBefore(program));
  EXPECT_EQ(join_count(graph), 1);
  EXPECT_EQ(graph.predecessors.size(), 1 + 2 + 2);
}

// One stream per chain, and no event where a stream orders by itself.
TEST(CudaPlans, KeepAChainOnOneStream) {
  const Program program = epochs({1, 1, 1, 1});
  const StreamPlan plan =
      plan_streams(graph_of(program, HappensBefore(program)), kStreamCountUnbounded, 0);
  EXPECT_EQ(plan.stream_count, 1);
  EXPECT_EQ(plan.event_count, 0);
  EXPECT_EQ(plan.actions.size(), 4);
}

TEST(CudaPlans, SpreadWhatMayOverlapOverTheStreamsThereAre) {
  const Program program = epochs({4, 4});
  const DispatchGraph graph = graph_of(program, HappensBefore(program));
  EXPECT_EQ(plan_streams(graph, kStreamCountUnbounded, 0).stream_count, 4);
  EXPECT_EQ(plan_streams(graph, 2, 0).stream_count, 2);
}

TEST(CudaPlans, StayLinearOnManyBarriers) {
  const Program program = epochs(std::vector<int>(500, 8));
  const DispatchGraph graph = graph_of(program, HappensBefore(program));
  EXPECT_EQ(graph.predecessors.size(), 499 * 16);
  const StreamPlan plan = plan_streams(graph, 8, 0);
  EXPECT_LE(plan.actions.size(), 500 * (8 + 2 * (7 + 1 + 7)));
  EXPECT_LE(plan.event_count, 16);
}

}  // namespace
}  // namespace interlock::cuda_plans_test
