// What barriers do to their operands has hazards of its own, at both ends, on one queue and on
// several; each beside its smallest repair.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/program/words.h"
#include "simulator/barriers/sync_redundancy.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/report/check.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::transitions_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kDeclarations =
    "interlock 1\n"
    "memory img 64\n"
    "memory buf 64\n"
    "memory out 64\n"
    "q1: queue concurrent\n";

Program program_of(const std::string& statements) {
  return reference_run(program_with_queues(std::string(kDeclarations) + statements));
}

// "RAW copy fence".
std::vector<std::string> hazards_of(const std::string& statements) {
  const Program program = program_of(statements);
  std::vector<std::string> hazards;
  for (const Hazard& hazard : find_all_hazards(program, HappensBefore(program)).hazards) {
    hazards.push_back(fmt::format("{} {} {}", word_of(hazard.kind),
                                  program.reference_of(hazard.first.dispatch),
                                  program.reference_of(hazard.second.dispatch)));
  }
  return hazards;
}

constexpr std::string_view kUpload = "copy: dispatch Upload in copy reads buf writes img\n";
constexpr std::string_view kDraw = "draw: dispatch Draw in graphics reads img writes out\n";

TEST(TransitionHazards, AreThereWhereTheFirstScopeMissesAWrite) {
  EXPECT_THAT(hazards_of(fmt::format("{}fence: barrier none -> graphics.read transitions img\n{}",
                                     kUpload, kDraw)),
              ElementsAre("RAW copy fence", "WAW copy fence", "RAW copy draw"));
  EXPECT_THAT(hazards_of(fmt::format("{}fence: barrier copy -> graphics.read transitions img\n{}",
                                     kUpload, kDraw)),
              ElementsAre("RAW copy fence", "WAW copy fence", "RAW copy draw"));
  EXPECT_THAT(
      hazards_of(fmt::format("{}fence: barrier copy.write -> graphics.read transitions img\n{}",
                             kUpload, kDraw)),
      IsEmpty());
}

TEST(TransitionHazards, NeedOrderAndNoMoreAfterARead) {
  constexpr std::string_view kRead = "look: dispatch Look reads img writes out\n";
  EXPECT_THAT(hazards_of(fmt::format("{}fence: barrier copy -> copy transitions img\n", kRead)),
              ElementsAre("WAR look fence"));
  EXPECT_THAT(hazards_of(fmt::format("{}fence: barrier copy -> copy discards img\n", kRead)),
              ElementsAre("WAR look fence"));
  EXPECT_THAT(hazards_of(fmt::format("{}fence: barrier compute -> copy transitions img\n", kRead)),
              IsEmpty());
}

TEST(TransitionHazards, AreThereWhereTheSecondScopeMissesAnAccess) {
  EXPECT_THAT(hazards_of(fmt::format("fence: barrier none -> none transitions img\n{}", kDraw)),
              ElementsAre("RAW fence draw"));
  EXPECT_THAT(hazards_of(fmt::format("fence: barrier none -> graphics transitions img\n{}", kDraw)),
              ElementsAre("RAW fence draw"));
  EXPECT_THAT(
      hazards_of(fmt::format("fence: barrier none -> graphics.read transitions img\n{}", kDraw)),
      IsEmpty());
  EXPECT_THAT(hazards_of(fmt::format("fence: barrier none -> copy discards img\n{}", kUpload)),
              ElementsAre("WAW fence copy"));
  EXPECT_THAT(hazards_of(fmt::format("fence: barrier none -> copy transitions img\n{}", kUpload)),
              ElementsAre("WAW fence copy"));
  EXPECT_THAT(hazards_of(fmt::format("fence: barrier none -> none transitions img\n{}", kUpload)),
              ElementsAre("WAR fence copy", "WAW fence copy"));
  EXPECT_THAT(
      hazards_of(fmt::format("fence: barrier none -> copy.write discards img\n{}", kUpload)),
      IsEmpty());
}

// What it writes is available at once, and travels along a chain without further accesses.
TEST(TransitionHazards, AreNoneWhereAChainLeadsOn) {
  EXPECT_THAT(hazards_of(fmt::format("fence: barrier none -> compute transitions img\n"
                                     "barrier compute -> graphics.read\n{}",
                                     kDraw)),
              IsEmpty());
  EXPECT_THAT(hazards_of(fmt::format("fence: barrier none -> compute transitions img\n"
                                     "barrier copy -> graphics.read\n{}",
                                     kDraw)),
              ElementsAre("RAW fence draw"));
  // And what is available is visible to it.
  EXPECT_THAT(hazards_of(fmt::format("{}barrier copy.write -> compute\n"
                                     "fence: barrier compute -> graphics.read transitions img\n{}",
                                     kUpload, kDraw)),
              IsEmpty());
}

