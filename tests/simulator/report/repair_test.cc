// The repairs that reports name: each is made in the text of the program, and the search of chains
// and the run of semaphores that count say what is left. And which one is named. Fixed seeds.
#include "simulator/report/repair.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "encoder/text/parser.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/order/queue_order.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"
#include "tests/corpus_files.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/repair_lines.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_queue_programs.h"

namespace interlock::repair_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

// The pair is hazardous in this way on some byte, or the other way round in any.
bool has_hazard(const std::set<ChainHazard>& hazards, const Finding& finding) {
  const DispatchId first = finding.first.dispatch;
  const DispatchId second = finding.second->dispatch;
  return std::ranges::any_of(hazards, [&](const ChainHazard& hazard) {
    const bool is_same = hazard.first == first && hazard.second == second;
    const bool is_turned = hazard.first == second && hazard.second == first;
    return (is_same && hazard.kind == finding.kind) || is_turned;
  });
}

constexpr std::string_view kBringsAnother = " It brings another finding, ";

using PairByte = std::tuple<DispatchId, DispatchId, MemoryId, uint64_t>;

std::set<PairByte> bytes_of_pairs(const std::set<ChainHazard>& hazards) {
  std::set<PairByte> bytes;
  for (const ChainHazard& hazard : hazards) {
    bytes.emplace(hazard.first, hazard.second, hazard.memory, hazard.byte);
  }
  return bytes;
}

// Requires: the program has no deadlock.
std::set<PairByte> hazardous_bytes_of(const Program& program) {
  const auto hazards = chain_hazards_of(program);
  EXPECT_TRUE(hazards.has_value());
  return hazards ? bytes_of_pairs(*hazards) : std::set<PairByte>();
}

struct RepairCounts {
  int made = 0;
  int with_others = 0;  // That say so.
  int widened = 0;
  int reused = 0;  // One line, and no new word.
};

// `before` are the bytes of the pairs that have a hazard in `program`.
void expect_repaired(const std::string& text, const Program& program,
                     const std::set<PairByte>& before, const Finding& finding,
                     RepairCounts& counts) {
  ASSERT_FALSE(finding.repair.empty()) << finding.headline << "\n" << finding.fix;
  const std::string repaired_text = with_repair(text, program, finding.repair);
  SCOPED_TRACE(fmt::format("{}\n{}\n{}", finding.headline, finding.fix, repaired_text));
  const std::optional<Program> repaired = parse_queues(repaired_text);
  ASSERT_TRUE(repaired.has_value());
  const auto left = chain_hazards_of(*repaired);
  ASSERT_TRUE(left.has_value()) << "a deadlock";
  ASSERT_FALSE(has_hazard(*left, finding));
  const bool says_so = finding.fix.find(kBringsAnother) != std::string::npos;
  if (!says_so) {
    ASSERT_TRUE(std::ranges::includes(before, bytes_of_pairs(*left)));
  }
  counts.with_others += says_so;
  ++counts.made;
  counts.widened += finding.repair.front().place == RepairPlace::kInstead;
  counts.reused +=
      finding.repair.size() == 1 && finding.repair.front().place != RepairPlace::kInstead;
}

