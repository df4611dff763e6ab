// Lifetimes: each finding beside its smallest repair, what a report says, and the costs.
#include "simulator/lifetimes/lifetimes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "simulator/report/report.h"
#include "tests/simulator/lifetimes/lifetime_text.h"
#include "tests/simulator/programs/program_text.h"

namespace interlock::lifetimes_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Tensors x and y share bytes; s is the input, o the output; everything is ordered.
constexpr std::string_view kShared = R"(
    memory m 64
    tensor x f32[4] at m+0
    tensor y f32[4] at m+0
    tensor s f32[4] = random(1)
    tensor o f32[4]
    output o
    )";

Program program_on_shared(std::string_view body) {
  return program_of(std::string(kShared) + std::string(body));
}

std::vector<std::string> on_shared(std::string_view body) {
  return findings_of(program_on_shared(body));
}

TEST(Lifetimes, AFreeEndsNothingThatWasWrittenThroughARange) {
  constexpr std::string_view kRaw = R"(
      a: dispatch K writes m[0:16]
      barrier
      )";
  EXPECT_THAT(on_shared(std::string(kRaw) + "free x\nc: dispatch silu reads x writes o"),
              IsEmpty());
  EXPECT_THAT(on_shared(std::string(kRaw) + "reset m\nc: dispatch silu reads x writes o"),
              ElementsAre("use-after-free 0 c"));
}

TEST(Lifetimes, AReadOfAnOverwrittenValueIsAClobber) {
  EXPECT_THAT(on_shared(R"(
      a: dispatch silu reads s writes x
      barrier
      b: dispatch silu reads s writes y
      barrier
      c: dispatch silu reads x writes o)"),
              ElementsAre("clobber b c"));
}

TEST(Lifetimes, AReadBeforeTheOverwriteIsClean) {
  EXPECT_THAT(on_shared(R"(
      a: dispatch silu reads s writes x
      barrier
      c: dispatch silu reads x writes o
      barrier
      b: dispatch silu reads s writes y)"),
              IsEmpty());
}

TEST(Lifetimes, AReadOfWhatNobodyWroteIsUninitialized) {
  EXPECT_THAT(on_shared("c: dispatch silu reads x writes o"), ElementsAre("uninitialized c"));
  EXPECT_THAT(on_shared("a: dispatch silu reads s writes x\nbarrier\n"
                        "c: dispatch silu reads x writes o"),
              IsEmpty());
}

// A write that lies on half of a value leaves the other half.
TEST(Lifetimes, AreDecidedByByte) {
  EXPECT_THAT(on_shared(R"(
      a: dispatch silu reads s writes x
      b: dispatch K writes y[0:4]
      c: dispatch K reads x[4:16] writes o
      d: dispatch K reads x[2:8] writes o)"),
              ElementsAre("clobber b d"));
}

TEST(Lifetimes, AnInitialValueOwnsItsBytes) {
  const std::string memory = "memory m 64\ntensor x f32[4] at m+0 = ones\ntensor o f32[4]\n";
  EXPECT_THAT(findings_of(program_of(memory + "c: dispatch silu reads x writes o")), IsEmpty());
  EXPECT_THAT(findings_of(program_of(memory + "tensor y f32[4] at m+0\n"
                                              "c: dispatch silu reads y writes o")),
              ElementsAre("uninitialized c"));
}

TEST(Lifetimes, AViewOwnsAsItsRootAndADonationAsItself) {
  const std::string tensors =
      "tensor x f32[4]\ntensor v f32[4] view x+0\ntensor d f32[4] donates x\n";
  EXPECT_THAT(findings_of(program_of(tensors + "a: dispatch K writes v\nb: dispatch K reads x")),
              IsEmpty());
  EXPECT_THAT(findings_of(program_of(tensors + "a: dispatch K writes d\nb: dispatch K reads x")),
              ElementsAre("clobber a b"));
  EXPECT_THAT(findings_of(program_of(tensors + "a: dispatch K writes x\n"
                                               "b: dispatch K reads x writes d\n"
                                               "c: dispatch K reads d")),
              IsEmpty());
}

