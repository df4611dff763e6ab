// Who holds a value: pins, adoptions, frees, destroys and resets of the same bytes together.
#include "simulator/lifetimes/held_value.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "simulator/lifetimes/lifetimes.h"
#include "simulator/report/check.h"
#include "tests/program_count.h"
#include "tests/simulator/lifetimes/lifetime_text.h"
#include "tests/simulator/programs/program_text.h"

namespace interlock::held_value_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Dispatch p writes x, which lies in m; a and b can adopt it.
Program program_on_held(std::string_view body) {
  return program_of(fmt::format(R"(
      memory m 64
      tensor x f32[4] at m+0
      tensor a f32[4]
      tensor b f32[2]
      p: dispatch K writes x
      {})",
                                body));
}

std::vector<std::string> on_held(std::string_view body) {
  return findings_of(program_on_held(body));
}

TEST(HeldValue, IsHeldByAPinnedTensorUntilItsUnpinThoughAnotherAdoptsIt) {
  EXPECT_THAT(on_held("pin x\nadopt a = x\nfree x\nr: dispatch K reads x\nunpin x"), IsEmpty());
  EXPECT_THAT(on_held("pin x\nadopt a = x\nfree x\nunpin x\nr: dispatch K reads x"),
              ElementsAre("clobber p r"));
  EXPECT_THAT(on_held("pin x\nadopt a = x\nfree x\nunpin x\nr: dispatch K reads a"), IsEmpty());
  EXPECT_THAT(on_held("adopt a = x\npin a\nfree a\nr: dispatch K reads a x\nunpin a"), IsEmpty());
}

// The pin is one of x alone: a lets go at once.
TEST(HeldValue, IsLetGoOfByWhoIsNotPinned) {
  EXPECT_THAT(on_held("pin x\nadopt a = x\nfree a\nr: dispatch K reads x\nunpin x"), IsEmpty());
  EXPECT_THAT(on_held("pin x\nadopt a = x\nfree a\nr: dispatch K reads a\nunpin x"),
              ElementsAre("clobber p r"));
  EXPECT_THAT(on_held("pin x\nadopt a = x\ngone: free x\nfree a\ns: dispatch K reads x\nunpin x\n"
                      "r: dispatch K reads x"),
              ElementsAre("use-after-free gone r"));
}

TEST(HeldValue, IsResetAtTheUnpinThatLeavesNoHolderPinned) {
  EXPECT_THAT(on_held("pin x\nadopt a = x\nclear: reset m\nfree x\ns: dispatch K reads x a\n"
                      "unpin x\nr: dispatch K reads a"),
              ElementsAre("use-after-free clear r"));
  EXPECT_THAT(
      on_held("pin x\nadopt a = x\npin a\nclear: reset m\nunpin x\ns: dispatch K reads x a\n"
              "unpin a\nr: dispatch K reads x"),
      ElementsAre("use-after-free clear r"));
  EXPECT_THAT(on_held("pin x\nadopt a = x\nr: dispatch K reads a\nclear: reset m\nfree x\nunpin x"),
              IsEmpty());
}

// A reset takes the bytes; a free that waits is of one holder, and who adopts meanwhile has them.
TEST(HeldValue, StaysWithWhoAdoptsItWhileAFreeWaits) {
  EXPECT_THAT(on_held("pin x\nfree x\nadopt a = x\nunpin x\nr: dispatch K reads a"), IsEmpty());
  EXPECT_THAT(on_held("pin x\nfree x\nadopt a = x\nunpin x\nr: dispatch K reads x"),
              ElementsAre("clobber p r"));
  EXPECT_THAT(on_held("pin x\ngone: free x\nunpin x\nadopt a = x\nr: dispatch K reads a"),
              ElementsAre("use-after-free gone r"));
  EXPECT_THAT(on_held("pin x\nclear: reset m\nadopt a = x\nunpin x\nr: dispatch K reads a"),
              ElementsAre("use-after-free clear r"));
}

TEST(HeldValue, IsHeldByAllThatAdoptIt) {
  const std::string adoptions = "adopt a = x\nadopt b = x\n";
  EXPECT_THAT(on_held(adoptions + "r: dispatch K reads x a b"), IsEmpty());
  EXPECT_THAT(on_held(adoptions + "free x\nfree b\nr: dispatch K reads a"), IsEmpty());
  EXPECT_THAT(on_held(adoptions + "free x\nfree a\nr: dispatch K reads b"), IsEmpty());
  // b is half as long, so its half alone lives on.
  EXPECT_THAT(on_held(adoptions + "free x\ngone: free a\nr: dispatch K reads m[0:8]"), IsEmpty());
  EXPECT_THAT(on_held(adoptions + "free x\ngone: free a\nr: dispatch K reads m[8:16]"),
              ElementsAre("use-after-free gone r"));
}

