// Replays on serial queues, as cudaGraphLaunch() has them: what was recorded runs by its edges,
// after all that the queue has before it and before all that comes after it there. By hand, and
// against that sentence as it stands: the closure of what it says, which knows no clock and no
// semaphore.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "encoder/text/printer.h"
#include "fuzz/judge/queue_comparisons.h"
#include "simulator/barriers/order_findings.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/report/check.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::launch_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const std::string kHead =
    "interlock 1\nmemory x 64\nmemory y 64\nmemory z 64\n"
    "s: queue serial\nt: queue serial\nc: queue concurrent\n"
    "capture step\n"
    "make: dispatch Make reads x writes y\n"
    "side: dispatch Side reads x\n"
    "use: dispatch Use reads y writes z after make\n"
    "end\n";

// "RAW make@1 use@1", in the order of the reference run.
std::vector<std::string> hazards_in(const std::string& text) {
  const Program program = program_with_queues(kHead + text);
  std::vector<std::string> hazards;
  for (const Finding& finding : check(program).findings) {
    if (!finding.second) continue;
    hazards.push_back(fmt::format("{} {} {}", word_of(finding.kind),
                                  program.reference_of(finding.first.dispatch),
                                  program.reference_of(finding.second->dispatch)));
  }
  return hazards;
}

TEST(Launch, RunsByItsEdges) {
  EXPECT_THAT(hazards_in("replay step on s\n"), IsEmpty());
  const std::string pair = "capture two\na: dispatch A writes x\nb: dispatch B reads x\n";
  EXPECT_THAT(hazards_in(pair + "d: dispatch D after a\nend\nreplay two on s\n"),
              ElementsAre("RAW a@1 b@1"));
}

TEST(Launch, ComesAfterWhatItsQueueHasAndBeforeWhatFollows) {
  EXPECT_THAT(hazards_in("dispatch Before writes x on s\nreplay step on s\n"
                         "dispatch After writes x y z on s\n"),
              IsEmpty());
  EXPECT_THAT(hazards_in("replay step on s\nreplay step on s\n"), IsEmpty());
  EXPECT_THAT(hazards_in("replay step on s\nreplay step on t\n"),
              UnorderedElementsAre("WAW make@1 make@2", "WAR use@1 make@2", "RAW make@1 use@2",
                                   "WAW use@1 use@2"));
}

TEST(Launch, IsOrderedByWhatItsQueueSignalsAndWaitsFor) {
  EXPECT_THAT(hazards_in("replay step on s\nsignal done=1 on s\nwait done=1 on t\n"
                         "replay step on t\n"),
              IsEmpty());
  EXPECT_THAT(hazards_in("signal done=1 on s\nreplay step on s\nwait done=1 on t\n"
                         "last: dispatch Last writes z on t\n"),
              ElementsAre("WAW use@1 last"));
  EXPECT_THAT(hazards_in("replay step on s\nhost idle on s\nlast: dispatch Last writes z on t\n"),
              IsEmpty());
}

TEST(Launch, JoinsAsItsQueueDoes) {
  const std::string head =
      "interlock 1\nmemory x 64\nb: queue serial blocking\nl: queue legacy-default\n"
      "n: queue serial\ncapture step\na: dispatch A writes x\nb: dispatch B writes x after a\nend\n";
  const auto is_clean = [&](const std::string& text) {
    return check(program_with_queues(head + text)).findings.empty();
  };
  EXPECT_TRUE(is_clean("replay step on b\nreplay step on l\nreplay step on b\n"));
  EXPECT_FALSE(is_clean("replay step on n\nreplay step on l\n"));
}

// It is the text of one statement, which is what is counted and what can go.
TEST(Launch, IsOneStatement) {
  const std::string text = kHead + "replay step on s\ndispatch After reads z on s\n";
  const Program program = program_with_queues(text);
  EXPECT_EQ(print(program), text);
  const CheckReport report = check(program);
  EXPECT_EQ(report.sync_count, 0);
  EXPECT_EQ(report.queue_count, 1);
  EXPECT_EQ(report.dispatch_count, 4);
  EXPECT_THAT(report.redundant_sync, IsEmpty());
}

// Spelled out, it is what one had to write: the same findings.
TEST(Launch, IsASignalAndAWaitOnBothSidesOfAGraph) {
  Program program =
      program_with_queues(kHead + "replay step on s\nreplay step on s\nreplay step on t\n");
  const std::vector<std::string> expected =
      hazards_in("replay step on s\nreplay step on s\nreplay step on t\n");
  program.captures.clear();
  program.replays.clear();
  const std::string text = print(program);
  EXPECT_THAT(text, testing::HasSubstr("s.launches: queue graph\nt.launches: queue graph\n"));
  EXPECT_THAT(text, testing::HasSubstr("signal s.launches=3 on s\n"
                                       "wait s.launches=3 on s.launches\n"
                                       "make@2: dispatch Make reads x writes y on s.launches\n"));
  const Program spelled_out = program_with_queues(text);
  std::vector<std::string> hazards;
  for (const Finding& finding : check(spelled_out).findings) {
    if (!finding.second) continue;
    hazards.push_back(fmt::format("{} {} {}", word_of(finding.kind),
                                  spelled_out.reference_of(finding.first.dispatch),
                                  spelled_out.reference_of(finding.second->dispatch)));
  }
  EXPECT_EQ(hazards, expected);
  EXPECT_EQ(expected.size(), 8);
}