TEST(FindRepairs, SeparatesThePairInRandomPrograms) {
  const int count = proof_count(20'000, 250, 5);
  RepairCounts counts;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 500'000);
    const std::string text = random_queue_program(choice, {.memory_bytes = 8});
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const std::optional<Program> program = parse_queues(text);
    if (!program || !needs_queue_order(*program)) continue;
    const CheckReport report = check(*program, {.redundancy_budget = 0});
    const bool has_deadlock = std::ranges::any_of(report.findings, [](const Finding& finding) {
      return finding.kind == FindingKind::kDeadlock;
    });
    if (has_deadlock) continue;
    const std::set<PairByte> before = hazardous_bytes_of(*program);
    for (const Finding& finding : report.findings) {
      if (!is_hazard(finding.kind)) continue;
      // Atoms widen what the two share.
      ASSERT_TRUE(finding.second.has_value());
      expect_repaired(text, *program, before, finding, counts);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(counts.made, count);
  EXPECT_GT(counts.widened, is_slow_build() ? count / 100 : count / 50);
  EXPECT_GT(counts.reused, count / 4);
  EXPECT_LT(counts.with_others, counts.made / 10);
  print_proof(count, "the repair that a report names separates the pair, by a search of chains");
}

// Operations of one graph queue on eight bytes, with some of the edges that they need, and some
// that order only launches.
std::string random_graph(SeededChoice& choice) {
  std::string text = "interlock 1\nmemory m 8\ng: queue graph\n";
  const uint64_t node_count = choice.below(6) + 3;
  for (uint64_t node = 0; node < node_count; ++node) {
    const uint64_t begin = choice.below(8);
    const uint64_t end = begin + 1 + choice.below(8 - begin);
    constexpr std::string_view kModes[] = {"reads", "writes", "updates"};
    text += fmt::format("n{}: dispatch K {} m[{}:{}]", node, kModes[choice.below(3)], begin, end);
    std::string after;
    for (uint64_t other = 0; other < node; ++other) {
      if (choice.below(4) == 0) after += fmt::format(" n{}", other);
    }
    if (!after.empty()) text += " after" + after + (choice.below(4) == 0 ? " programmatic" : "");
    text += " on g\n";
  }
  return text;
}

// Where there are edges alone one more is named without being tried.
TEST(FindRepairs, SeparatesThePairInRandomGraphs) {
  const int count = proof_count(20'000, 500, 5);
  RepairCounts counts;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 900'000);
    const std::string text = random_graph(choice);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const std::optional<Program> program = parse_queues(text);
    ASSERT_TRUE(program.has_value());
    const std::set<PairByte> before = hazardous_bytes_of(*program);
    for (const Finding& finding : check(*program, {.redundancy_budget = 0}).findings) {
      ASSERT_TRUE(is_hazard(finding.kind));
      expect_repaired(text, *program, before, finding, counts);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(counts.made, count);
  EXPECT_GT(counts.widened, count / 10);  // Those that were programmatic.
  EXPECT_EQ(counts.with_others, 0);
  print_proof(count,
              "one edge more repairs a hazard of a graph and brings none, by a search of chains");
}

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FindRepairs, SeparatesThePairInTheCorpus) {
  RepairCounts counts;
  for (const auto& path : fewer_if_slow(corpus_files({"queues", "bugs"}))) {
    const std::string text = text_of_file(path);
    const std::optional<Program> program = parse_queues(text);
    ASSERT_TRUE(program.has_value()) << path;
    if (!needs_queue_order(*program) || !program->replays.empty()) continue;
    SCOPED_TRACE(path.string());
    std::optional<std::set<PairByte>> before;
    for (const Finding& finding : check(*program).findings) {
      if (!is_hazard(finding.kind)) continue;
      if (!before) before = hazardous_bytes_of(*program);
      expect_repaired(text, *program, *before, finding, counts);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(counts.made, is_slow_build() ? 8 : 40);
}

std::vector<std::string> fixes_of(const std::string& body) {
  const Program program = program_with_queues(
      fmt::format("interlock 1\nmemory x 64\nmemory y 64\nq1: queue concurrent\n{}", body));
  std::vector<std::string> fixes;
  for (const Finding& finding : check(program).findings) fixes.push_back(finding.fix);
  return fixes;
}

TEST(FindRepairs, NamesTheWordThatAScopeLacks) {
  EXPECT_THAT(fixes_of(R"(
make: dispatch Make writes x
mid: barrier compute.write -> copy.read
signal s=3
host waits s=3
look: host reads x
)"),
              ElementsAre("let 'barrier compute.write -> copy.read' (mid, statement 1) name "
                          "host.read in its destination: `barrier compute.write -> "
                          "copy.read|host.read`."));
}

TEST(FindRepairs, NamesTheStageThatASignalOrAWaitLacks) {
  constexpr std::string_view kBody =
      "make: dispatch Make writes x\nsignal s=1 {}\nwait s=1 {} on q1\n"
      "use: dispatch Use reads x writes y on q1\n";
  EXPECT_THAT(fixes_of(fmt::format(fmt::runtime(kBody), "after copy", "")),
              ElementsAre("let 'signal s=1 after copy' (statement 1) cover compute, too: "
                          "`signal s=1 after compute|copy`."));
  EXPECT_THAT(fixes_of(fmt::format(fmt::runtime(kBody), "", "before copy")),
              ElementsAre("let 'wait s=1 before copy on q1' (statement 2) hold back compute, too: "
                          "`wait s=1 before compute|copy on q1`."));
}

TEST(FindRepairs, NamesTheOperandThatADependencyLacks) {
  EXPECT_THAT(fixes_of(R"(
make: dispatch Make writes x
mid: barrier compute.write -> compute.read y
use: dispatch Use reads x
other: dispatch Other writes y[0:0] on q1
)"),
              ElementsAre("let 'barrier compute.write -> compute.read y' (mid, statement 1) name "
                          "x, too: `barrier compute.write -> compute.read y x`."));
}

TEST(FindRepairs, MakesAnExecutionBarrierOneOfMemory) {
  EXPECT_THAT(fixes_of(R"(
make: dispatch Make writes x
mid: barrier execution
use: dispatch Use reads x
other: dispatch Other writes y[0:0] on q1
)"),
              ElementsAre("let 'barrier execution' (mid, statement 1) be about memory, too: "
                          "`barrier`."));
}

TEST(FindRepairs, WaitsForASignalThatIsThere) {
  EXPECT_THAT(fixes_of(R"(
make: dispatch Make writes x
signal s=3
use: dispatch Use reads x writes y on q1
)"),
              ElementsAre("`wait s=3 on q1` before use (dispatch 1)."));
  // Another queue has waited for it, and signals.
  EXPECT_THAT(fixes_of(R"(
q2: queue concurrent
b: semaphore binary
make: dispatch Make writes x
signal b
wait b on q2
signal t=1 on q2
use: dispatch Use reads x writes y on q1
)"),
              ElementsAre("`wait t=1 on q1` before use (dispatch 1)."));
}

// What the host wrote to another part of the atom is lost as the atom is invalidated.
TEST(FindRepairs, SaysThatARepairBringsAnotherFinding) {
  constexpr std::string_view kText =
      "interlock 1\nmemory x 64 noncoherent=64\nmake: dispatch Make writes x[0:8]\n"
      "barrier compute.write -> host.read\nsignal s=1\nsubmit\nmine: host writes x[32:40]\n"
      "host waits s=1\nlook: host reads x[0:8]\nown: host reads x[32:40]\n";
  const std::string text(kText);
  const Program program = program_with_queues(text);
  const std::set<PairByte> before = hazardous_bytes_of(program);
  int said_count = 0;
  for (const Finding& finding : check(program).findings) {
    if (finding.fix.find(kBringsAnother) == std::string::npos) continue;
    ++said_count;
    EXPECT_TRUE(finding.fix.starts_with("`host invalidates x[0:8]` right before ")) << finding.fix;
    const auto left = chain_hazards_of(*parse_queues(with_repair(text, program, finding.repair)));
    ASSERT_TRUE(left.has_value());
    EXPECT_FALSE(std::ranges::includes(before, bytes_of_pairs(*left))) << finding.fix;
  }
  EXPECT_EQ(said_count, 2);
}

// By the one line or the lines that are changed, and nothing new.
std::string fix_by_words(const std::string& text) {
  const Program program = program_with_queues(text);
  const CheckReport report = check(program);
  if (report.findings.empty()) return "no finding";
  const Finding& finding = report.findings.front();
  for (const RepairLine& line : finding.repair) {
    if (line.place != RepairPlace::kInstead) return "a new line: " + finding.fix;
  }
  const CheckReport left = check(program_with_queues(with_repair(text, program, finding.repair)));
  return left.findings.empty() ? finding.fix : "not enough: " + finding.fix;
}

// The wait holds back a stage that the transition does not come after.
TEST(FindRepairs, LetsABarrierWithoutSourceGoOnFromAWait) {
  EXPECT_EQ(fix_by_words(R"(interlock 1
memory img 64
memory out 64
q1: queue concurrent
acq: semaphore binary
show: dispatch Present in copy reads img writes out on q1
signal acq on q1
wait acq before graphics
bar: barrier none -> graphics.write discards img
draw: dispatch Draw in graphics writes img
)"),
            "let 'barrier none -> graphics.write discards img' (bar, statement 3) name graphics in "
            "its source: `barrier graphics -> graphics.write discards img`.");
}

TEST(FindRepairs, WidensASignalAndItsWaitTogether) {
  EXPECT_EQ(fix_by_words(R"(interlock 1
memory x 64
memory y 64
q1: queue concurrent
make: dispatch Make writes x
signal s=1 after copy
wait s=1 before copy on q1
use: dispatch Use reads x writes y on q1
)"),
            "let 'signal s=1 after copy' (statement 1) cover compute, too: `signal s=1 after "
            "compute|copy`; and let 'wait s=1 before copy on q1' (statement 2) hold back compute, "
            "too: `wait s=1 before compute|copy on q1`.");
}

TEST(FindRepairs, KeepsASentenceWhereTheWorkIsTooMuch) {
  const Program program = program_with_queues(
      "interlock 1\nmemory x 64\nq1: queue concurrent\nmake: dispatch Make writes x\n"
      "use: dispatch Use reads x on q1\n");
  const CheckReport report = check(program, {.repair_budget = 0});
  ASSERT_EQ(report.findings.size(), 1);
  EXPECT_THAT(report.findings[0].repair, IsEmpty());
  EXPECT_EQ(report.findings[0].fix,
            "a signal on q0 after make (dispatch 0), and a wait for it on q1 before use (dispatch "
            "1).");
}

}  // namespace
}  // namespace interlock::repair_test