// As each replay of a capture may do.
TEST(HeldValue, IsHeldAgainByWhoAdoptsItAgain) {
  EXPECT_THAT(on_held("adopt a = x\nfree a\nadopt a = x\nfree x\nr: dispatch K reads a"),
              IsEmpty());
  EXPECT_THAT(on_held("adopt a = x\npin a\nfree a\nadopt a = x\nunpin a\nr: dispatch K reads a x"),
              IsEmpty());
  EXPECT_THAT(on_held("capture c\nw: dispatch K updates x\nadopt a = x\npin a\nfree a\n"
                      "l: dispatch K reads a\nunpin a\nend\nreplay c\nreplay c\n"
                      "r: dispatch K reads a"),
              ElementsAre("clobber w@2 r"));
}

TEST(HeldValue, IsTakenFromAllByAWrite) {
  EXPECT_THAT(on_held("pin x\nadopt a = x\nfree x\nw: dispatch K writes x\nunpin x\n"
                      "r: dispatch K reads x"),
              IsEmpty());
  EXPECT_THAT(on_held("pin x\nadopt a = x\nclear: reset m\nw: dispatch K writes x[0:8]\nunpin x\n"
                      "r: dispatch K reads x"),
              ElementsAre("use-after-free clear r"));
}

// Pins are counted; a free that is said once more changes nothing.
TEST(HeldValue, IsLetGoOfAtTheLastUnpin) {
  EXPECT_THAT(on_held("pin x\npin x\ngone: free x\nfree x\nunpin x\ns: dispatch K reads x\n"
                      "pin x\nunpin x\nunpin x\nr: dispatch K reads x"),
              ElementsAre("use-after-free gone r"));
  EXPECT_THAT(on_held("pin x\nclear: reset m\ngone: free x\nunpin x\nr: dispatch K reads x"),
              ElementsAre("use-after-free clear r"));
  EXPECT_THAT(on_held("pin x\ngone: free x\nclear: reset m\nunpin x\nr: dispatch K reads x"),
              ElementsAre("use-after-free gone r"));
}

// An arena is reset with some of it pinned: the rest goes.
TEST(HeldValue, IsResetByByte) {
  const Program program = program_of(
      "memory m 64\ntensor x f32[4] at m+0\ntensor y f32[4] at m+8\n"
      "dispatch K writes x\ndispatch K writes y\npin x\nclear: reset m\n"
      "s: dispatch K reads x[0:8]\nr: dispatch K reads y\nunpin x\nt: dispatch K reads x[0:8]");
  EXPECT_THAT(findings_of(program),
              ElementsAre("use-after-free clear r", "use-after-free clear t"));
}

// It must follow all accesses of the bytes, in each stage; which of them came last says nothing.
TEST(HeldValue, IsDestroyedBehindItsAccessesOfEachStage) {
  const std::string text =
      "tensor x f32[4] = ones\ntensor y f32[4]\ntensor z f32[4]\n"
      "c: dispatch copy reads x writes y\nu: dispatch K reads x writes z\n";
  EXPECT_THAT(findings_of(program_of(text + "gone: destroy x")),
              ElementsAre("use-after-free gone u", "use-after-free gone c"));
  EXPECT_THAT(findings_of(program_of(text + "barrier compute -> compute\ngone: destroy x")),
              ElementsAre("use-after-free gone c"));
  EXPECT_THAT(findings_of(program_of(text + "barrier copy -> copy\ngone: destroy x")),
              ElementsAre("use-after-free gone u"));
  EXPECT_THAT(findings_of(program_of(text + "barrier copy|compute -> compute\ngone: destroy x")),
              IsEmpty());
}

TEST(HeldValue, IsDestroyedAtTheUnpinThatTheDestroyWaitsFor) {
  EXPECT_THAT(on_held("barrier\npin x\ngone: destroy x\nr: dispatch K reads x\nunpin x"),
              ElementsAre("use-after-free gone r"));
  EXPECT_THAT(on_held("pin x\ngone: destroy x\nr: dispatch K reads x\nbarrier\nunpin x"),
              IsEmpty());
  EXPECT_THAT(on_held("pin x\nadopt a = x\ngone: destroy a"), ElementsAre("use-after-free gone p"));
  const Program program =
      program_on_held("barrier\npin x\ngone: destroy x\nr: dispatch K reads x\nunpin x");
  const CheckReport report = check(program);
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(
      report.findings[0].headline,
      "use-after-free: 'unpin x', for which 'destroy x' waited, comes after dispatch 1 while r (dispatch 1) reads m[0:16] as x.");
  EXPECT_EQ(report.findings[0].fix, "a barrier between r (dispatch 1) and 'unpin x'.");
}

