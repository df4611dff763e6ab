// The repairs of deadlocks that reports name: each is made in the text of the program, and the
// search of chains and the run of semaphores that count say what is left. Fixed seeds.
#include "simulator/report/repair_deadlock.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/queues/dispatch_conflicts.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/signal_order.h"
#include "simulator/report/check.h"
#include "simulator/report/operand_text.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/repair_lines.h"
#include "tests/simulator/judges/stated_paths.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_queue_programs.h"

namespace interlock::repair_deadlock_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string fix_of(const std::string& body) {
  const Program program = program_with_queues(
      fmt::format("interlock 1\nmemory x 64\nmemory y 64\nq1: queue concurrent\n{}", body));
  return check(program).findings.front().fix;
}

// Those among what had not run, by the search of chains; not what is noted alone.
std::vector<ChainHazard> new_hazards_of(const Program& repaired, const std::set<DispatchId>& ran) {
  std::vector<ChainHazard> left;
  const CheckReport report =
      check(repaired, {.lists_all_pairs = true, .observability_budget = 0, .repair_budget = 0});
  const std::set<ChainHazard> hazards = chain_hazards_of(repaired).value();
  for (const ChainHazard& hazard : hazards) {
    const bool is_noted = std::ranges::any_of(report.noted, [&](const Finding& finding) {
      return finding.kind == hazard.kind && finding.first.dispatch == hazard.first &&
             finding.second->dispatch == hazard.second;
    });
    if (!is_noted && !(ran.contains(hazard.first) && ran.contains(hazard.second))) {
      left.push_back(hazard);
    }
  }
  return left;
}

std::set<DispatchId> dispatches_before_deadlock(const Program& program) {
  std::set<DispatchId> ran;
  for (const StatementId id : find_reference_order(program).statements) {
    const Statement& statement = program.statements[id.index];
    if (statement.kind == StatementKind::kDispatch) ran.insert(DispatchId(size_t{statement.index}));
  }
  return ran;
}

// Two that touch a byte run in another order than is written, and had not both run before.
bool turns_conflict(const StatedPaths& stated, const Program& repaired,
                    const std::set<DispatchId>& ran) {
  std::vector<DispatchId> before;
  for (const StatementId id : find_reference_order(repaired).statements) {
    const Statement& statement = repaired.statements[id.index];
    if (statement.kind != StatementKind::kDispatch) continue;
    const DispatchId next(size_t{statement.index});
    for (const DispatchId earlier : before) {
      if (stated.say(earlier, next) || (ran.contains(earlier) && ran.contains(next))) continue;
      if (are_in_conflict(repaired, next, earlier)) return true;
    }
    before.push_back(next);
  }
  return false;
}

// What a report lists and is about something that had not run.
size_t new_finding_count(const Program& program, const Program& repaired,
                         const std::set<DispatchId>& ran) {
  std::set<StatementId> statements;
  for (const StatementId id : find_reference_order(program).statements) statements.insert(id);
  const CheckReport report =
      check(repaired, {.observability_budget = 0, .redundancy_budget = 0, .repair_budget = 0});
  return static_cast<size_t>(std::ranges::count_if(report.findings, [&](const Finding& finding) {
    const bool is_old = ran.contains(finding.first.dispatch) &&
                        (!finding.second || ran.contains(finding.second->dispatch)) &&
                        (!finding.lifetime.is_some() ||
                         statements.contains(program.lifetimes[finding.lifetime.index].statement));
    switch (finding.kind) {
      case FindingKind::kReordered:
      case FindingKind::kClobber:
      case FindingKind::kUninitialized:
      case FindingKind::kUseAfterFree:
        return !is_old;
      default:
        return is_hazard(finding.kind) && !is_old;
    }
  }));
}

// Of all that let one of the circle stand elsewhere in the text, and turn no conflict.
std::optional<size_t> fewest_after_a_move(const std::string& text, const Program& program,
                                          const Finding& deadlock) {
  std::optional<size_t> fewest;
  const StatedPaths stated(program);
  const std::set<DispatchId> ran = dispatches_before_deadlock(program);
  std::set<StatementId> moved;
  for (const BlockedStatement& blocked : deadlock.cycle) {
    moved.insert({blocked.statement, blocked.waits_for});
  }
  for (const StatementId id : moved) {
    if (program.statements[id.index].kind != StatementKind::kSync) continue;
    for (size_t i = 0; i < program.statements.size(); ++i) {
      const StatementId at(i);
      if (at == id) continue;
      const std::vector<RepairLine> lines = {
          {i < id.index ? RepairPlace::kBefore : RepairPlace::kAfter, at, text_of(program, id)},
          {RepairPlace::kInstead, id, ""}};
      const std::optional<Program> changed = parse_queues(with_repair(text, program, lines));
      // A text whose signals may fire against their values is none.
      if (!changed || find_unordered_signals(*changed)) continue;
      if (!find_reference_order(*changed).cycle.empty()) continue;
      if (turns_conflict(stated, *changed, ran)) continue;
      const size_t count = new_finding_count(program, *changed, ran);
      fewest = std::min(fewest.value_or(count), count);
    }
  }
  return fewest;
}