TEST(TransitionHazards, AreOnTheBytesOfItsOperandsAlone) {
  EXPECT_THAT(hazards_of("a: dispatch Fill writes img[0:32]\n"
                         "fence: barrier none -> none transitions img[32:64]\n"),
              IsEmpty());
  EXPECT_THAT(hazards_of("a: dispatch Fill writes img[0:33]\n"
                         "fence: barrier none -> none transitions img[32:64]\n"),
              ElementsAre("RAW a fence", "WAW a fence"));
}

TEST(TransitionHazards, AreNoneBetweenTransitionsOfOneQueue) {
  EXPECT_THAT(
      hazards_of("one: barrier none -> none transitions img\n"
                 "two: barrier none -> none discards img\n"
                 "three: barrier none -> none transitions img, none -> none transitions img\n"),
      IsEmpty());
  EXPECT_THAT(hazards_of("one: barrier none -> none transitions img\n"
                         "two: barrier none -> none discards img on q1\n"),
              ElementsAre("WAR one two", "WAW one two"));
}

TEST(TransitionHazards, AreOrderedByTheScopesOfTheirOwnDependency) {
  // Those of one barrier do not chain: the second transition does not wait for compute.
  EXPECT_THAT(
      hazards_of("a: dispatch Fill writes buf\n"
                 "fence: barrier copy.write -> none transitions img[0:8], compute.write -> none "
                 "transitions buf\n"),
      IsEmpty());
  EXPECT_THAT(
      hazards_of("a: dispatch Fill writes buf\n"
                 "fence: barrier compute.write -> none transitions img[0:8], copy.write -> none "
                 "transitions buf, none -> all transitions out\n"),
      // Transitions of one queue are in order, and so the second one comes after the first.
      ElementsAre("RAW a fence@2", "WAW a fence@2"));
}

TEST(TransitionHazards, AreOrderedByFullBarriersAndAllStages) {
  for (const char* const barrier : {"barrier\n", "barrier all.write -> all.read|all.write\n",
                                    "barrier device.write -> device\n"}) {
    EXPECT_THAT(
        hazards_of(fmt::format("{}{}fence: barrier none -> graphics.read transitions img\n{}",
                               kUpload, barrier, kDraw)),
        IsEmpty())
        << barrier;
  }
  EXPECT_THAT(hazards_of(fmt::format("fence: barrier none -> none transitions img\n"
                                     "barrier device -> graphics.read\n{}",
                                     kDraw)),
              IsEmpty());
  // Execution only makes nothing available to it.
  EXPECT_THAT(hazards_of(fmt::format("{}barrier execution\n"
                                     "fence: barrier none -> copy transitions img\n",
                                     kUpload)),
              ElementsAre("RAW copy fence", "WAW copy fence"));
}

TEST(TransitionHazards, AreOrderedAcrossQueuesBySemaphoresForAllStages) {
  const auto transfer = [](std::string_view signal, std::string_view wait) {
    return hazards_of(
        fmt::format("{}release: barrier copy.write -> none transitions img\n"
                    "signal s=1{}\n"
                    "wait s=1{} on q1\n"
                    "acquire: barrier none -> graphics.read transitions img on q1\n"
                    "draw: dispatch Draw in graphics reads img writes out on q1\n",
                    kUpload, signal, wait));
  };
  EXPECT_THAT(transfer("", ""), IsEmpty());
  EXPECT_THAT(transfer(" after copy", ""), ElementsAre("RAW release acquire", "WAR release acquire",
                                                       "WAW release acquire", "RAW release draw"));
  EXPECT_THAT(transfer("", " before graphics"),
              ElementsAre("RAW copy acquire", "WAW copy acquire", "RAW release acquire",
                          "WAR release acquire", "WAW release acquire"));
}

TEST(TransitionHazards, AreOrderedByStagesThatChainIntoTheirFirstScope) {
  const auto acquire = [](std::string_view source) {
    return hazards_of(
        fmt::format("{}signal s=1\n"
                    "wait s=1 before graphics on q1\n"
                    "acquire: barrier {} -> graphics.read transitions img on q1\n",
                    kUpload, source));
  };
  EXPECT_THAT(acquire("graphics"), IsEmpty());
  EXPECT_THAT(acquire("compute"), ElementsAre("RAW copy acquire", "WAW copy acquire"));
}

TEST(TransitionHazards, AreOrderedAgainstTheHostAsOthersAre) {
  EXPECT_THAT(hazards_of("up: host writes img\n"
                         "fence: barrier none -> copy.read transitions img\n"),
              IsEmpty());  // What the host wrote before the submission is there.
  EXPECT_THAT(hazards_of("fence: barrier none -> host.read transitions img\n"
                         "host idle\n"
                         "down: host reads img\n"),
              IsEmpty());
  EXPECT_THAT(hazards_of("fence: barrier none -> copy.read transitions img\n"
                         "host idle\n"
                         "down: host reads img\n"),
              ElementsAre("RAW fence down"));
}

