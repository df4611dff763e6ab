// The repairs that reports name, where a pair has a hazard on several ranges, in several memories
// or by several sorts of accesses: made in the text, none of it is left, as a search of chains
// says. Fixed seeds.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/printer.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/report/check.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/report/text_repair.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/repair_lines.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::whole_repair_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// By the search of chains, on whatever bytes.
bool has_hazard(const Program& program, const Finding& finding) {
  const auto hazards = chain_hazards_of(program);
  EXPECT_TRUE(hazards.has_value()) << "a deadlock";
  return !hazards || std::ranges::any_of(*hazards, [&](const ChainHazard& hazard) {
    return hazard.kind == finding.kind && hazard.first == finding.first.dispatch &&
           hazard.second == finding.second->dispatch;
  });
}

// Each with a pair that has one hazard on more than the headline names.
const std::string kQueuePrograms[] = {
    "memory x 256\nmemory z 64\nq1: queue concurrent\na: dispatch A writes x\nsignal s=1\n"
    "wait s=1 before copy on q1\nbarrier copy -> compute.read x[64:128] on q1\n"
    "b: dispatch B reads x writes z on q1\n",
    "memory x 512 noncoherent=64\nmemory z 64\nw: host writes x[0:16] x[128:256]\n"
    "b: dispatch B reads x writes z\n",
    "memory x 256 noncoherent=64\nmemory y 64\nw: host writes x[0:16] x[64:80] x[200:210]\n"
    "host invalidates x[64:128]\nb: dispatch B reads x writes y\nr: host reads x\n",
    "memory x 512 noncoherent=64\nmemory y 64\na: dispatch A writes x[0:64] y\nsignal s=1\n"
    "host waits s=1\nr: host reads x[0:64] y\n",
    "memory x 256\nmemory z 64\nq1: queue concurrent\na: dispatch A writes x\nsignal s=1\n"
    "wait s=1 before copy on q1\nbarrier copy -> copy.read on q1\nbarrier copy -> compute on q1\n"
    "b: dispatch B uniform x[0:16] reads x[16:32] writes z on q1\n",
    "memory x 64\nmemory y 64\nq1: queue concurrent\n"
    "a: dispatch A indirect x[0:12] reads x[16:32]\nb: dispatch B writes x\n"
    "other: dispatch Other writes y on q1\n",
};

TEST(NamedRepairs, SeparateAllThatAPairConflictsOnWithSeveralQueues) {
  for (const std::string& body : kQueuePrograms) {
    const std::string text = "interlock 1\n" + body;
    SCOPED_TRACE(text);
    const Program program = program_with_queues(text);
    const CheckReport report = check(program);
    ASSERT_FALSE(report.findings.empty());
    for (const Finding& finding : report.findings) {
      ASSERT_TRUE(is_hazard(finding.kind));
      ASSERT_FALSE(finding.repair.empty()) << finding.fix;
      const std::string repaired = with_repair(text, program, finding.repair);
      EXPECT_FALSE(has_hazard(program_with_queues(repaired), finding)) << repaired;
    }
  }
}

TEST(NamedRepairs, AreToldBesideAllBytes) {
  const CheckReport report = check(program_with_queues("interlock 1\n" + kQueuePrograms[0]));
  ASSERT_EQ(report.findings.size(), 1);
  EXPECT_THAT(report.findings[0].headline, HasSubstr("reads x[0:64], which"));
  EXPECT_THAT(report.findings[0].details,
              Contains("In all, the two have this hazard on x[0:64] x[128:256]."));
  EXPECT_THAT(report.findings[0].fix, HasSubstr("name x[0:64] x[128:256], too"));
}

// The text with the barrier that `fix` quotes right before the later dispatch.
std::optional<std::string> with_named_barrier(const std::string& text, const Program& program,
                                              const Finding& finding) {
  const size_t begin = finding.fix.find('`');
  const size_t end = finding.fix.find('`', begin + 1);
  if (begin == std::string::npos || end == std::string::npos) return std::nullopt;
  const RepairLine line = {RepairPlace::kBefore,
                           program.dispatch(finding.second->dispatch).statement,
                           finding.fix.substr(begin + 1, end - begin - 1)};
  return with_repair(text, program, std::span(&line, 1));
}

