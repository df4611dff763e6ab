// The conflict graph has the order of the conflicts, neither more nor less, in the fewest edges:
// both are compared with what pairs of operands, byte ranges and all paths say by brute force.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/conflict_graph.h"
#include "encoder/text/files.h"
#include "encoder/text/printer.h"
#include "simulator/schedules/choice.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_programs.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::cuda_conflict_graph_test {
namespace {

using DispatchSet = std::vector<bool>;
using Predecessors = std::vector<DispatchSet>;  // [second][first]
using Edge = std::pair<uint32_t, uint32_t>;

bool conflict(const Program& program, DispatchId first, DispatchId second) {
  const AtomicOp op = program.dispatch(first).atomic_op;
  const bool same_op = op != AtomicOp::kNone && op == program.dispatch(second).atomic_op;
  for (const Access& a : program.accesses_of(first)) {
    for (const Access& b : program.accesses_of(second)) {
      const bool shares = a.memory == b.memory && share_a_byte(a.range, b.range);
      const bool commutes =
          (a.only_reads() && b.only_reads()) || (a.is_atomic() && b.is_atomic() && same_op);
      if (shares && !commutes) return true;
    }
  }
  return false;
}

// The pairs between which a chain of conflicts leads.
Predecessors closure_of_conflicts(const Program& program) {
  const size_t n = program.dispatches.size();
  Predecessors closure(n, DispatchSet(n));
  for (size_t second = 0; second < n; ++second) {
    for (size_t first = 0; first < second; ++first) {
      if (!conflict(program, DispatchId(first), DispatchId(second))) continue;
      closure[second][first] = true;
      for (size_t k = 0; k < first; ++k) {
        closure[second][k] = closure[second][k] || closure[first][k];
      }
    }
  }
  return closure;
}

std::vector<Edge> edges_of(const DispatchGraph& graph) {
  std::vector<Edge> edges;
  for (uint32_t second = 0; second < graph.nodes.size(); ++second) {
    for (const GraphNodeIndex first : graph.predecessors_of(graph.nodes[second])) {
      edges.emplace_back(first, second);
    }
  }
  return edges;
}

Predecessors reachability(size_t n, const std::vector<Edge>& edges) {
  Predecessors reached(n, DispatchSet(n));
  for (const auto& [first, second] : edges) {  // By `second`.
    reached[second][first] = true;
    for (size_t k = 0; k < first; ++k) {
      reached[second][k] = reached[second][k] || reached[first][k];
    }
  }
  return reached;
}

DispatchGraph conflict_graph(const Program& program, const ConflictGraphLimits& limits = {}) {
  Result<DispatchGraph> graph = conflict_graph_of(program, ByteSegments(program), limits);
  INTERLOCK_CHECK(graph.has_value());
  return std::move(graph).value();
}

// Returns how many edges there are.
size_t expect_the_reduction(const Program& program) {
  const DispatchGraph graph = conflict_graph(program);
  const size_t n = program.dispatches.size();
  EXPECT_EQ(graph.nodes.size(), n);
  for (uint32_t d = 0; d < n; ++d) EXPECT_EQ(graph.nodes[d].dispatch, DispatchId(d));
  const std::vector<Edge> edges = edges_of(graph);
  EXPECT_TRUE(std::is_sorted(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  }));
  const Predecessors expected = closure_of_conflicts(program);
  EXPECT_EQ(reachability(n, edges), expected) << print(program);
  for (size_t i = 0; i < edges.size(); ++i) {
    std::vector<Edge> others = edges;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    EXPECT_NE(reachability(n, others), expected)
        << edges[i].first << " -> " << edges[i].second << "\n"
        << print(program);
  }
  return edges.size();
}