// A repair is of the queue that the text names, before or after the replay.
TEST(Launch, IsRepairedFromOutside) {
  const auto fix_in = [](const std::string& text) {
    const std::vector<Finding> findings = check(program_with_queues(kHead + text)).findings;
    return findings.empty() ? "" : findings.front().fix;
  };
  EXPECT_EQ(
      fix_in("replay step on s\nlast: dispatch Last reads z on t\n"),
      "a signal on s after use@1 (dispatch 2), and a wait for it on t before last (dispatch 3).");
  EXPECT_EQ(fix_in("replay step on s\nsignal done=1 on s\nlast: dispatch Last reads z on t\n"),
            "`wait done=1 on t` before last (dispatch 3).");
  EXPECT_EQ(
      fix_in("first: dispatch First writes x on t\nreplay step on s\n"),
      "a signal on t after first (dispatch 0), and a wait for it on s before make@1 (dispatch 1).");
  EXPECT_EQ(
      fix_in("replay step on s\nhost idle\nlook: host reads z\n"),
      "`barrier compute.write -> host.read z on s` after use@1 (dispatch 2) and before `host idle`.");
}

// --- The definition.

struct Operation {
  std::string label;
  std::vector<int> reads;
  std::vector<int> writes;
  std::vector<size_t> after;  // Of the capture.
};

// A statement of a queue: a dispatch, a launch, a signal or a wait.
struct Unit {
  size_t queue = 0;
  std::vector<size_t> operations;  // Into `operations`.
  std::optional<size_t> signal;    // What a wait waits for, into the units.
};

constexpr int kMemoryCount = 3;
const std::string kKinds[][2] = {{"serial", "serial"},
                                 {"serial", "serial blocking"},
                                 {"serial blocking", "legacy-default"},
                                 {"serial blocking", "serial blocking"}};

class RandomLaunches {
 public:
  explicit RandomLaunches(Choice& choice) : choice_(choice) {
    const auto& kinds = kKinds[choice.below(std::size(kKinds))];
    for (size_t q = 0; q < 2; ++q) is_joined_[q] = kinds[0] != kinds[1] && kinds[1][0] == 'l';
    text_ = "interlock 1\n";
    for (int m = 0; m < kMemoryCount; ++m) text_ += fmt::format("memory m{} 1\n", m);
    for (size_t q = 0; q < 2; ++q) text_ += fmt::format("s{}: queue {}\n", q, kinds[q]);
    record();
    const size_t count = 2 + choice.below(5);
    for (size_t i = 0; i < count; ++i) add();
  }

  const std::string& text() const { return text_; }
  size_t launch_count() const { return launch_count_; }

  // The pairs of operations that conflict and that nothing orders, as labels.
  std::set<std::pair<std::string, std::string>> hazards() {
    close();
    std::set<std::pair<std::string, std::string>> pairs;
    for (size_t a = 0; a < operations_.size(); ++a) {
      for (size_t b = 0; b < operations_.size(); ++b) {
        if (a == b || before_[a][b] || before_[b][a]) continue;
        if (!conflict(operations_[a], operations_[b])) continue;
        pairs.insert(std::minmax(operations_[a].label, operations_[b].label));
      }
    }
    return pairs;
  }

 private:
  Operation draw(const std::string& label) {
    Operation operation{.label = label};
    for (int m = 0; m < kMemoryCount; ++m) {
      const uint64_t what = choice_.below(4);
      if (what == 0) operation.reads.push_back(m);
      if (what == 1) operation.writes.push_back(m);
    }
    return operation;
  }

  static std::string text_of(const Operation& operation) {
    std::string text = operation.label + ": dispatch Work";
    for (size_t i = 0; i < operation.reads.size(); ++i) {
      text += fmt::format("{} m{}", i == 0 ? " reads" : "", operation.reads[i]);
    }
    for (size_t i = 0; i < operation.writes.size(); ++i) {
      text += fmt::format("{} m{}", i == 0 ? " writes" : "", operation.writes[i]);
    }
    return text;
  }

  void record() {
    text_ += "capture step\n";
    const size_t count = 2 + choice_.below(3);
    for (size_t i = 0; i < count; ++i) {
      Operation operation = draw(fmt::format("n{}", i));
      text_ += text_of(operation);
      for (size_t from = 0; from < i; ++from) {
        // There is an edge in any case: without one nothing says that it is a graph.
        if (!choice_.chance(1, 3) && i + 1 < count) continue;
        if (i + 1 == count && from > 0 && !choice_.chance(1, 3)) continue;
        text_ += fmt::format("{} n{}", operation.after.empty() ? " after" : "", from);
        operation.after.push_back(from);
      }
      text_ += "\n";
      recorded_.push_back(std::move(operation));
    }
    text_ += "end\n";
  }