TEST(Lifetimes, ARawRangeOwnsNothing) {
  EXPECT_THAT(on_shared("b: dispatch K writes m\nc: dispatch silu reads x writes o"), IsEmpty());
  EXPECT_THAT(on_shared("c: dispatch K reads m writes o"), IsEmpty());
}

TEST(Lifetimes, AReadBehindTheFreeIsAUseAfterFree) {
  EXPECT_THAT(on_shared(R"(
      a: dispatch silu reads s writes x
      barrier
      gone: free x
      c: dispatch silu reads x writes o)"),
              ElementsAre("use-after-free gone c"));
  EXPECT_THAT(on_shared(R"(
      a: dispatch silu reads s writes x
      barrier
      c: dispatch silu reads x writes o
      gone: free x)"),
              IsEmpty());
}

// The slot is used again: the value that is there counts, and the free is a part of its history.
TEST(Lifetimes, AReadBehindAFreeAndAnOverwriteIsAClobber) {
  const Program program = program_on_shared(R"(
      a: dispatch silu reads s writes x
      barrier
      gone: free x
      b: dispatch silu reads s writes y
      barrier
      c: dispatch silu reads x writes o)");
  const CheckReport report = check(program);
  ASSERT_THAT(report.findings, SizeIs(1));
  const Finding& finding = report.findings[0];
  EXPECT_EQ(
      finding.headline,
      "clobber: c (dispatch 2) reads m[0:16] as x and finds y, which b (dispatch 1) writes there.");
  EXPECT_THAT(
      finding.details,
      ElementsAre(
          "m[0:16] held x from a (dispatch 0) on, was freed after dispatch 0, then held y from b (dispatch 1) on.",
          "y lies at m[0:16] and x at m[0:16].",
          "It is so in issue order: no barrier repairs this."));
  EXPECT_EQ(finding.fix, "put 'free x' after c (dispatch 2), and let y have other bytes.");
}

TEST(Lifetimes, AFreedValueMayBeWrittenAgain) {
  EXPECT_THAT(on_shared(R"(
      a: dispatch silu reads s writes x
      free x
      free x
      b: dispatch silu reads s writes x
      c: dispatch silu reads x writes o)"),
              IsEmpty());
}

TEST(Lifetimes, AFreeEndsItsOwnValueAlone) {
  EXPECT_THAT(on_shared(R"(
      a: dispatch silu reads s writes x
      b: dispatch silu reads s writes y
      free x
      c: dispatch silu reads y writes o)"),
              IsEmpty());
}

// ztensor #167: an arena is reset under a saved tensor.
TEST(Lifetimes, AResetEndsWhatIsNotPinned) {
  EXPECT_THAT(on_shared(R"(
      save: dispatch silu reads s writes x
      clear: reset m
      late: dispatch silu reads x writes o)"),
              ElementsAre("use-after-free clear late"));
  EXPECT_THAT(on_shared(R"(
      save: dispatch silu reads s writes x
      pin x
      clear: reset m
      late: dispatch silu reads x writes o
      unpin x)"),
              IsEmpty());
}

TEST(Lifetimes, WhatIsPinnedIsResetAtTheLastUnpin) {
  const Program program = program_on_shared(R"(
      save: dispatch silu reads s writes x
      pin x
      pin x
      clear: reset m
      unpin x
      barrier
      fine: dispatch silu reads x writes o
      unpin x
      barrier
      late: dispatch silu reads x writes o)");
  EXPECT_THAT(findings_of(program), ElementsAre("use-after-free clear late"));
  const Finding finding = check(program).findings.at(0);
  EXPECT_EQ(
      finding.headline,
      "use-after-free: late (dispatch 2) reads m[0:16] as x, whose value 'reset m' ended after dispatch 1.");
  EXPECT_EQ(
      finding.details.at(0),
      "m[0:16] held x from save (dispatch 0) on, stayed when it was reset after dispatch 0, pinned, then was reset when it was unpinned after dispatch 1.");
  EXPECT_EQ(finding.fix, "put 'unpin x' after late (dispatch 2).");
}

TEST(Lifetimes, AValueWrittenBehindAResetIsNotResetAtTheUnpin) {
  EXPECT_THAT(on_shared(R"(
      save: dispatch silu reads s writes x
      pin x
      reset m
      again: dispatch silu reads s writes x
      unpin x
      late: dispatch silu reads x writes o)"),
              IsEmpty());
}

