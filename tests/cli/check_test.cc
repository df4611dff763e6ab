// interlock check: verdicts, formats and exit statuses, as a user sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/command.h"
#include "tests/program_count.h"

namespace interlock::check_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kCorpus = INTERLOCK_SOURCE_DIR "/corpus/";

constexpr const char* kHazard = R"(interlock 1
memory a 256
memory b 256
reduce: dispatch Reduce reads a writes b[0:64]
vjp: dispatch Vjp reads b[64:128] writes a[0:64]
)";

constexpr const char* kRepaired = R"(interlock 1
memory a 256
memory b 256
reduce: dispatch Reduce reads a writes b[0:64]
barrier execution
vjp: dispatch Vjp reads b[64:128] writes a[0:64]
)";

TEST(CheckCommand, ReportsAHazardWithStatusOne) {
  const CommandResult result = run_interlock({"check", "-"}, kHazard);
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("WAR hazard: vjp (dispatch 1) writes a[0:64]"));
  EXPECT_THAT(result.out, HasSubstr("Fix:"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST(CheckCommand, FindsNothingInTheRepairedTwin) {
  const CommandResult result = run_interlock({"check", "-"}, kRepaired);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, Not(HasSubstr("hazard:")));
}

TEST(CheckCommand, PrintsNoColourIntoAPipe) {
  EXPECT_THAT(run_interlock({"check", "-"}, kHazard).out, Not(HasSubstr("\x1b")));
}

TEST(CheckCommand, GivesTheSameBytesTwice) {
  const std::vector<std::string> arguments = {"check", "--all",
                                              kCorpus + "streams/ggml-llama24-metal.ilk"};
  EXPECT_EQ(run_interlock(arguments).out, run_interlock(arguments).out);
}

TEST(CheckCommand, GivesJsonOnALineOfItsOwn) {
  const CommandResult result = run_interlock({"check", "--format=json", "-"}, kHazard);
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out.front(), '{');
  EXPECT_EQ(result.out.find('\n'), result.out.size() - 1);
  EXPECT_THAT(result.out, HasSubstr("\"WAR\""));
}

TEST(CheckCommand, HoldsTheExpectationsOfABugAndOfItsTwin) {
  EXPECT_EQ(run_interlock({"check", kCorpus + "bugs/mlx-3630.ilk"}).status, 0);
  EXPECT_EQ(run_interlock({"check", kCorpus + "bugs/mlx-3630.fixed.ilk"}).status, 0);
}

TEST(CheckCommand, FailsWhenAnExpectationDoesNotHold) {
  const CommandResult clean =
      run_interlock({"check", "-"}, std::string(kHazard) + "expect clean\n");
  EXPECT_EQ(clean.status, 1);
  EXPECT_THAT(clean.out, HasSubstr("FAILS: Not expected: WAR hazard"));
  const CommandResult missing =
      run_interlock({"check", "-"}, std::string(kRepaired) + "expect WAR reduce vjp\n");
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.out, HasSubstr("'expect WAR reduce vjp' does not hold"));
}

TEST(CheckCommand, FailsWhenAnEncoderDoesNotMeetItsExpectation) {
  const std::string expectation = "expect encoder=interlock WAR reduce vjp\n";
  const CommandResult result = run_interlock({"check", "-"}, std::string(kRepaired) + expectation);
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("FAILS (encoder interlock)"));
}

// A line about an encoder that is not there is a mistake in the file, and no finding.
TEST(CheckCommand, RejectsAnExpectationOfAnUnknownEncoder) {
  const CommandResult result =
      run_interlock({"check", "-"}, std::string(kRepaired) + "expect encoder=interlok clean\n");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr(":7:16: error: there is no encoder 'interlok'. "
                                    "Did you mean 'interlock'?"));
}

// More adopters than are followed.
std::string program_with_adopters(const std::string& before, const std::string& behind) {
  std::string text = "interlock 1\nmemory m 16\ntensor x f32[4] at m+0\n";
  for (int i = 0; i < 1500; ++i) text += "tensor a" + std::to_string(i) + " f32[4]\n";
  text += before;
  for (int i = 0; i < 1500; ++i) text += "adopt a" + std::to_string(i) + " = x\n";
  return text + behind;
}

// What is found until the limit is expected.
std::string program_with_hidden_clobber(const std::string& lines) {
  return program_with_adopters(
      "w: dispatch W writes x\nr: dispatch R reads x\n",
      "barrier\nv: dispatch V writes x\nbarrier\ndispatch R reads a0\n" + lines);
}