TEST(CudaConflictGraph, IsTheReductionOfTheConflictsOfRandomPrograms) {
  RandomProgramOptions options;
  options.dispatch_count_max = 14;
  options.memory_bytes = 8;
  size_t edge_count = 0;
  for (uint64_t seed = 1; seed <= uint64_t{program_count(2000)}; ++seed) {
    SeededChoice choice(seed);
    edge_count += expect_the_reduction(random_program(choice, options));
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GE(edge_count, static_cast<size_t>(program_count(2000)) * 3);
}

// With uniform reads and atomics of two operations.
TEST(CudaConflictGraph, IsTheReductionWhateverScopesThereAre) {
  RandomScopedProgramOptions options;
  options.dispatch_count_max = 12;
  options.memory_bytes = 6;
  for (uint64_t seed = 1; seed <= uint64_t{program_count(2000)}; ++seed) {
    SeededChoice choice(seed);
    expect_the_reduction(random_scoped_program(choice, options));
    ASSERT_FALSE(HasFailure()) << seed;
  }
}

// Wide enough for groups that are pruned, and for more than one word of bits.
TEST(CudaConflictGraph, IsTheReductionOfLongPrograms) {
  RandomProgramOptions options;
  options.dispatch_count_min = 150;
  options.dispatch_count_max = 200;
  for (const uint64_t memory_bytes : {6u, 40u, 200u}) {
    options.memory_bytes = memory_bytes;
    for (int seed = 1; seed <= proof_count(20, 2, 2); ++seed) {
      SeededChoice choice(static_cast<uint64_t>(seed));
      expect_the_reduction(random_program(choice, options));
      ASSERT_FALSE(HasFailure()) << seed;
    }
  }
}

// Long chains and readers that stay for long: a short window has edges that it need not have, and
// these span more than the window.
TEST(CudaConflictGraph, BeyondItsWindowHasTheSameOrderAndOnlyLongEdgesTooMany) {
  RandomProgramOptions options;
  options.dispatch_count_min = 400;
  options.dispatch_count_max = 400;
  options.memory_bytes = 300;
  size_t superfluous_count = 0;
  for (uint64_t seed = 1; seed <= program_count(30, 6); ++seed) {
    SeededChoice choice(seed);
    const Program program = random_program(choice, options);
    const std::vector<Edge> fewest = edges_of(conflict_graph(program));
    const std::vector<Edge> edges = edges_of(conflict_graph(program, {.window = 64}));
    EXPECT_EQ(reachability(400, edges), reachability(400, fewest));
    std::vector<Edge> superfluous;
    for (const Edge& edge : edges) {
      if (std::find(fewest.begin(), fewest.end(), edge) == fewest.end()) {
        superfluous.push_back(edge);
      }
    }
    EXPECT_EQ(edges.size(), fewest.size() + superfluous.size());
    for (const auto& [first, second] : superfluous) EXPECT_GT(second - first, 64);
    superfluous_count += superfluous.size();
  }
  EXPECT_GE(superfluous_count, program_count(30, 6));
}

TEST(CudaConflictGraph, TakesNoNoticeOfBarriers) {
  const char* const statements = R"(interlock 1
memory a 64
memory b 64
dispatch K writes a
{0}dispatch K reads a
{0}dispatch K writes b
{0}dispatch K reads b writes a
)";
  const DispatchGraph without = conflict_graph(parsed(fmt::format(fmt::runtime(statements), "")));
  const DispatchGraph with =
      conflict_graph(parsed(fmt::format(fmt::runtime(statements), "barrier\n")));
  EXPECT_EQ(edges_of(with), edges_of(without));
  EXPECT_THAT(edges_of(without), testing::ElementsAre(Edge{0, 1}, Edge{1, 3}, Edge{2, 3}));
}

// Atomics of one operation are in no order, but each waits for who wrote before, and who reads
// waits for all of them.
TEST(CudaConflictGraph, LeavesAtomicsThatCommuteUnordered) {
  const Program program = parsed(R"(interlock 1
memory m 64
dispatch K writes m
dispatch K atomics m atomic=add
dispatch K atomics m atomic=add
dispatch K atomics m atomic=max
dispatch K reads m
dispatch K uniform m
dispatch K atomics m atomic=max
)");
  EXPECT_THAT(edges_of(conflict_graph(program)),
              testing::ElementsAre(Edge{0, 1}, Edge{0, 2}, Edge{1, 3}, Edge{2, 3}, Edge{3, 4},
                                   Edge{3, 5}, Edge{4, 6}, Edge{5, 6}));
}

// What reads and adds to the same bytes commutes with neither.
TEST(CudaConflictGraph, OrdersWhatDoesSeveralThingsToOneByte) {
  const Program program = parsed(R"(interlock 1
memory m 64
dispatch K reads m
dispatch K reads m[0:8] atomics m[4:12] atomic=add
dispatch K reads m[0:4]
dispatch K atomics m[8:12] atomic=add
dispatch K reads m[4:8]
dispatch K atomics m[4:8] atomic=add
)");
  EXPECT_THAT(edges_of(conflict_graph(program)),
              testing::ElementsAre(Edge{0, 1}, Edge{0, 3}, Edge{1, 4}, Edge{4, 5}));
}