// "… with 2 other findings: …"
size_t promised_count(const std::string& fix) {
  const std::string_view mark = " All runs then, with ";
  return std::stoul(fix.substr(fix.find(mark) + mark.size()));
}

TEST(FindDeadlockRepair, EndsItAndAddsNothingInRandomPrograms) {
  const int count = proof_count(20'000, 750, 20);
  int stuck = 0;
  int ended = 0;
  int with_others = 0;
  int moved = 0;
  const int moved_max = proof_count(1'000, 12, 19);
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 1'500'000);
    const std::string text = random_queue_program(choice, {.memory_bytes = 8});
    const std::optional<Program> program = parse_queues(text);
    if (!program || !needs_queue_order(*program)) continue;
    if (find_reference_order(*program).cycle.empty()) continue;
    ++stuck;
    const Finding finding = check(*program, {.redundancy_budget = 0}).findings.front();
    ASSERT_EQ(finding.kind, FindingKind::kDeadlock);
    const bool says_so = finding.fix.find(" All runs then, with ") != std::string::npos;
    if ((finding.repair.empty() || says_so) && moved++ < moved_max) {
      const auto fewest = fewest_after_a_move(text, *program, finding);
      ASSERT_TRUE(!fewest || (says_so && *fewest >= promised_count(finding.fix)))
          << "seed " << seed << "\n"
          << *fewest << " after a move\n"
          << finding.fix << "\n"
          << text;
    }
    if (finding.repair.empty()) {
      ASSERT_THAT(finding.fix, HasSubstr("were tried is enough")) << text;
      continue;
    }
    const std::string repaired_text = with_repair(text, *program, finding.repair);
    SCOPED_TRACE(fmt::format("seed {}\n{}\n{}\n{}", seed, text, finding.fix, repaired_text));
    const std::optional<Program> repaired = parse_queues(repaired_text);
    ASSERT_TRUE(repaired.has_value());
    ASSERT_TRUE(chain_hazards_of(*repaired).has_value()) << "a deadlock";
    ++ended;
    with_others += says_so;
    const std::set<DispatchId> ran = dispatches_before_deadlock(*program);
    ASSERT_FALSE(turns_conflict(StatedPaths(*program), *repaired, ran));
    if (says_so) continue;
    ASSERT_THAT(new_hazards_of(*repaired, ran), IsEmpty());
  }
  EXPECT_GE(stuck, is_slow_build() ? 0 : count / 100);
  EXPECT_GE(ended, stuck / 2);
  // Of 93 in the short run 41 have others.
  EXPECT_LE(with_others, ended * 3 / 5);
  print_proof(count,
              "the repair of a deadlock lets all run, and brings no hazard unless it says so");
}

TEST(FindDeadlockRepair, LeavesOutAWaitThatNothingNeeds) {
  EXPECT_EQ(fix_of(R"(
held: wait b=1
dispatch Left writes x
signal a=1
wait a=1 on q1
dispatch Right writes y on q1
signal b=1 on q1
)"),
            "leave out 'wait b=1' (held, statement 0).");
}

// Right needs what Left writes, and Last what Right does.
TEST(FindDeadlockRepair, MovesAWaitAfterWhatIsWaitedFor) {
  EXPECT_EQ(fix_of(R"(
wait b=1
dispatch Left writes x
signal a=1
wait a=1 on q1
dispatch Right reads x writes y on q1
signal b=1 on q1
dispatch Last reads y
)"),
            "let 'wait b=1' (statement 0) come after 'signal a=1' (statement 2).");
}

TEST(FindDeadlockRepair, WaitsForWhoIsNeeded) {
  EXPECT_EQ(fix_of(R"(
make: dispatch Make writes x
held: wait done=1 on q1
use: dispatch Use reads x writes y on q1
signal done=1 on q1
)"),
            "let 'signal done=1 on q1' (statement 3) stand after make (dispatch 0) on q0.");
  EXPECT_EQ(fix_of(R"(
make: dispatch Make writes x
signal made=1
held: wait done=1 on q1
use: dispatch Use reads x writes y on q1
signal done=1 on q1
)"),
            "let 'wait done=1 on q1' (held, statement 2) be for `made=1` instead.");
}

