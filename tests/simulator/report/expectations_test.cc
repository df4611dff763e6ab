// Expect lines against what a check finds.
#include "simulator/report/expectations.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/program_count.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::expectations_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kIdleBarrier = R"(
    dispatch A writes a
    idle: barrier
    dispatch B writes b
    needed: barrier
    dispatch C reads b
)";

struct Judged {
  bool holds;
  std::vector<std::string> lines;  // That hold, then failures.
};

Judged judged(const Program& program) {
  const CheckReport report = check(program);
  const ExpectationOutcome outcome = judge_expectations(program, report);
  Judged result{is_as_expected(program, report, outcome), {}};
  for (const SubjectOutcome& subject : outcome.subjects) {
    result.lines.insert(result.lines.end(), subject.held.begin(), subject.held.end());
    result.lines.insert(result.lines.end(), subject.failures.begin(), subject.failures.end());
  }
  return result;
}

Judged judged(const std::string& body) { return judged(program_on_abc(body)); }

Judged judged_with_queues(const std::string& text) { return judged(program_with_queues(text)); }

TEST(ExpectRedundant, HoldsForABarrierThatCanGo) {
  const Judged outcome = judged(std::string(kIdleBarrier) + "expect redundant idle\n");
  EXPECT_TRUE(outcome.holds);
  EXPECT_THAT(outcome.lines, ElementsAre("expect redundant idle"));
}

TEST(ExpectRedundant, FailsForABarrierThatIsNeeded) {
  const Judged outcome = judged(std::string(kIdleBarrier) + "expect redundant needed\n");
  EXPECT_FALSE(outcome.holds);
  EXPECT_THAT(outcome.lines,
              ElementsAre("'expect redundant needed' does not hold: it is not found."));
}

constexpr const char* kTwoWaits = R"(interlock 1
    memory a 4096
    q1: queue concurrent
    dispatch A writes a
    signal s=1
    near: wait s=1 on q1
    dispatch B reads a on q1
    idle: wait s=1 on q1
    dispatch C reads a on q1
)";

TEST(ExpectRedundant, HoldsForAWaitThatCanGo) {
  const Judged outcome = judged_with_queues(std::string(kTwoWaits) + "expect redundant idle\n");
  EXPECT_TRUE(outcome.holds);
  EXPECT_THAT(outcome.lines, ElementsAre("expect redundant idle"));
}

TEST(ExpectRedundant, FailsForAWaitThatIsNeeded) {
  const Judged outcome = judged_with_queues(std::string(kTwoWaits) + "expect redundant near\n");
  EXPECT_FALSE(outcome.holds);
  EXPECT_THAT(outcome.lines,
              ElementsAre("'expect redundant near' does not hold: it is not found."));
}

constexpr const char* kThreeEdges = R"(interlock 1
    memory a 4096
    memory b 4096
    g: queue graph
    make: dispatch A writes a on g
    use: dispatch B reads a writes b after make on g
    last: dispatch C reads a b after make use on g
)";

TEST(ExpectRedundant, HoldsForAnEdgeThatCanGoByItsTwoEnds) {
  for (const char* line : {"expect redundant make last", "expect redundant 0 2"}) {
    const Judged outcome = judged_with_queues(std::string(kThreeEdges) + line + "\n");
    EXPECT_TRUE(outcome.holds) << line;
    EXPECT_THAT(outcome.lines, ElementsAre("expect redundant make last"));
  }
}

TEST(ExpectRedundant, FailsForAnEdgeThatIsNeeded) {
  for (const char* line : {"expect redundant make use", "expect redundant use last"}) {
    const Judged outcome = judged_with_queues(std::string(kThreeEdges) + line + "\n");
    EXPECT_FALSE(outcome.holds);
    EXPECT_THAT(outcome.lines, ElementsAre(testing::StrEq("'" + std::string(line) +
                                                          "' does not hold: it is not found.")));
  }
}

// An edge that orders the execution alone is named in the same way.
TEST(ExpectRedundant, HoldsForAProgrammaticEdge) {
  const Judged outcome = judged_with_queues(R"(interlock 1
    memory a 4096
    memory b 4096
    g: queue graph
    make: dispatch A writes a on g
    other: dispatch B reads b after make programmatic on g
    expect redundant make other
)");
  EXPECT_TRUE(outcome.holds);
}

TEST(ExpectRedundant, HasNoVerdictOnAWaitBeyondTheBudget) {
  const Program program = program_with_queues(std::string(kTwoWaits) + "expect redundant idle\n");
  const CheckReport report = check(program, {.redundancy_budget = 0});
  EXPECT_EQ(report.unjudged_sync_count, 2);
  const ExpectationOutcome outcome = judge_expectations(program, report);
  EXPECT_EQ(verdict_of(program, report, outcome), Verdict::kNone);
}

