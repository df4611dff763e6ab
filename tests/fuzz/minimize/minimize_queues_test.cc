// Minimization of programs with several queues, with the host, edges and deadlocks.
#include "fuzz/minimize/minimize_queues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "backends/registry.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/replay.h"
#include "fuzz/minimize/minimizer.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "tests/corpus_files.h"

namespace interlock::minimize_queues_test {
namespace {

using testing::Each;

Program program_of(const std::string& text) {
  return parse("interlock 1\n" + text, "test", every_queue()).value();
}

std::string minimized(const std::string& text) {
  const Result<MinimizeReport> report = minimize_program(program_of(text), {});
  return report ? print(report->program) : report.error().message;
}

TEST(MinimizeQueues, KeepsTheTwoOperationsThatNothingOrders) {
  EXPECT_EQ(minimized(R"(memory x 64
memory y 64
memory z 64
q1: queue serial
q2: queue serial
other: dispatch Other writes z on q2
make: dispatch Make writes x
signal s=1 on q2
wait s=1 on q1
use: dispatch Use reads x writes y on q1
host idle
host reads y
)"),
            R"(interlock 1
memory x 1
memory y 1
make: dispatch Opaque writes x
use: dispatch Opaque reads x writes y
witness make after use
expect RAW make use
)");
}

TEST(MinimizeQueues, KeepsADeadlock) {
  EXPECT_EQ(minimized(R"(memory x 64
q1: queue serial
a: dispatch Make writes x
held: wait s=2
signal t=5
wait t=5 on q1
signal s=2 on q1
b: dispatch Use reads x on q1
)"),
            R"(interlock 1
held: wait s=2
signal s=2
expect deadlock held
)");
}

// What a stream launches stays a launch of that stream.
TEST(MinimizeQueues, KeepsLaunchesAsLines) {
  EXPECT_EQ(minimized(R"(memory x 64
memory y 64
memory z 64
work: queue serial
copies: queue serial
capture step
make: dispatch Make writes x
use: dispatch Use reads x writes y after make
end
replay step on work
replay step on work
fetch: dispatch Fetch reads y writes z on copies
)"),
            R"(interlock 1
memory x 2
work: queue serial
capture step
use: dispatch Opaque writes x[0:1]
end
replay step on work
fetch: dispatch Opaque reads x[0:1] writes x[1:2]
witness fetch before use@1
expect RAW use@1 fetch
)");
}

// The line that expects the deadlock names a wait, and nothing is spelled out for it.
TEST(MinimizeQueues, KeepsLaunchesBesideADeadlock) {
  const std::string body = R"(work: queue serial
capture step
make: dispatch Make writes x
use: dispatch Use reads x after make
end
)";
  const std::string memory = "memory x 64\n";
  MinimizeOptions options;
  options.evaluation_limit = 0;
  const Result<MinimizeReport> report = minimize_program(
      program_of(memory + body + "wait s=1 on work\nreplay step on work\nsignal s=1 on work\n"),
      options);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(print(report->program),
            "interlock 1\n" + memory + body +
                "w0: wait s=1 on work\nreplay step on work\nsignal s=1 on work\n"
                "expect deadlock w0\n");
}

TEST(MinimizeQueues, RefusesAProgramWithoutAFinding) {
  EXPECT_EQ(minimized("memory x 64\nq1: queue serial\ndispatch Make writes x on q1\n"),
            "The program has no finding, so there is nothing to keep while it shrinks.");
}

// The kinds of finding, and whether a witness changes an output of the CPU.
struct Shown {
  std::set<FindingKind> kinds;
  bool has_witness = false;
  bool diverges = false;
};

Shown shown_by(const Program& program) {
  Shown shown;
  for (const Finding& finding : check(program).findings) shown.kinds.insert(finding.kind);
  const Program run = reference_run(program);
  shown.has_witness = !run.witness.empty();
  if (!shown.has_witness) return shown;
  const Result<ReplayReport> report = replay(run, *find_backend("cpu"));
  shown.diverges = report && report->diverges;
  return shown;
}

TEST(MinimizeQueues, LeavesOfEachTrapASmallerProgramThatStillFailsSo) {
  size_t count = 0;
  size_t diverging = 0;
  for (const auto& path : corpus_files({"queues"})) {
    const Program program = corpus_program(path);
    const CheckReport before = check(program);
    if (!needs_queue_order(program) || before.findings.empty()) continue;
    SCOPED_TRACE(path);
    const Result<MinimizeReport> report = minimize_program(program, {});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    SCOPED_TRACE(print(report->program));
    ++count;
    EXPECT_TRUE(report->is_fixpoint);
    EXPECT_LE(report->program.statements.size(), program.statements.size());
    const Shown shown = shown_by(report->program);
    ASSERT_FALSE(shown.kinds.empty());
    std::set<FindingKind> kinds_before;
    for (const Finding& finding : before.findings) kinds_before.insert(finding.kind);
    EXPECT_THAT(shown.kinds, Each(testing::AnyOfArray(kinds_before)));
    EXPECT_EQ(shown.diverges, shown.has_witness);
    diverging += shown.diverges;
    const CheckReport after = check(report->program);
    EXPECT_NE(verdict_of(report->program, after, judge_expectations(report->program, after)),
              Verdict::kUnexpected);
    // What one queue is left of is minimized as such.
    if (!needs_queue_order(report->program)) continue;
    const Result<MinimizeReport> again = minimize_program(report->program, {});
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(print(again->program), print(report->program));
  }
  EXPECT_GT(count, 25u);
  EXPECT_GT(diverging, 15u);
}

}  // namespace
}  // namespace interlock::minimize_queues_test
