// Expect lines against what a check finds.
#include "simulator/expectations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulator/program_text.h"

namespace interlock {
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

Judged judged(const std::string& body) {
  const Program program = program_on_abc(body);
  const CheckReport report = check(program);
  const ExpectationOutcome outcome = judge_expectations(program, report);
  Judged result{is_as_expected(program, report, outcome), {}};
  for (const SubjectOutcome& subject : outcome.subjects) {
    result.lines.insert(result.lines.end(), subject.held.begin(), subject.held.end());
    result.lines.insert(result.lines.end(), subject.failures.begin(), subject.failures.end());
  }
  return result;
}

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

}  // namespace
}  // namespace interlock
