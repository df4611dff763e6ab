// Parts of graphs of dispatches: alone they have the order of the whole, and as one node of the
// whole that which follows from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/cuda/conflict_graph.h"
#include "backends/cuda/graph_parts.h"
#include "encoder/text/printer.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/schedules/choice.h"
#include "tests/backends/cuda/dispatch_relations.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_programs.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::cuda_graph_parts_test {
namespace {

std::vector<DispatchRange> random_ranges(size_t dispatch_count, Choice& choice) {
  std::vector<DispatchRange> ranges;
  for (size_t d = choice.below(3); d < dispatch_count; d += choice.below(3)) {
    const size_t end = std::min(dispatch_count, d + 1 + choice.below(4));
    ranges.push_back({DispatchId(d), DispatchId(end)});
    d = end;
  }
  return ranges;
}

// The order among ranges and what is outside of them, by first dispatches.
Relation contracted(const Relation& whole, const std::vector<DispatchRange>& ranges) {
  const size_t n = whole.size();
  std::vector<size_t> stand_in(n);
  for (size_t d = 0; d < n; ++d) stand_in[d] = d;
  for (const DispatchRange& range : ranges) {
    for (size_t d = range.begin.index; d < range.end.index; ++d) stand_in[d] = range.begin.index;
  }
  Relation relation(n, std::vector<bool>(n));
  for (size_t first = 0; first < n; ++first) {
    for (size_t second = first + 1; second < n; ++second) {
      const size_t a = stand_in[first];
      const size_t b = stand_in[second];
      if (a != b && whole[first][second]) relation[a][b] = true;
    }
  }
  for (size_t k = 0; k < n; ++k) {
    for (size_t a = 0; a < k; ++a) {
      if (relation[a][k]) include(relation[a], relation[k]);
    }
  }
  return relation;
}

void expect_parts_of(const Program& program, const DispatchGraph& graph, Choice& choice) {
  const std::vector<DispatchRange> ranges = random_ranges(program.dispatches.size(), choice);
  const GraphParts parts(graph);
  const Relation whole = reachability(program, graph);
  const DispatchGraph outside = parts.contracted(ranges);
  ASSERT_EQ(reachability(program, outside), contracted(whole, ranges)) << print(program);
  for (const DispatchRange& range : ranges) {
    Relation inside(whole.size(), std::vector<bool>(whole.size()));
    for (size_t first = range.begin.index; first < range.end.index; ++first) {
      for (size_t second = first + 1; second < range.end.index; ++second) {
        inside[first][second] = whole[first][second];
      }
    }
    ASSERT_EQ(reachability(program, parts.part(range)), inside) << print(program);
  }
}

TEST(CudaGraphParts, HaveTheOrderOfTheWholeInRandomPrograms) {
  RandomProgramOptions options;
  options.dispatch_count_max = 14;
  for (uint64_t seed = 1; seed <= program_count(2000); ++seed) {
    SeededChoice choice(seed);
    const Program program = random_program(choice, options);
    expect_parts_of(program, graph_of(program, HappensBefore(program)), choice);
    expect_parts_of(program, conflict_graph_of(program, ByteSegments(program)).value(), choice);
    expect_parts_of(program, chain_of(program), choice);
  }
}

// Stages wait for different prefixes, so that a join among the dispatches of a range may be waited
// for after it.
TEST(CudaGraphParts, HaveTheOrderOfTheWholeInRandomProgramsWithScopes) {
  for (uint64_t seed = 1; seed <= program_count(3000); ++seed) {
    SeededChoice choice(seed);
    const Program program =
        tiny_scoped_program(choice, {.dispatch_count = 4 + seed % 8, .dependency_count = 2});
    expect_parts_of(program, graph_of(program, HappensBefore(program)), choice);
  }
  RandomScopedProgramOptions options;
  options.dispatch_count_max = 12;
  options.command_count_max = 9;
  for (uint64_t seed = 1; seed <= program_count(2000); ++seed) {
    SeededChoice choice(seed);
    const Program program = random_scoped_program(choice, options);
    expect_parts_of(program, graph_of(program, HappensBefore(program)), choice);
  }
}

// c waits for the join of a and b, of which only a is outside of the range b c.
TEST(CudaGraphParts, WaitForWhatAJoinWithinThemStandsFor) {
  const Program program = parsed(R"(interlock 1
memory m 64
dispatch A reads m
dispatch B reads m
barrier
dispatch C reads m
dispatch D reads m
)");
  const DispatchGraph graph = graph_of(program, HappensBefore(program));
  ASSERT_EQ(graph.nodes.size(), 5);
  const GraphParts parts(graph);
  const DispatchGraph whole =
      parts.contracted(std::vector{DispatchRange{DispatchId(1), DispatchId(3)}});
  ASSERT_EQ(whole.nodes.size(), 4);  // A, B with C, the join that D waits for, D.
  EXPECT_THAT(whole.predecessors_of(whole.nodes[1]), testing::ElementsAre(0));
  EXPECT_TRUE(whole.nodes[2].is_join());
  EXPECT_THAT(whole.predecessors_of(whole.nodes[2]), testing::ElementsAre(0, 1));
  EXPECT_THAT(whole.predecessors_of(whole.nodes[3]), testing::ElementsAre(2));
  const DispatchGraph last_three =
      parts.contracted(std::vector{DispatchRange{DispatchId(1), DispatchId(4)}});
  EXPECT_EQ(last_three.nodes.size(), 2);  // Nobody waits for the join any more.
}

}  // namespace
}  // namespace interlock::cuda_graph_parts_test