// What a free ends at the unpin, a destroy still destroys there, in either order.
TEST(HeldValue, IsDestroyedAtTheUnpinThoughAFreeWaitsToo) {
  EXPECT_THAT(on_held("pin x\nfree x\ngone: destroy x\nbarrier\nunpin x"), IsEmpty());
  EXPECT_THAT(on_held("pin x\nfree x\ngone: destroy x\nunpin x"),
              ElementsAre("use-after-free gone p"));
  EXPECT_THAT(on_held("pin x\ngone: destroy x\nfree x\nbarrier\nunpin x"), IsEmpty());
  EXPECT_THAT(on_held("pin x\ngone: destroy x\nfree x\nunpin x"),
              ElementsAre("use-after-free gone p"));
  // The first one ends the value.
  EXPECT_THAT(on_held("pin x\nlet: free x\ngone: destroy x\nbarrier\nunpin x\n"
                      "r: dispatch K reads x"),
              ElementsAre("use-after-free let r"));
  EXPECT_THAT(on_held("pin x\ngone: destroy x\nlet: free x\nbarrier\nunpin x\n"
                      "r: dispatch K reads x"),
              ElementsAre("use-after-free gone r"));
  // Work between them is work before the unpin.
  EXPECT_THAT(on_held("pin x\nfree x\nr: dispatch K reads x\ngone: destroy x\nbarrier\nunpin x"),
              IsEmpty());
  EXPECT_THAT(on_held("pin x\nfree x\ngone: destroy x\nbarrier\nr: dispatch K reads x\nunpin x"),
              ElementsAre("use-after-free gone r"));
}

TEST(HeldValue, IsDestroyedOnceHoweverOftenItIsSaid) {
  EXPECT_THAT(on_held("pin x\ngone: destroy x\nagain: destroy x\nbarrier\nunpin x"), IsEmpty());
  EXPECT_THAT(on_held("pin x\ngone: destroy x\nagain: destroy x\nunpin x"),
              ElementsAre("use-after-free gone p"));
  EXPECT_THAT(on_held("pin x\npin x\ngone: destroy x\nunpin x\nbarrier\nunpin x"), IsEmpty());
  EXPECT_THAT(on_held("pin x\npin x\ngone: destroy x\nbarrier\nunpin x\n"
                      "r: dispatch K reads x\nunpin x"),
              ElementsAre("use-after-free gone r"));
  EXPECT_THAT(on_held("pin x\nlet: free x\nunpin x\npin x\ngone: destroy x\nbarrier\nunpin x"),
              ElementsAre("use-after-free gone p"))
      << "The value has ended when x is pinned again, so nothing waits.";
}

TEST(HeldValue, IsDestroyedAtTheUnpinThoughAResetWaitsToo) {
  for (const std::string_view order :
       {"clear: reset m\ngone: destroy x\n", "gone: destroy x\nclear: reset m\n"}) {
    EXPECT_THAT(on_held(fmt::format("pin x\n{}barrier\nunpin x", order)), IsEmpty());
    EXPECT_THAT(on_held(fmt::format("pin x\n{}unpin x", order)),
                ElementsAre("use-after-free gone p"));
  }
}

// Nothing waits there: bytes that were never written, whose value has ended, that another value or
// no value of a tensor lies on.
TEST(HeldValue, IsDestroyedAtOnceWhereAPinnedTensorHoldsNone) {
  EXPECT_THAT(on_held("pin a\ngone: destroy a\nbarrier\nunpin a"), IsEmpty())
      << "Nothing touches a.";
  EXPECT_THAT(on_held("free x\npin x\ngone: destroy x\nbarrier\nunpin x"),
              ElementsAre("use-after-free gone p"));
  EXPECT_THAT(on_held("barrier\nw: dispatch K writes m[0:16]\npin x\ngone: destroy x\nbarrier\n"
                      "unpin x"),
              ElementsAre("use-after-free gone w"));
  EXPECT_THAT(on_held("barrier\nw: dispatch K writes m[0:4]\npin x\ngone: destroy x\nbarrier\n"
                      "unpin x"),
              ElementsAre("use-after-free gone w"))
      << "It waits for the other bytes only.";
  EXPECT_THAT(on_held("w: dispatch K writes m[0:4]\nbarrier\npin x\ngone: destroy x\n"
                      "r: dispatch K reads x[4:16]\nbarrier\nunpin x"),
              IsEmpty());
  const Program donated = program_of(
      "tensor x f32[4]\ntensor y f32[4] donates x\np: dispatch K writes x\nbarrier\npin x\n"
      "w: dispatch K writes y\ngone: destroy x\nbarrier\nunpin x");
  EXPECT_THAT(findings_of(donated), ElementsAre("use-after-free gone w"));
  // What is written after the destroy is another value, which lives.
  EXPECT_THAT(on_held("barrier\nfree x\npin x\ngone: destroy x\nw: dispatch K writes x\n"
                      "unpin x\nr: dispatch K reads x"),
              IsEmpty());
}