TEST(UnexpectedRedundantSync, IsWhatNoLineNames) {
  const Program silent = program_with_queues(kTwoWaits);
  EXPECT_THAT(unexpected_redundant_sync(silent, check(silent)), SizeIs(1));
  const Program told = program_with_queues(std::string(kTwoWaits) + "expect redundant idle\n");
  EXPECT_THAT(unexpected_redundant_sync(told, check(told)), IsEmpty());
}

TEST(UnexpectedRedundantSync, IsNoEdgeThatALineNames) {
  const Program silent = program_with_queues(kThreeEdges);
  EXPECT_THAT(unexpected_redundant_sync(silent, check(silent)), SizeIs(1));
  const Program told =
      program_with_queues(std::string(kThreeEdges) + "expect redundant make last\n");
  EXPECT_THAT(unexpected_redundant_sync(told, check(told)), IsEmpty());
  const Program another =
      program_with_queues(std::string(kThreeEdges) + "expect redundant make use\n");
  EXPECT_THAT(unexpected_redundant_sync(another, check(another)), SizeIs(1));
}

TEST(ExpectationLine, NamesWhatHasNoLabelByItsNumber) {
  const Program program = program_with_queues(R"(interlock 1
    memory a 4096
    q1: queue concurrent
    l: wait s=1
    signal t=1
    wait t=1 on q1
    signal s=1 on q1
)");
  const CheckReport report = check(program);
  EXPECT_THAT(missing_lines(program, report, judge_expectations(program, report)),
              ElementsAre("expect deadlock l @2"));
}

// Whatever a check finds can be written down, and then it holds.
TEST(ExpectationLine, HoldsInProgramsWhoseHostHasNoLabels) {
  int finding_count = 0;
  const int count = share_count(400, 2);
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    std::string text;
    for (const std::string& line : text_lines_of(generated_queue_program(choice))) {
      const size_t label_end = line.find(": ");
      const bool is_statement = label_end != std::string::npos &&
                                line.find(": queue ") == std::string::npos &&
                                line.find(": semaphore ") == std::string::npos &&
                                line.find(": dispatch ") == std::string::npos;
      text += (is_statement ? line.substr(label_end + 2) : line) + "\n";
    }
    SCOPED_TRACE(text);
    const Program program = program_with_queues(text);
    const CheckReport report = check(program);
    const ExpectationOutcome outcome = judge_expectations(program, report);
    for (const std::string& line : missing_lines(program, report, outcome)) text += line + "\n";
    if (report.findings.empty()) continue;
    ++finding_count;
    const Judged judged = judged_with_queues(text);
    ASSERT_TRUE(judged.holds) << fmt::format("{}", fmt::join(judged.lines, "\n"));
  }
  EXPECT_GT(finding_count, count / 4);
}

TEST(ExpectClean, IgnoresAdvice) {
  EXPECT_TRUE(judged(std::string(kIdleBarrier) + "expect clean\n").holds);
  EXPECT_TRUE(judged(std::string(kIdleBarrier) + "expect clean\nexpect redundant 0\n").holds);
}

TEST(ExpectRedundant, DoesNotExcuseAHazard) {
  EXPECT_FALSE(judged(R"(
      dispatch A writes a
      dispatch B reads a
      last: barrier
      expect redundant last)")
                   .holds);
}

TEST(ExpectRedundant, CountsTheBarriersThatAnEncoderPlaces) {
  const std::string program = "dispatch A writes a\ndispatch B writes b\n";
  EXPECT_TRUE(judged(program + "expect encoder=serial redundant 0\n").holds);
  EXPECT_FALSE(judged(program + "expect encoder=serial redundant 9\n").holds);
  EXPECT_FALSE(judged(program + "expect encoder=interlock redundant 0\n").holds);
}

TEST(UnexpectedRedundancy, LeavesOutWhatALineNames) {
  const Program none = program_on_abc(kIdleBarrier);
  EXPECT_THAT(unexpected_redundancy(none, check(none)), SizeIs(1));
  const Program named = program_on_abc(std::string(kIdleBarrier) + "expect redundant 0\n");
  EXPECT_THAT(unexpected_redundancy(named, check(named)), IsEmpty());
  // What an encoder would do says nothing about the program as it stands.
  const Program encoder =
      program_on_abc(std::string(kIdleBarrier) + "expect encoder=serial redundant 0\n");
  EXPECT_THAT(unexpected_redundancy(encoder, check(encoder)), SizeIs(1));
}

// Two hazards, of which the limit lets one be listed.
constexpr const char* kTwoHazards = R"(
    w: dispatch W writes a
    r: dispatch R reads a
    v: dispatch V writes b
    u: dispatch U reads b
)";

