// Captures and replays: what they stand for, that text in short and in full say the same, and that
// passes see plain statements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/assemble/build.h"
#include "encoder/build/program_builder.h"
#include "encoder/plan/planner.h"
#include "encoder/program/draft.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "tests/encoder/text/round_trip.h"

namespace interlock::captures_test {
namespace {

Program parsed(const std::string& text) {
  auto p = parse(text, "p.ilk");
  EXPECT_TRUE(p) << p.error().message;
  return p ? std::move(p).value() : Program{};
}

// A static buffer becomes a gradient, and is overwritten by the second replay.
constexpr const char* kStolenBuffer =
    "interlock 1\n"
    "memory m 64\n"
    "tensor x f32[4] at m+0 = iota\n"
    "tensor buffer f32[4] at m+16\n"
    "tensor grad f32[4]\n"
    "tensor sum f32[4] at m+32\n"
    "output sum\n"
    "capture step\n"
    "run: dispatch scale reads x writes buffer factor=0.5\n"
    "fence: barrier\n"
    "end\n"
    "replay step\n"
    "adopt grad = buffer\n"
    "replay step\n"
    "add: dispatch add reads buffer grad writes sum\n"
    "witness run@2 before run@1\n"
    "expect clobber run@2 add\n"
    "expect redundant fence@1\n";

TEST(Captures, PrintAsTheyAreWritten) {
  EXPECT_EQ(expect_round_trip(parsed(kStolenBuffer)), kStolenBuffer);
}

TEST(Captures, ReplaysAreTheStatementsThatWereRecordedLabelledByTheirNumber) {
  const Program p = parsed(kStolenBuffer);
  EXPECT_EQ(print(expanded_draft_of(p)),
            "interlock 1\n"
            "memory m 64\n"
            "tensor x f32[4] at m+0 = iota\n"
            "tensor buffer f32[4] at m+16\n"
            "tensor grad f32[4]\n"
            "tensor sum f32[4] at m+32\n"
            "output sum\n"
            "run@1: dispatch scale reads x writes buffer factor=0.5\n"
            "fence@1: barrier\n"
            "adopt grad = buffer\n"
            "run@2: dispatch scale reads x writes buffer factor=0.5\n"
            "fence@2: barrier\n"
            "add: dispatch add reads buffer grad writes sum\n"
            "witness run@2 before run@1\n"
            "expect clobber run@2 add\n"
            "expect redundant fence@1\n");
  expect_round_trip(parsed(print(expanded_draft_of(p))));
}

TEST(Captures, RecordCanonicalNumbersAndExecuteNothing) {
  const Program p = parsed(
      "interlock 1\ntensor x f32[4]\ntensor y f32[4]\ncapture c\n"
      "dispatch scale reads x writes y factor=0.50\nend\n");
  EXPECT_TRUE(p.statements.empty());
  EXPECT_TRUE(p.accesses.empty());
  EXPECT_EQ(expect_round_trip(p),
            "interlock 1\ntensor x f32[4]\ntensor y f32[4]\ncapture c\n"
            "dispatch scale reads x writes y factor=0.5\nend\n");
}

TEST(Captures, KeepTheirPlaceAmongStatementsEvenWhenTheyAreEmpty) {
  const std::string text =
      "interlock 1\n"
      "memory m 4\n"
      "capture a\n"
      "end\n"
      "replay a\n"
      "capture b\n"
      "dispatch K reads m\n"
      "end\n"
      "replay a\n"
      "dispatch K writes m\n"
      "replay b\n"
      "replay a\n"
      "capture c\n"
      "barrier\n"
      "end\n"
      "replay b\n"
      "replay c\n";
  EXPECT_EQ(expect_round_trip(parsed(text)), text);
}

TEST(Captures, MayPinWhatAReplayUnpins) {
  const std::string text =
      "interlock 1\n"
      "memory m 4\n"
      "tensor x f32[1] at m+0\n"
      "capture c\n"
      "unpin x\n"
      "pin x\n"
      "end\n"
      "pin x\n"
      "replay c\n"
      "replay c\n"
      "unpin x\n";
  EXPECT_EQ(expect_round_trip(parsed(text)), text);
}

TEST(Captures, EncodersAndPlannersSeePlainStatements) {
  InterlockEncoder encoder;
  const Program encoded = encode(parsed(kStolenBuffer), encoder);
  EXPECT_TRUE(encoded.captures.empty());
  const std::string text = expect_round_trip(encoded);
  EXPECT_THAT(text, testing::HasSubstr("\nrun@2: dispatch scale"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("replay")));

  const std::string unplaced =
      "interlock 1\n"
      "tensor x f32[4] = iota\n"
      "tensor y f32[4]\n"
      "tensor z f32[4]\n"
      "output z\n"
      "capture c\n"
      "run: dispatch silu reads x writes y\n"
      "end\n"
      "replay c\n"
      "dispatch copy reads y writes z\n"
      "replay c\n";
  for (const PlannerEntry& planner : planner_registry()) {
    const auto planned = planner.plan(parsed(unplaced), {});
    ASSERT_TRUE(planned) << planner.name << ": " << planned.error().message;
    EXPECT_EQ(planned->dispatches.size(), 3u) << planner.name;
    expect_round_trip(*planned);
  }
}

std::string lenient_text(const std::string& lines) {
  ParseOptions lenient;
  lenient.skips_invalid_lines = true;
  const auto p = parse("interlock 1\n" + lines, "p.ilk", lenient);
  return p ? expect_round_trip(*p) : p.error().message;
}

TEST(LenientParsing, ForgetsACaptureThatNeverEnds) {
  EXPECT_EQ(lenient_text("tensor x f32[4]\n"
                         "tensor a f32[4]\n"
                         "dispatch K writes x\n"
                         "capture c\n"
                         "adopt a = x\n"
                         "run: dispatch K reads x\n"),
            "interlock 1\ntensor x f32[4]\ntensor a f32[4]\ndispatch K writes x\n");
}

TEST(LenientParsing, LeavesOutReplaysThatDoNotFit) {
  EXPECT_EQ(lenient_text("memory m 4\n"
                         "end\n"
                         "replay c\n"
                         "capture c\n"
                         "memory n 4\n"
                         "run: barrier\n"
                         "capture d\n"
                         "end\n"
                         "end\n"
                         "run@2: barrier\n"
                         "replay c\n"
                         "replay c\n"),
            "interlock 1\nmemory m 4\ncapture c\nrun: barrier\nend\nrun@2: barrier\nreplay c\n");
}

TEST(CaptureLimits, BoundWhatReplaysAdd) {
  std::string text = "interlock 1\nmemory m 4\ncapture c\n";
  for (int i = 0; i < 10; ++i) text += "dispatch K reads m[0:1] m[1:2] writes m[2:3] lr=1\n";
  text += "end\n";
  for (int i = 0; i < 4; ++i) text += "replay c\n";
  ParseOptions options;
  options.limits.expansion_count = 4 * 10 * 5;  // A dispatch, three operands and an attribute.
  EXPECT_EQ(parse(text, "p.ilk", options)->accesses.size(), 120u);
  options.limits.expansion_count = 4 * 10 * 5 - 1;
  EXPECT_EQ(
      parse(text, "p.ilk", options).error().message,
      "p.ilk:18:1: error: replays and backward passes add more than the limit of 199 statements, operands and attributes.");
}

TEST(CaptureLimits, CountRecordedAndReplayedStatements) {
  const std::string text =
      "interlock 1\ncapture c\nbarrier\nbarrier\nend\nreplay c\nreplay c\nreplay c\n";
  ParseOptions options;
  options.limits.statement_count = 2 + 4 * 1 + 3 * 2;  // Recorded, group lines, replayed.
  EXPECT_TRUE(parse(text, "p.ilk", options));
  options.limits.statement_count -= 1;
  EXPECT_EQ(parse(text, "p.ilk", options).error().message,
            "p.ilk:8:1: error: the program has more statements than the limit of 11.");
}

TEST(CaptureLimits, LeaveRoomForTheNumbersOfReplays) {
  const std::string label(244, 'x');
  const std::string end = ": barrier\nend\nreplay c\n";
  EXPECT_TRUE(parse("interlock 1\ncapture c\n" + label + end));
  EXPECT_FALSE(parse("interlock 1\ncapture c\n" + label + "x" + end));
  EXPECT_TRUE(parse("interlock 1\n" + label + "x: barrier\n"));
}

TEST(CaptureLimits, EndManyReplaysSoon) {
  std::string text = "interlock 1\ncapture c\n";
  for (int i = 0; i < 1000; ++i) text += "barrier\n";
  text += "end\n";
  for (int i = 0; i < 100'000; ++i) text += "replay c\n";
  ParseOptions options;
  options.limits.expansion_count = 100'000;  // The default takes a second.
  EXPECT_FALSE(parse(text, "p.ilk", options));
}

TEST(Builder, IsAsItWasBeforeAReplayThatDoesNotFit) {
  ProgramBuilder builder = new_builder();
  ASSERT_TRUE(builder.add(CaptureDraft{"c"}));
  ASSERT_TRUE(builder.add(BarrierDraft{"a", BarrierKind::kFull, {}}));
  ASSERT_TRUE(builder.add(BarrierDraft{"b", BarrierKind::kFull, {}}));
  ASSERT_TRUE(builder.add(EndDraft{}));
  ASSERT_TRUE(builder.add(BarrierDraft{"b@1", BarrierKind::kFull, {}}));
  ASSERT_FALSE(builder.add(ReplayDraft{"c"}));
  ASSERT_TRUE(builder.add(BarrierDraft{"a@1", BarrierKind::kFull, {}}));
  const auto p = builder.finish();
  ASSERT_TRUE(p);
  EXPECT_EQ(expect_round_trip(*p),
            "interlock 1\ncapture c\na: barrier\nb: barrier\nend\nb@1: barrier\na@1: barrier\n");
}

TEST(Builder, WantsTheEndOfACapture) {
  ProgramDraft draft{{CaptureDraft{"c"}, BarrierDraft{}}};
  const auto p = build(draft);
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().message, "capture 'c' has no end; expected 'end' after what it records.");
}

}  // namespace
}  // namespace interlock::captures_test