TEST(Lifetimes, ARawReadOfResetBytesIsAUseAfterFree) {
  EXPECT_THAT(findings_of(program_of("memory m 64\na: dispatch K writes m[0:16]\nclear: reset m\n"
                                     "b: dispatch K reads m[8:24]")),
              ElementsAre("use-after-free clear b"));
}

// PyTorch #181723: a static buffer becomes a gradient, and the next replay writes it again.
TEST(Lifetimes, AWriteOfAdoptedBytesClobbersWhatAdoptedThem) {
  const std::string tensors = "tensor g f32[4] = ones\ntensor sg f32[4]\ntensor grad f32[4]\n";
  const Program program = program_of(tensors + R"(
      r1: dispatch silu reads g writes sg
      adopt grad = sg
      barrier
      r2: dispatch silu reads g writes sg
      barrier
      sum: dispatch add reads grad sg writes grad)");
  EXPECT_THAT(findings_of(program), ElementsAre("clobber r2 sum"));
  const Finding finding = check(program).findings.at(0);
  EXPECT_THAT(finding.details.at(0), HasSubstr("was adopted as grad after dispatch 0"));
  EXPECT_EQ(finding.fix,
            "copy sg into grad instead of adopting its bytes, which r2 (dispatch 1) writes again.");
  EXPECT_THAT(findings_of(program_of(tensors + R"(
      r1: dispatch silu reads g writes sg
      c: dispatch copy reads sg writes grad
      r2: dispatch silu reads g writes sg
      sum: dispatch add reads grad sg writes grad)")),
              IsEmpty());
}

TEST(Lifetimes, BothHoldAnAdoptedValueUntilOneWrites) {
  const std::string text =
      "tensor sg f32[4]\ntensor grad f32[4]\na: dispatch K writes sg\nadopt grad = sg\n"
      "b: dispatch K reads sg grad\n";
  EXPECT_THAT(findings_of(program_of(text)), IsEmpty());
  EXPECT_THAT(findings_of(program_of(text + "free grad\nc: dispatch K reads sg")), IsEmpty());
  EXPECT_THAT(findings_of(program_of(text + "free sg\nc: dispatch K reads grad")), IsEmpty());
  EXPECT_THAT(findings_of(program_of(text + "free sg\ngone: free grad\nc: dispatch K reads grad")),
              ElementsAre("use-after-free gone c"));
  EXPECT_THAT(findings_of(program_of(text + "w: dispatch K updates grad\nc: dispatch K reads sg")),
              ElementsAre("clobber w c"));
}

TEST(Lifetimes, ADestroyMustFollowTheAccessesOfItsBytes) {
  const std::string text =
      "tensor s f32[4] = ones\ntensor o f32[4]\na: dispatch silu reads s writes o\n";
  EXPECT_THAT(findings_of(program_of(text + "gone: destroy s")),
              ElementsAre("use-after-free gone a"));
  EXPECT_THAT(findings_of(program_of(text + "barrier execution\ngone: destroy s")), IsEmpty());
  EXPECT_THAT(findings_of(program_of(text + "gone: free s")), IsEmpty());
  EXPECT_THAT(findings_of(program_of(text + "barrier copy -> copy\ngone: destroy s")),
              ElementsAre("use-after-free gone a"));
}

TEST(Lifetimes, TheEndOfTheProgramReadsItsOutputs) {
  const std::string text =
      "memory m 64\ntensor x f32[4] at m+0\ntensor y f32[4] at m+0\noutput x\n"
      "a: dispatch K writes x\nbarrier\n";
  EXPECT_THAT(findings_of(program_of(text)), IsEmpty());
  EXPECT_THAT(findings_of(program_of(text + "b: dispatch K writes y")),
              ElementsAre("clobber b end"));
  EXPECT_THAT(findings_of(program_of(text + "gone: reset m")),
              ElementsAre("use-after-free gone end"));
}

TEST(Lifetimes, MeetTheirExpectations) {
  const Program program = program_of(R"(
      memory m 64
      tensor x f32[4] at m+0
      tensor y f32[4] at m+0
      tensor z f32[4]
      output y
      a: dispatch K writes x
      barrier
      b: dispatch K reads z writes y
      barrier
      c: dispatch K reads x
      free y
      expect uninitialized b
      expect clobber b c
      expect use-after-free 0)");
  const CheckReport report = check(program);
  EXPECT_THAT(report.findings, SizeIs(3));
  const ExpectationOutcome outcome = judge_expectations(program, report);
  EXPECT_TRUE(is_as_expected(program, report, outcome));
  const std::string json = json_report(program, report, outcome, "p.ilk");
  EXPECT_THAT(json,
              HasSubstr(R"("lifetime":{"lifetime":0,"reference":"0","queue":null,"statement":5,)"
                        R"("text":"free y"})"));
  EXPECT_THAT(json, HasSubstr(R"("first":null)"));
}

TEST(Lifetimes, AnotherEndOrReaderDoesNotMeetAnExpectation) {
  for (const char* line : {"expect use-after-free 1 c", "expect use-after-free 0",
                           "expect use-after-free 0 a", "expect clean", "expect clobber a c"}) {
    const Program program = program_on_shared(std::string(R"(
        a: dispatch silu reads s writes x
        barrier
        free x
        free y
        c: dispatch silu reads x writes o
        )") + line);
    const CheckReport report = check(program);
    EXPECT_FALSE(is_as_expected(program, report, judge_expectations(program, report))) << line;
  }
}

TEST(Lifetimes, NameTheRunThatShowsPoison) {
  const auto report_of = [](const char* body) {
    const Program program = program_on_shared(body);
    return text_report(program, check(program), "p.ilk", {});
  };
  const char* const kReplay = "Replay: interlock run p.ilk\n";
  EXPECT_THAT(report_of("a: dispatch silu reads s writes x\nbarrier\nfree x\n"
                        "c: dispatch silu reads x writes o"),
              HasSubstr(kReplay));
  EXPECT_THAT(report_of("a: dispatch silu reads s writes o\ndestroy s"),
              ::testing::Not(HasSubstr(kReplay)));
}

// A budget that is too small gives no verdict, and never a clean one.
TEST(Lifetimes, EndWhereTheirWorkIsOverTheLimit) {
  std::string text = "memory m 4096\ntensor x u8[4096] at m+0\n";
  for (int i = 0; i < 100; ++i)
    text += fmt::format("dispatch K writes x[{}:{}]\n", 40 * i, 40 * i + 9);
  for (int i = 0; i < 100; ++i) text += "dispatch K reads m\n";
  const Program program = program_of(text);
  EXPECT_FALSE(check_lifetimes(program).is_truncated());
  EXPECT_TRUE(check_lifetimes(program, {.work_limit = 100}).is_truncated());
  CheckOptions options;
  options.lifetime_budget = 100;
  const CheckReport report = check(program, options);
  ASSERT_TRUE(report.is_truncated());
  EXPECT_EQ(report.truncations.at(0), (Truncation{TruncationCause::kLifetimeRuns, 100}));
}

TEST(Lifetimes, EndWhereTheirFindingsAreOverTheLimit) {
  const Program program = program_of(
      "tensor x u8[4]\ndispatch K reads x\ndispatch K reads x\n"
      "dispatch K reads x");
  EXPECT_THAT(check_lifetimes(program).findings, SizeIs(3));
  const LifetimeReport report = check_lifetimes(program, {.finding_limit = 2});
  EXPECT_THAT(report.findings, SizeIs(2));
  EXPECT_TRUE(report.is_truncated());
}

// A hazard that another value takes part in says so: another schedule clobbers.
TEST(Lifetimes, AWriteAfterReadHazardNamesTheClobberOfAnotherSchedule) {
  const CheckReport report = check(program_on_shared(R"(
      a: dispatch silu reads s writes x
      barrier
      c: dispatch silu reads x writes o
      b: dispatch silu reads s writes y)"));
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_THAT(
      report.findings[0].details,
      ::testing::Contains(
          "Where b (dispatch 2) comes first, c (dispatch 1) finds y instead of x: a clobber that issue order does not show."));
}

}  // namespace
}  // namespace interlock::lifetimes_test