// The ca of one queue reads what the pb of the other writes, as both waits say, though not the
// text.
TEST(FindDeadlockRepair, KeepsTheOrderThatWaitsState) {
  const std::string text = R"(interlock 1
memory x 64
memory y 64
q0: queue serial
q1: queue serial
pa: dispatch P writes x on q0
w1: wait tb=1 on q0
signal ta=1 on q0
ca: dispatch C reads y on q0
pb: dispatch P writes y on q1
w2: wait ta=1 on q1
signal tb=1 on q1
cb: dispatch C reads x on q1
)";
  const Program program = program_with_queues(text);
  const Finding finding = check(program).findings.front();
  EXPECT_EQ(
      finding.fix,
      "let 'signal tb=1 on q1' (statement 6) come before 'wait ta=1 on q1' (w2, statement 5).");
  const CheckReport repaired =
      check(program_with_queues(with_repair(text, program, finding.repair)));
  EXPECT_THAT(repaired.findings, IsEmpty());
}

TEST(FindDeadlockRepair, LetsTheHostWaitAfterTheSignal) {
  EXPECT_EQ(fix_of(R"(
k: dispatch K writes x
barrier compute.write -> host.read
w: host waits f=1
signal f=1
h: host reads x
)"),
            "let 'host waits f=1' (w, statement 2) come after 'signal f=1' (statement 3).");
}

// Stages, label and comment stay.
TEST(FindDeadlockRepair, LeavesTheWaitAsItIsButForItsSignal) {
  EXPECT_EQ(fix_of(R"(
make: dispatch Make writes x
signal made=1
held: wait done=1 before copy on q1
use: dispatch Use reads x writes y on q1
signal done=1 on q1
)")
                .find("be for"),
            std::string::npos);
  const Program program = program_with_queues(R"(interlock 1
memory x 64
memory y 64
q1: queue concurrent
make: dispatch Make writes x
signal made=1
held: wait done=1 before compute on q1
use: dispatch Use reads x writes y on q1
signal done=1 on q1
)");
  const Finding finding = check(program).findings.front();
  ASSERT_EQ(finding.repair.size(), 1u) << finding.fix;
  EXPECT_EQ(finding.repair[0].place, RepairPlace::kInstead);
  EXPECT_EQ(finding.repair[0].text, "held: wait made=1 before compute on q1");
}

// What runs then, and did not before, is beside a value that ended.
TEST(FindDeadlockRepair, CountsAccessesAfterAnEnd) {
  EXPECT_THAT(fix_of(R"(
memory pool 64
tensor t f32[16] at pool+0
fill: dispatch Fill writes t on q1
held: wait go=1
free t on q0
use: dispatch Use reads t writes y on q1
signal go=1
)"),
              HasSubstr("All runs then, with 1 other finding: "));
}

TEST(FindDeadlockRepair, SaysNothingOfAllChangesOfALongCircle) {
  std::string text = "interlock 1\n";
  for (int i = 0; i < 18; ++i) text += fmt::format("memory m{} 64\n", i);
  for (int i = 1; i < 18; ++i) text += fmt::format("q{}: queue concurrent\n", i);
  for (int i = 0; i < 18; ++i) {
    const int next = (i + 1) % 18;
    text +=
        fmt::format("wait s{}=1 on q{}\ndispatch D{} {}writes m{} on q{}\nsignal s{}=1 on q{}\n",
                    next, i, i, i == 17 ? "" : fmt::format("reads m{} ", next), i, i, i, i);
  }
  EXPECT_THAT(check(program_with_queues(text)).findings.front().fix,
              Not(HasSubstr("were tried is enough")));
}

TEST(FindDeadlockRepair, SubmitsBeforeTheHostWaits) {
  EXPECT_EQ(fix_of(R"(
make: dispatch Make writes x
barrier compute.write -> host.read
signal s=1
host waits s=1
look: host reads x
submit
)"),
            "let 'submit' (statement 5) come before 'host waits s=1' (statement 3).");
}

TEST(FindDeadlockRepair, SaysThatNoOneChangeEndsTwoDeadlocks) {
  EXPECT_THAT(fix_of(R"(
q2: queue concurrent
wait a=1 on q1
dispatch One writes x on q1
signal a=1 on q1
wait b=1 on q2
dispatch Two writes y on q2
signal b=1 on q2
)"),
              HasSubstr(" None of the changes of one statement that were tried is enough."));
}

}  // namespace
}  // namespace interlock::repair_deadlock_test