struct OpenOutcome {
  Verdict verdict;
  std::vector<std::string> unjudged;
  std::vector<std::string> failures;
};

OpenOutcome judged_until_the_limit(const std::string& lines) {
  const Program program = program_on_abc(kTwoHazards + lines);
  const CheckReport report = check(program, {.pair_limit = 1});
  EXPECT_TRUE(report.is_truncated());
  const ExpectationOutcome outcome = judge_expectations(program, report);
  OpenOutcome result{verdict_of(program, report, outcome), {}, {}};
  for (const SubjectOutcome& subject : outcome.subjects) {
    result.unjudged.insert(result.unjudged.end(), subject.unjudged.begin(), subject.unjudged.end());
    result.failures.insert(result.failures.end(), subject.failures.begin(), subject.failures.end());
  }
  return result;
}

constexpr std::string_view kReason =
    "there are more hazards than 1, the limit; repair some of those listed, and check again";

TEST(TruncatedCheck, IsNotAsExpectedThoughEveryLineHolds) {
  const OpenOutcome outcome = judged_until_the_limit("expect RAW w r\n");
  EXPECT_EQ(outcome.verdict, Verdict::kNone);
  EXPECT_THAT(outcome.failures, IsEmpty());
  EXPECT_THAT(outcome.unjudged,
              ElementsAre(fmt::format("There may be findings that no line expects: {}.", kReason)));
}

TEST(TruncatedCheck, CannotTellWhetherALineHoldsThatIsNotFound) {
  const OpenOutcome outcome = judged_until_the_limit("expect RAW w r\nexpect RAW v u\n");
  EXPECT_EQ(outcome.verdict, Verdict::kNone);
  EXPECT_THAT(outcome.unjudged,
              ElementsAre(fmt::format("'expect RAW v u' is not judged: {}.", kReason)));
}

TEST(TruncatedCheck, HasAFindingThatNoLineExpects) {
  EXPECT_EQ(judged_until_the_limit("").verdict, Verdict::kUnexpected);
  EXPECT_EQ(judged_until_the_limit("expect clean\n").verdict, Verdict::kUnexpected);
  const OpenOutcome outcome = judged_until_the_limit("expect RAW v u\n");
  EXPECT_EQ(outcome.verdict, Verdict::kUnexpected);
  EXPECT_THAT(outcome.failures, ElementsAre(testing::StartsWith("Not expected: RAW hazard: r")));
}

// Whatever is said of an encoder, the program itself has findings, or may have some.
TEST(TruncatedCheck, IsAboutTheProgramWhenLinesAreAboutAnEncoder) {
  EXPECT_EQ(judged_until_the_limit("expect encoder=interlock clean\n").verdict,
            Verdict::kUnexpected);
  const Program clean = program_on_abc("barrier\nexpect encoder=interlock clean\n");
  CheckReport report = check(clean);
  EXPECT_EQ(verdict_of(clean, report, judge_expectations(clean, report)), Verdict::kAsExpected);
  report.truncations.push_back({TruncationCause::kScopedSearch, 7});
  EXPECT_EQ(verdict_of(clean, report, judge_expectations(clean, report)), Verdict::kNone);
}

TEST(TruncatedCheck, TakesTheGradientsAlongToEveryEncoder) {
  const Program program = program_on_abc("expect encoder=interlock clean\n");
  CheckReport report = check(program);
  report.truncations.push_back({TruncationCause::kGradients, 7});
  const ExpectationOutcome outcome = judge_expectations(program, report);
  EXPECT_THAT(outcome.subjects.at(0).unjudged,
              ElementsAre(testing::HasSubstr("judging the gradients takes more than 7 visits")));
}

TEST(ExpectRedundant, IsNotJudgedBesideBarriersThatAreNot) {
  const Program program = program_on_abc(R"(
      dispatch A writes a
      barrier compute.write -> compute.read b
      dispatch B reads b
      barrier
      dispatch C reads a
      expect redundant 0)");
  const CheckReport report = check(program, {.redundancy_budget = 1});
  ASSERT_GT(report.unjudged_barrier_count, 0u);
  const ExpectationOutcome outcome = judge_expectations(program, report);
  EXPECT_EQ(verdict_of(program, report, outcome), Verdict::kNone);
  EXPECT_THAT(outcome.subjects.at(0).unjudged,
              ElementsAre(testing::HasSubstr("'expect redundant 0' is not judged: ")));
  const CheckReport full = check(program);
  EXPECT_TRUE(is_as_expected(program, full, judge_expectations(program, full)));
}

}  // namespace
}  // namespace interlock::expectations_test