TEST(HeldValue, LetsNoDestroyWaitForAnotherTensor) {
  EXPECT_THAT(on_held("pin x\nadopt a = x\nfree a\ngone: destroy a\nbarrier\nunpin x"),
              ElementsAre("use-after-free gone p"));
  EXPECT_THAT(on_held("adopt a = x\npin a\nfree a\ngone: destroy a\nbarrier\nunpin a"), IsEmpty());
  EXPECT_THAT(on_held("adopt a = x\npin a\nfree a\ngone: destroy a\nadopt a = x\nunpin a\n"
                      "r: dispatch K reads a"),
              IsEmpty())
      << "Who adopts it again keeps it, and nothing is destroyed.";
}

TEST(HeldValue, IsDestroyedInEachReplay) {
  const std::string capture =
      "capture c\nw: dispatch K writes x\npin x\nfree x\ngone: destroy x\n{}unpin x\nend\n"
      "barrier\nreplay c\nreplay c";
  EXPECT_THAT(on_held(fmt::format(fmt::runtime(capture), "barrier\n")), IsEmpty());
  EXPECT_THAT(on_held(fmt::format(fmt::runtime(capture), "")),
              ElementsAre("use-after-free gone@1 w@1", "use-after-free gone@2 w@2"));
}

TEST(HeldValue, SaysThatAPinnedTensorHoldsNothingWhereItIsDestroyed) {
  const CheckReport report =
      check(program_on_held("free x\npin x\ngone: destroy x\nbarrier\nunpin x"));
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].details.back(),
            "x is pinned, but holds no value there: the destroy does not wait for 'unpin x'.");
}

TEST(HeldValue, HasAHistoryOfItsHolders) {
  const CheckReport report = check(program_on_held(
      "pin x\nadopt a = x\nfree x\nunpin x\nbarrier\nr: dispatch K reads x writes b"));
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(
      report.findings[0].details.at(0),
      "m[0:16] held x from p (dispatch 0) on, was adopted as a after dispatch 0, stayed when it was freed after dispatch 0, pinned, then was let go of by x when it was unpinned after dispatch 0.");
  EXPECT_EQ(report.findings[0].fix, "put 'unpin x' after r (dispatch 1).");
}

// The clobber of the last of many adopters is found like that of the first.
TEST(HeldValue, IsFollowedForEachOfManyHolders) {
  std::string text = "memory m 16\ntensor x f32[4] at m+0\n";
  for (int i = 0; i < 200; ++i) text += fmt::format("tensor a{} f32[4]\n", i);
  text += "tensor o f32[4]\noutput o\nw: dispatch W writes x\n";
  for (int i = 0; i < 200; ++i) text += fmt::format("adopt a{} = x\n", i);
  text += "v: dispatch V writes x\nr: dispatch R reads a199 writes o\n";
  EXPECT_THAT(findings_of(program_of(text)), ElementsAre("clobber v r"));
}

// More adopters than are followed give no verdict, and never a clean one.
TEST(HeldValue, IsFollowedForSoManyHoldersOnly) {
  if (is_slow_build()) GTEST_SKIP() << "Checks up to a limit take seconds there.";
  const auto is_truncated = [](int adopter_count) {
    std::string text = "tensor x f32[4]\n";
    for (int i = 0; i < adopter_count; ++i) text += fmt::format("tensor a{} f32[4]\n", i);
    text += "dispatch K writes x\n";
    for (int i = 0; i < adopter_count; ++i) text += fmt::format("adopt a{} = x\n", i);
    const LifetimeReport report = check_lifetimes(program_of(text + "dispatch K reads x a0 a1"));
    EXPECT_THAT(report.findings, IsEmpty());
    return report.is_truncated();
  };
  EXPECT_FALSE(is_truncated(1400));
  EXPECT_TRUE(is_truncated(1500));
}

}  // namespace
}  // namespace interlock::held_value_test