TEST(Graphics, ComesAfterItsArgumentsAndHasUniformReads) {
  constexpr std::string_view kIndirect =
      "draw: dispatch Draw in graphics indirect buf[0:16] writes out\n";
  EXPECT_THAT(hazards_of(fmt::format("a: dispatch Fill writes buf\n"
                                     "barrier compute.write -> graphics.read\n{}",
                                     kIndirect)),
              ElementsAre("RAW a draw"));
  EXPECT_THAT(hazards_of(fmt::format("a: dispatch Fill writes buf\n"
                                     "barrier compute.write -> indirect.read\n{}",
                                     kIndirect)),
              IsEmpty());
  // Who waits for graphics waits for the arguments, too.
  EXPECT_THAT(hazards_of(fmt::format("{}barrier graphics -> compute\n"
                                     "a: dispatch Fill writes buf\n",
                                     kIndirect)),
              IsEmpty());
  EXPECT_THAT(hazards_of("a: dispatch Fill writes buf\n"
                         "barrier compute.write -> graphics.read\n"
                         "b: dispatch Draw in graphics uniform buf writes out\n"),
              ElementsAre("RAW a b"));
}

TEST(TransitionFindings, SayWhichScopeLacksWhat) {
  const CheckReport report = check(
      program_of(fmt::format("{}fence: barrier none -> copy.read transitions img\n", kUpload)));
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].headline,
            "RAW hazard: fence (transitions) updates img[0:64], which copy (dispatch 0) writes.");
  EXPECT_EQ(
      report.findings[0].fix,
      "let 'barrier none -> copy.read transitions img' (fence, statement 1) name copy.write in "
      "its source: `barrier copy.write -> copy.read transitions img`.");
  ASSERT_EQ(report.findings[0].repair.size(), 1u);
  EXPECT_EQ(report.findings[0].repair[0].text,
            "fence: barrier copy.write -> copy.read transitions img");
  const CheckReport after =
      check(program_of(fmt::format("fence: barrier none -> none transitions img\n{}", kDraw)));
  ASSERT_EQ(after.findings.size(), 1u);
  EXPECT_THAT(after.findings[0].fix, HasSubstr("in its destination"));
}

// It is no advice to leave a transition out; what its scopes need not name is.
TEST(TransitionAdvice, TakesNoTransitionAway) {
  const Program program = program_of("fence: barrier copy.read -> graphics.read transitions img\n");
  const SyncRedundancy sync = find_redundant_sync(program);
  for (const SyncPiece& piece : sync.redundant) {
    EXPECT_TRUE(piece.is_word());
    EXPECT_EQ(piece.kind, SyncPieceKind::kScope);
  }
  EXPECT_FALSE(sync.redundant.empty());
}

TEST(WaitsFromOutside, OrderNothingAndAreNoAdvice) {
  constexpr std::string_view kText =
      "a: dispatch Fill writes img\n"
      "signal s=1\n"
      "wait s=1{} on q1\n"
      "b: dispatch Look reads img writes out on q1\n";
  EXPECT_THAT(hazards_of(fmt::format(kText, "")), IsEmpty());
  EXPECT_THAT(hazards_of(fmt::format(kText, " from outside")), ElementsAre("RAW a b"));
  const Program alone = program_of(
      "wait s=7 from outside on q1\nhost waits s=9 from outside\n"
      "b: dispatch Look reads img writes out on q1\n");
  const CheckReport report = check(alone);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_THAT(report.redundant_sync, IsEmpty());
}

TEST(DiscardedValues, AreUninitializedUntilSomebodyWritesThem) {
  const auto findings_of = [](std::string_view statements) {
    std::vector<std::string> words;
    const Program program = reference_run(program_with_queues(fmt::format(
        "interlock 1\nmemory m 64\nmemory out 64\ntensor t u8[64] at m+0 = ones\n{}", statements)));
    for (const Finding& finding : check(program).findings) {
      words.emplace_back(word_of(finding.kind));
    }
    return words;
  };
  EXPECT_THAT(findings_of("barrier none -> all.read discards t\ndispatch K reads t writes out\n"),
              ElementsAre("uninitialized"));
  EXPECT_THAT(
      findings_of("barrier none -> all.read transitions t\ndispatch K reads t writes out\n"),
      IsEmpty());
  EXPECT_THAT(findings_of("barrier none -> all.read|all.write discards t\n"
                          "dispatch K writes t\nbarrier\ndispatch K reads t writes out\n"),
              IsEmpty());
}

}  // namespace
}  // namespace interlock::transitions_test