TEST(NamedRepairs, SeparateAllThatAPairConflictsOnBesideScopes) {
  const int count = share_count(3000, 5, 120);
  int made = 0;
  int of_several = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 70'000);
    const Program drawn = random_scoped_program(choice, {.memory_bytes = 8});
    const std::string text = print(drawn);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const Program program = program_with_queues(text);
    const CheckReport report = check(program, {.observability_budget = 0});
    for (const Finding& finding : report.findings) {
      if (!is_hazard(finding.kind)) continue;
      const auto repaired = with_named_barrier(text, program, finding);
      if (!repaired) continue;  // Of a program with global barriers alone.
      ++made;
      of_several += std::ranges::any_of(finding.details, [](const std::string& sentence) {
        return sentence.starts_with("In all, ");
      });
      ASSERT_FALSE(has_hazard(program_with_queues(*repaired), finding)) << finding.headline << "\n"
                                                                        << finding.fix;
    }
  }
  EXPECT_GT(made, count / 2);
  EXPECT_GT(of_several, count / 50);
}

// What the barrier of the repair lets the second one read, it writes, too: that counted before.
TEST(TextRepair, LeavesNoHazardThatCountedAsOneAfterOwnRead) {
  constexpr std::string_view kText =
      "interlock 1\nmemory x 64\nmemory y 64\nq1: queue concurrent\n"
      "a: dispatch A reads y writes x\nsignal s=1\nwait s=1 before copy on q1\n"
      "barrier copy -> compute on q1\nb: dispatch B reads x writes x y on q1\n";
  ParseOptions options;
  read_every_queue(options);
  const Result<TextRepair> repair = repair_text(kText, "test", options);
  ASSERT_TRUE(repair) << repair.error().message;
  EXPECT_EQ(repair->hazard_count, 0);
  const CheckReport report = check(repair->program);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_THAT(report.noted, IsEmpty());
  EXPECT_THAT(repair->text, HasSubstr("\nbarrier copy -> compute.read|compute.write on q1\n"));
}

TEST(TextRepair, RepairsWhatIsAfterOwnReadWhereThatCounts) {
  constexpr std::string_view kText =
      "interlock 1\nmemory x 64\na: dispatch A writes x\nbarrier compute.write -> compute.read\n"
      "b: dispatch B reads x writes x\n";
  const Result<TextRepair> left = repair_text(kText, "test", {});
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_EQ(left->text, kText);
  const Result<TextRepair> repair = repair_text(kText, "test", {}, {.counts_own_reads = true});
  ASSERT_TRUE(repair) << repair.error().message;
  EXPECT_EQ(repair->hazard_count_before, 1);
  EXPECT_THAT(check(repair->program).noted, IsEmpty());
}

std::string first_fix_of(const std::string& text) {
  const CheckReport report = check(program_with_queues(text));
  return report.findings.empty() ? "no finding" : report.findings.front().fix;
}

TEST(ExplainQueues, NamesTheWaitThatLetsDispatchesRunOutOfOrder) {
  const auto text = [](std::string_view a_before, std::string_view a_after, std::string_view b) {
    return fmt::format(
        "interlock 1\nmemory x 64\nmemory y 64\nq1: queue concurrent\n{}"
        "a: dispatch A order=0 writes x on q1\n{}{}b: dispatch B order=1 reads x writes y\n"
        "signal s=1\n",
        a_before, a_after, b);
  };
  EXPECT_EQ(first_fix_of(text("wait s=1 on q1\n", "", "")),
            "let 'wait s=1 on q1' (statement 0) come after a (dispatch 0), and b (dispatch 1) wait "
            "for a (dispatch 0).");
  EXPECT_EQ(first_fix_of(text("", "signal t=1 on q1\nwait s=1 on q1\n", "wait t=1\n")),
            "no finding");
}

TEST(ExplainQueues, NamesNoSignalWhereTheHostWaitsForIdleQueues) {
  const auto text = [](std::string_view barrier, std::string_view wait) {
    return fmt::format("interlock 1\nmemory x 64\na: dispatch A writes x\n{}{}r: host reads x\n",
                       barrier, wait);
  };
  const std::string_view barrier = "barrier compute.write -> host.read x\n";
  EXPECT_EQ(first_fix_of(text("", "host idle\n")),
            "`barrier compute.write -> host.read x on q0` after a (dispatch 0) and before `host "
            "idle`.");
  EXPECT_EQ(first_fix_of(text("", "signal s=1\nhost waits s=1\n")),
            "`barrier compute.write -> host.read x on q0` after a (dispatch 0) and before the "
            "signal that the host waits for.");
  EXPECT_EQ(first_fix_of(text(barrier, "host idle\n")), "no finding");
}

}  // namespace
}  // namespace interlock::whole_repair_test
