// Graph queues that fall into more paths than clocks have numbers for are judged part by part: what
// is found is what is found at once, and what chains find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "encoder/assemble/build.h"
#include "fuzz/generate/queue_generator.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/facts/find_facts.h"
#include "simulator/report/check.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::wide_graphs_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Hazard> hazards_at_once(const Program& run, uint32_t paths_at_once) {
  FactOptions options;
  options.group = FactGroup::kAccesses;
  options.paths_at_once = paths_at_once;
  const FactReport report = find_facts(run, options);
  EXPECT_THAT(report.truncations, IsEmpty());
  std::vector<Hazard> hazards;
  for (const Fact& fact : report.facts) {
    if (const auto* const hazard = std::get_if<Hazard>(&fact)) hazards.push_back(*hazard);
  }
  return hazards;
}

// Operations of a graph, with few edges, and of two other queues, with signals between them.
Program random_graph(Choice& choice) {
  std::string text =
      "interlock 1\nmemory m 16\nmemory n 16 noncoherent=4\ng: queue graph\n"
      "h: queue graph\nq: queue serial\nc: queue concurrent\n";
  const char* const queues[] = {"g", "g", "g", "g", "h", "h", "q", "c"};
  std::vector<uint64_t> in_graphs[2];
  int signal_count = 0;
  const uint64_t count = 4 + choice.below(12);
  for (uint64_t i = 0; i < count; ++i) {
    const std::string queue = queues[choice.below(std::size(queues))];
    const auto operand = [&] {
      const uint64_t begin = choice.below(14);
      return fmt::format("{}[{}:{}]", choice.chance(1, 6) ? "n" : "m", begin,
                         begin + 1 + choice.below(3));
    };
    text += fmt::format("d{}: dispatch A", i);
    if (choice.chance(2, 3)) text += " reads " + operand();
    if (choice.chance(2, 3)) text += " writes " + operand();
    if (queue == "g" || queue == "h") {
      std::vector<uint64_t>& earlier = in_graphs[queue == "h"];
      std::string edges;
      for (const uint64_t from : earlier) {
        if (choice.chance(1, 4)) edges += fmt::format(" d{}", from);
      }
      if (!edges.empty()) text += " after" + edges + (choice.chance(1, 6) ? " programmatic" : "");
      earlier.push_back(i);
    }
    text += fmt::format(" on {}\n", queue);
    if (choice.chance(1, 4)) {
      text += fmt::format("signal s{} on {}\nwait s{} on {}\n", signal_count,
                          queues[choice.below(std::size(queues))], signal_count,
                          queues[choice.below(std::size(queues))]);
      ++signal_count;
    }
    if (choice.chance(1, 8)) {
      text += choice.chance(1, 2) ? "host idle\n" : fmt::format("host writes {}\n", operand());
    }
  }
  return program_with_queues(text);
}

// Each is one by chains, and there are none only where chains find none.
void expect_those_of_chains(const Program& program, const std::vector<Hazard>& found) {
  using Pair = std::tuple<DispatchId, DispatchId, FindingKind>;
  const auto by_chains = chain_hazards_of(program);
  ASSERT_TRUE(by_chains.has_value());
  std::set<Pair> pairs;
  for (const ChainHazard& one : *by_chains) pairs.insert({one.first, one.second, one.kind});
  EXPECT_EQ(pairs.empty(), found.empty());
  for (const Hazard& hazard : found) {
    EXPECT_TRUE(pairs.contains({hazard.first.dispatch, hazard.second.dispatch, hazard.kind}));
  }
}

void expect_same_by_parts(const Program& program) {
  const Program run = reference_run(program);
  const std::vector<Hazard> all = hazards_at_once(run, 1024);
  for (const uint32_t size : {1U, 2U, 3U}) {
    EXPECT_EQ(hazards_at_once(run, size), all) << size << " paths at once\n" << print(program);
  }
  if (run.text_order == nullptr) expect_those_of_chains(program, all);
}

TEST(WideGraphs, HaveTheHazardsOfTheirParts) {
  int hazard_count = 0;
  for (int seed = 0; seed < share_count(8'000, 10, 160); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const Program program = random_graph(choice);
    expect_same_by_parts(program);
    if (HasFailure()) FAIL() << "seed " << seed << "\n" << print(program);
    hazard_count += !hazards_at_once(reference_run(program), 2).empty();
  }
  EXPECT_GE(hazard_count, share_count(8'000, 10, 160) / 2);
}

TEST(WideGraphs, HaveTheHazardsOfTheirPartsBesideAllOtherSync) {
  for (int seed = 0; seed < share_count(12'000, 5, 120); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const Result<Program> program =
        build(generate_queues(choice, {.operation_count_max = 10, .ends_values = false}));
    ASSERT_TRUE(program);
    if (!needs_queue_order(*program)) continue;
    const Program run = reference_run(*program);
    const std::vector<Hazard> all = hazards_at_once(run, 1024);
    ASSERT_EQ(hazards_at_once(run, 1), all) << "seed " << seed << "\n" << print(*program);
    ASSERT_EQ(hazards_at_once(run, 2), all) << "seed " << seed << "\n" << print(*program);
  }
}

std::string independent_operations(int count) {
  std::string text = fmt::format(
      "interlock 1\nmemory x {}\nmemory y 64\ng: queue graph\nq: queue serial\nc: queue serial\n",
      4 * count);
  for (int i = 0; i < count; ++i) {
    text += fmt::format("dispatch D writes x[{}:{}] on g\n", 4 * i, 4 * i + 4);
  }
  return text;
}

TEST(WideGraphs, GetAVerdict) {
  const std::string wide = independent_operations(1030);
  EXPECT_THAT(check(program_with_queues(wide)).findings, IsEmpty());
  EXPECT_THAT(check(program_with_queues(wide)).truncations, IsEmpty());
  const std::string others = "a: dispatch A writes y on q\nb: dispatch B writes y on c\n";
  EXPECT_THAT(check(program_with_queues(wide + others)).findings, SizeIs(1));
  // Of the first path, and of the last one, which is of another part.
  for (const std::string bytes : {"x[0:4]", "x[4116:4120]"}) {
    const std::string late = "late: dispatch L reads " + bytes + " writes y";
    const CheckReport report = check(program_with_queues(wide + late + " on g\n"));
    EXPECT_THAT(report.findings, SizeIs(1));
    EXPECT_THAT(report.truncations, IsEmpty());
    const std::string edge = bytes == "x[0:4]" ? " after 0" : " after 1029";
    EXPECT_THAT(check(program_with_queues(wide + late + edge + " on g\n")).findings, IsEmpty());
  }
}

TEST(WideGraphs, GetNoneOfMorePartsThanTheLimit) {
  const Program run = program_with_queues(independent_operations(17));
  FactOptions options;
  options.paths_at_once = 1;
  EXPECT_THAT(find_facts(run, options).truncations,
              ElementsAre(Truncation{TruncationCause::kGraphPaths, 16}));
  options.paths_at_once = 2;
  EXPECT_THAT(find_facts(run, options).truncations, IsEmpty());
}

TEST(WideGraphs, SayThatDestroysAreNotJudged) {
  const std::string destroy = "tensor t u8[4] at y+0\ndispatch A writes t on q\ndestroy t\n";
  EXPECT_THAT(check(program_with_queues(independent_operations(1030) + destroy)).truncations,
              ElementsAre(Truncation{TruncationCause::kGraphPaths, 1024}));
}

}  // namespace
}  // namespace interlock::wide_graphs_test