// n writers of parts, and m readers of the whole, are n * m edges.
Program writers_and_readers(int writer_count, int reader_count) {
  std::string text = fmt::format("interlock 1\nmemory m {}\n", writer_count);
  for (int i = 0; i < writer_count; ++i) {
    text += fmt::format("dispatch K writes m[{}:{}]\n", i, i + 1);
  }
  for (int i = 0; i < reader_count; ++i) text += "dispatch K reads m\n";
  return parsed(text);
}

TEST(CudaConflictGraph, OfTooManyEdgesIsAnError) {
  const Program program = writers_and_readers(40, 50);
  const ByteSegments segments(program);
  EXPECT_EQ(conflict_graph(program, {.edge_count = 2000}).predecessors.size(), 2000);
  const auto graph = conflict_graph_of(program, segments, {.edge_count = 1999});
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().message,
            "The conflicts of this program are more than 1999 edges of a graph.");
}

Program stream(const std::string& name) {
  Result<Program> program =
      parse_file(INTERLOCK_SOURCE_DIR "/corpus/streams/ggml-" + name + ".ilk");
  INTERLOCK_CHECK(program.has_value());
  return std::move(program).value();
}

// How many pairs of dispatches are in no order.
size_t unordered_count(const DispatchGraph& graph) {
  std::vector<DispatchSet>
      behind;  // By node, joins as well: the dispatches that are over once it is.
  size_t count = 0;
  size_t dispatch_count = 0;
  for (const DispatchGraph::Node& node : graph.nodes) {
    DispatchSet past(graph.nodes.size());
    for (const GraphNodeIndex p : graph.predecessors_of(node)) {
      for (size_t k = 0; k < p; ++k) past[k] = past[k] || behind[p][k];
      past[p] = !graph.nodes[p].is_join();
    }
    if (!node.is_join()) {
      count += dispatch_count++ - static_cast<size_t>(std::count(past.begin(), past.end(), true));
    }
    behind.push_back(std::move(past));
  }
  return count;
}

struct Figures {
  std::string name;
  size_t edge_count = 0;
  size_t unordered_pairs = 0;
  // The same of the graph of the program's own barriers.
  size_t barrier_edge_count = 0;
  size_t barrier_join_count = 0;
  size_t barrier_unordered_pairs = 0;

  bool operator==(const Figures&) const = default;
};

Figures figures_of(const std::string& name) {
  const Program program = stream(name);
  const DispatchGraph conflicts = conflict_graph(program);
  const DispatchGraph barriers = graph_of(program, HappensBefore(program));
  return {name,
          conflicts.predecessors.size(),
          unordered_count(conflicts),
          barriers.predecessors.size(),
          barriers.nodes.size() - program.dispatches.size(),
          unordered_count(barriers)};
}

std::ostream& operator<<(std::ostream& out, const Figures& f) {
  return out << fmt::format("{{\"{}\", {}, {}, {}, {}, {}}}", f.name, f.edge_count,
                            f.unordered_pairs, f.barrier_edge_count, f.barrier_join_count,
                            f.barrier_unordered_pairs);
}

TEST(CudaConflictGraph, OfRecordedStreamsLeavesMoreUnorderedThanTheirBarriers) {
  for (const Figures& expected :
       std::vector<Figures>{{"llama24-metal", 503, 120, 455, 0, 0},
                            {"llama24-metal-reorder", 527, 120, 479, 0, 24},
                            {"llama24-vulkan", 503, 120, 503, 0, 48},
                            {"llama24kv-metal", 579, 264, 579, 0, 48},
                            {"train-metal-4", 238, 380, 237, 11, 37},
                            {"train-metal-30", 1823, 14044, 1965, 183, 402}}) {
    EXPECT_EQ(figures_of(expected.name), expected);
  }
}

// The same step as recorded by Metal's rule, and without barriers.
TEST(CudaConflictGraph, OfAStreamIsTheSameWithAndWithoutItsBarriers) {
  EXPECT_EQ(edges_of(conflict_graph(stream("llama24-nobarrier"))),
            edges_of(conflict_graph(stream("llama24-metal"))));
}

TEST(CudaConflictGraph, OfALongStreamHasTheFewestEdges) {
  const DispatchGraph graph = conflict_graph(stream("llama24-metal-64steps"));
  EXPECT_LE(graph.nodes.size(), kConflictGraphWindow);
  EXPECT_EQ(graph.predecessors.size(), 37119);
}

}  // namespace
}  // namespace interlock::cuda_conflict_graph_test