  void add() {
    Unit unit{.queue = choice_.below(2)};
    switch (choice_.below(4)) {
      case 0:
        add_dispatch(unit);
        break;
      case 1:
        add_crossing(unit);
        return;
      default:
        add_launch(unit);
    }
    units_.push_back(std::move(unit));
  }

  void add_dispatch(Unit& unit) {
    Operation operation = draw(fmt::format("d{}", operations_.size()));
    text_ += text_of(operation) + fmt::format(" on s{}\n", unit.queue);
    unit.operations = {operations_.size()};
    operations_.push_back(std::move(operation));
  }

  void add_launch(Unit& unit) {
    ++launch_count_;
    text_ += fmt::format("replay step on s{}\n", unit.queue);
    const size_t begin = operations_.size();
    for (const Operation& recorded : recorded_) {
      Operation operation = recorded;
      operation.label += fmt::format("@{}", launch_count_);
      for (size_t& from : operation.after) from += begin;
      unit.operations.push_back(operations_.size());
      operations_.push_back(std::move(operation));
    }
  }

  // A signal of this queue, and a wait of the other one.
  void add_crossing(Unit signal) {
    const size_t other = 1 - signal.queue;
    const std::string value = fmt::format("v{}=1", units_.size());
    text_ += fmt::format("signal {0} on s{1}\nwait {0} on s{2}\n", value, signal.queue, other);
    units_.push_back(signal);
    units_.push_back({.queue = other, .operations = {}, .signal = units_.size() - 1});
  }

  static bool conflict(const Operation& a, const Operation& b) {
    const auto meet = [](const std::vector<int>& some, const std::vector<int>& others) {
      return std::ranges::any_of(
          some, [&](int memory) { return std::ranges::find(others, memory) != others.end(); });
    };
    return meet(a.writes, b.writes) || meet(a.writes, b.reads) || meet(a.reads, b.writes);
  }

  // Units by their queues, signals and joins, then operations by units and edges.
  void close() {
    std::vector<std::vector<bool>> unit_before(units_.size(),
                                               std::vector<bool>(units_.size(), false));
    for (size_t b = 0; b < units_.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        const bool is_of_one = units_[a].queue == units_[b].queue || is_joined_[0];
        unit_before[a][b] = is_of_one || units_[b].signal == a;
      }
    }
    close(unit_before);
    before_.assign(operations_.size(), std::vector<bool>(operations_.size(), false));
    for (size_t a = 0; a < units_.size(); ++a) {
      for (size_t b = 0; b < units_.size(); ++b) {
        if (!unit_before[a][b]) continue;
        for (const size_t first : units_[a].operations) {
          for (const size_t second : units_[b].operations) before_[first][second] = true;
        }
      }
    }
    for (size_t b = 0; b < operations_.size(); ++b) {
      for (const size_t a : operations_[b].after) before_[a][b] = true;
    }
    close(before_);
  }

  static void close(std::vector<std::vector<bool>>& before) {
    for (size_t k = 0; k < before.size(); ++k) {
      for (size_t i = 0; i < before.size(); ++i) {
        for (size_t j = 0; j < before.size(); ++j) {
          if (before[i][k] && before[k][j]) before[i][j] = true;
        }
      }
    }
  }

  Choice& choice_;
  bool is_joined_[2] = {};
  std::string text_;
  std::vector<Operation> recorded_;
  std::vector<Operation> operations_;
  std::vector<Unit> units_;
  std::vector<std::vector<bool>> before_;
  size_t launch_count_ = 0;
};

TEST(Launch, IsWhatItsDefinitionSays) {
  const int count = proof_count(20'000, 600, 5);
  size_t hazard_count = 0;
  size_t clean_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 71'000'000);
    RandomLaunches launches(choice);
    if (launches.launch_count() == 0) continue;
    const Program program = program_with_queues(launches.text());
    ASSERT_EQ(print(program), launches.text());
    const auto by_chains = chain_hazards_of(program);
    ASSERT_TRUE(by_chains) << launches.text();
    std::set<std::pair<std::string, std::string>> pairs;
    for (const ChainHazard& hazard : *by_chains) {
      pairs.insert(
          std::minmax(program.reference_of(hazard.first), program.reference_of(hazard.second)));
    }
    ASSERT_EQ(pairs, launches.hazards()) << launches.text();
    uint64_t work_left = UINT64_MAX;
    const OrderFindings findings = find_order_findings(program, HazardsListed::kAll, work_left);
    const Difference by_clocks = compare_hazards(program, findings);
    ASSERT_FALSE(by_clocks) << *by_clocks << "\n" << launches.text();
    if (seed % 8 == 0) {
      const Difference by_counters = compare_orders(reference_run(program));
      ASSERT_FALSE(by_counters) << *by_counters << "\n" << launches.text();
    }
    hazard_count += pairs.size();
    clean_count += pairs.empty();
  }
  EXPECT_GT(hazard_count, static_cast<size_t>(count));
  EXPECT_GT(clean_count, static_cast<size_t>(count) / 20);
  print_proof(count, "replays on serial queues are ordered as their definition says");
}

}  // namespace
}  // namespace interlock::launch_test