TEST(CheckCommand, HasNoVerdictWhereALimitEndsTheCheck) {
  if (is_slow_build()) GTEST_SKIP() << "Each of nine checks up to the limit takes seconds there.";
  const std::string open =
      temporary_file("open.ilk", program_with_hidden_clobber("expect RAW w r\n"));
  const CommandResult result = run_interlock({"check", open});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(
      result.out,
      HasSubstr(
          "  holds: expect RAW w r\n"
          "  NO VERDICT: There may be findings that no line expects: the tensors that hold values"));
  EXPECT_THAT(result.out, HasSubstr("1 finding so far, and no verdict on the rest: the tensors"));
  EXPECT_EQ(run_interlock({"check", "-"}, program_with_hidden_clobber("")).status, 1);
  EXPECT_EQ(run_interlock({"check", "-"}, program_with_hidden_clobber("expect clean\n")).status, 1);
  const std::string repaired = temporary_file("repaired.ilk", kRepaired);
  EXPECT_EQ(run_interlock({"check", repaired, open, repaired}).status, 2);
  const CommandResult json = run_interlock({"check", "--format=json", open});
  EXPECT_EQ(json.status, 2);
  EXPECT_THAT(json.out, HasSubstr("\"is_truncated\":true,\"truncated_by\":[\"the tensors that"));
  EXPECT_THAT(json.out, HasSubstr("\"failures\":[],\"unjudged\":[\"There may be findings"));
  const CommandResult replayed = run_interlock({"replay", open});
  EXPECT_THAT(replayed.err, HasSubstr("nothing differs so far, and no verdict: the tensors that"));
  EXPECT_EQ(replayed.status, 2);
  const CommandResult minimized =
      run_interlock({"minimize", "-"}, program_with_adopters("dispatch W writes x\n", ""));
  EXPECT_THAT(minimized.err, HasSubstr("no finding so far, and no verdict: the tensors that hold"));
  EXPECT_EQ(minimized.status, 2);
}

TEST(CheckCommand, JudgesEveryFileAndReturnsTheWorst) {
  const std::string hazard = temporary_file("hazard.ilk", kHazard);
  const std::string repaired = temporary_file("repaired.ilk", kRepaired);
  const std::string broken = temporary_file("broken.ilk", "interlock 1\nmemory\n");
  EXPECT_EQ(run_interlock({"check", repaired, hazard}).status, 1);
  const CommandResult result = run_interlock({"check", broken, hazard});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.out, HasSubstr("WAR hazard"));
  EXPECT_THAT(result.err, HasSubstr("broken.ilk:2:"));
}

constexpr const char* kIdleBarrier = R"(interlock 1
memory a 256
memory b 256
dispatch Left writes a
idle: barrier
dispatch Right writes b
)";

TEST(CheckCommand, AdvisesToRemoveARedundantBarrier) {
  const CommandResult result = run_interlock({"check", "-"}, kIdleBarrier);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("redundant: idle (barrier 0, before dispatch 1) can go.\n"));
}

TEST(CheckCommand, DeniesARedundantBarrierThatNobodyExpects) {
  EXPECT_EQ(run_interlock({"check", "--deny=redundant", "-"}, kIdleBarrier).status, 1);
  EXPECT_EQ(run_interlock({"check", "--deny=redundant", "-"}, kRepaired).status, 0);
  const std::string expected = std::string(kIdleBarrier) + "expect redundant idle\n";
  EXPECT_EQ(run_interlock({"check", "--deny=redundant", "-"}, expected).status, 0);
  EXPECT_EQ(run_interlock({"check", "--deny=excuses", "-"}, kRepaired).status, 2);
}

TEST(CheckCommand, PrintsTheCertificateIfAsked) {
  EXPECT_THAT(
      run_interlock({"check", "--certificate", "-"}, kRepaired).out,
      HasSubstr(
          "Certificate: 1 conflict in disjoint slots, each in need of a barrier of its own; verified.\n"
          "  reduce (dispatch 0) and vjp (dispatch 1)\n"));
  EXPECT_THAT(run_interlock({"check", "-"}, kRepaired).out, Not(HasSubstr("Certificate")));
}

TEST(CheckCommand, ShowsTwentyRedundantBarriersUnlessAskedForAll) {
  const std::string stream = kCorpus + "streams/ggml-llama24-metal.ilk";
  const std::string some = run_interlock({"check", stream}).out;
  EXPECT_THAT(some, HasSubstr("… and 28 more redundant barriers.\n48 redundant barriers of 455:"));
  EXPECT_THAT(some, HasSubstr("--all prints"));
  const std::string all = run_interlock({"check", "--all", stream}).out;
  EXPECT_THAT(all, Not(HasSubstr("more redundant barriers")));
  EXPECT_THAT(all, Not(HasSubstr("--all prints")));
}

TEST(CheckCommand, SaysHowManyFindingsItLeftOut) {
  const CommandResult result =
      run_interlock({"check", "--max-findings=3", kCorpus + "streams/ggml-llama24-nobarrier.ilk"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("--max-findings=0"));
}

TEST(CheckCommand, FollowsManyTensorsThatAdoptAValueAndSaysWhereItEnds) {
  if (is_slow_build()) GTEST_SKIP() << "Checks up to a limit take seconds there.";
  const auto program_of = [](int count) {
    std::string text = "interlock 1\ntensor x f32[4]\n";
    for (int i = 0; i < count; ++i) text += "tensor t" + std::to_string(i) + " f32[4]\n";
    text += "tensor y f32[4]\noutput y\nw: dispatch K writes x\n";
    for (int i = 0; i < count; ++i) text += "adopt t" + std::to_string(i) + " = x\n";
    return text + "barrier\ndispatch K reads x writes y\n";
  };
  EXPECT_EQ(run_interlock({"check", "-"}, program_of(1400)).status, 0);
  const CommandResult result = run_interlock({"check", "-"}, program_of(1500));
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(
      result.out,
      HasSubstr(
          "no findings so far, and no verdict: the tensors that hold values by adoption make lists of more than 1000000 entries"));
}

}  // namespace
}  // namespace interlock::check_test
