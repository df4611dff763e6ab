// Hazards, each beside its smallest repair.
#include "simulator/hazards/hazards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/program_count.h"
#include "tests/simulator/programs/program_text.h"

namespace interlock::hazards_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr FindingKind kRaw = FindingKind::kReadAfterWrite;
constexpr FindingKind kWar = FindingKind::kWriteAfterRead;
constexpr FindingKind kWaw = FindingKind::kWriteAfterWrite;

std::vector<Hazard> hazards_of(std::string_view body) {
  const Program program = program_on_abc(body);
  return find_hazards(program, HappensBefore(program)).hazards;
}

AccessRef at(size_t dispatch, uint32_t access = 0) { return {DispatchId(dispatch), access}; }

// The kinds between the first two dispatches, in order: "RAW WAW".
std::string kinds_of(std::string_view body) {
  std::string kinds;
  for (const Hazard& hazard : hazards_of(body)) {
    kinds += (kinds.empty() ? "" : " ") + std::string(word_of(hazard.kind));
  }
  return kinds;
}

TEST(FindHazards, ReadAfterWriteNeedsABarrier) {
  EXPECT_THAT(hazards_of(R"(
      dispatch Produce writes a[0:64]
      dispatch Consume reads a[32:96])"),
              ElementsAre(Hazard{kRaw, at(0), at(1), {32, 64}}));
  EXPECT_THAT(hazards_of(R"(
      dispatch Produce writes a[0:64]
      barrier
      dispatch Consume reads a[32:96])"),
              IsEmpty());
}

TEST(FindHazards, ReadAfterWriteNeedsAMemoryDependency) {
  EXPECT_THAT(hazards_of(R"(
      dispatch Produce writes a[0:64]
      barrier execution
      dispatch Consume reads a[32:96])"),
              ElementsAre(Hazard{kRaw, at(0), at(1), {32, 64}, true}));
}

TEST(FindHazards, WriteAfterWriteNeedsAMemoryDependency) {
  EXPECT_THAT(hazards_of(R"(
      dispatch One writes a[0:64]
      barrier execution
      dispatch Two writes a[0:64])"),
              ElementsAre(Hazard{kWaw, at(0), at(1), {0, 64}, true}));
  EXPECT_THAT(hazards_of(R"(
      dispatch One writes a[0:64]
      barrier
      dispatch Two writes a[0:64])"),
              IsEmpty());
}

TEST(FindHazards, WriteAfterReadNeedsAnExecutionDependencyOnly) {
  EXPECT_THAT(hazards_of(R"(
      dispatch Consume reads a[0:64]
      dispatch Overwrite writes a[0:64])"),
              ElementsAre(Hazard{kWar, at(0), at(1), {0, 64}}));
  EXPECT_THAT(hazards_of(R"(
      dispatch Consume reads a[0:64]
      barrier execution
      dispatch Overwrite writes a[0:64])"),
              IsEmpty());
}

TEST(FindHazards, AnExecutionBarrierDoesNotEndTheMemoryEpoch) {
  // The full barrier stands in front of the write, so nothing makes it visible.
  EXPECT_EQ(kinds_of(R"(
      dispatch Before reads b[0:4]
      barrier
      dispatch Produce writes a[0:4]
      barrier execution
      dispatch Other reads c[0:4]
      barrier execution
      dispatch Consume reads a[0:4])"),
            "RAW");
  // Full barriers count wherever they stand in between.
  EXPECT_EQ(kinds_of(R"(
      dispatch Produce writes a[0:4]
      barrier execution
      dispatch Other reads c[0:4]
      barrier
      dispatch Consume reads a[0:4])"),
            "");
}

TEST(FindHazards, TwoReadsNeedNothing) {
  EXPECT_EQ(kinds_of("dispatch A reads a[0:4]\ndispatch B reads a[0:4]\n"), "");
}

TEST(FindHazards, TouchingRangesShareNoByte) {
  EXPECT_EQ(kinds_of("dispatch A writes a[0:64]\ndispatch B writes a[64:128]\n"), "");
  EXPECT_EQ(kinds_of("dispatch A writes a[0:65]\ndispatch B writes a[64:128]\n"), "WAW");
  EXPECT_EQ(kinds_of("dispatch A writes a[64:128]\ndispatch B reads a[0:64]\n"), "");
  EXPECT_EQ(kinds_of("dispatch A writes a[64:128]\ndispatch B reads a[0:65]\n"), "RAW");
}

TEST(FindHazards, EmptyRangesConflictWithNothing) {
  EXPECT_EQ(kinds_of("dispatch A writes a[8:8]\ndispatch B writes a[0:64]\n"), "");
  EXPECT_EQ(kinds_of("dispatch A writes a[0:64]\ndispatch B updates a[8:8]\n"), "");
}

TEST(FindHazards, MemoriesAreApart) {
  EXPECT_EQ(kinds_of("dispatch A writes a[0:64]\ndispatch B reads b[0:64]\n"), "");
}

TEST(FindHazards, UpdatesReadAndWrite) {
  EXPECT_EQ(kinds_of("dispatch A updates a[0:4]\ndispatch B reads a[0:4]\n"), "RAW");
  EXPECT_EQ(kinds_of("dispatch A reads a[0:4]\ndispatch B updates a[0:4]\n"), "WAR");
  EXPECT_EQ(kinds_of("dispatch A updates a[0:4]\ndispatch B updates a[0:4]\n"), "RAW WAR WAW");
  EXPECT_EQ(kinds_of("dispatch A updates a[0:4]\nbarrier execution\ndispatch B updates a[0:4]\n"),
            "RAW WAW");
  EXPECT_EQ(kinds_of("dispatch A updates a[0:4]\nbarrier\ndispatch B updates a[0:4]\n"), "");
}

TEST(FindHazards, AChainOfUpdatesIsListedLinkByLink) {
  EXPECT_THAT(
      hazards_of(R"(
      dispatch A updates a[0:4]
      dispatch B updates a[0:4]
      barrier
      dispatch C updates a[0:4]
      barrier execution
      dispatch D updates a[0:4])"),
      ElementsAre(Hazard{kRaw, at(0), at(1), {0, 4}}, Hazard{kWar, at(0), at(1), {0, 4}},
                  Hazard{kWaw, at(0), at(1), {0, 4}}, Hazard{kRaw, at(2), at(3), {0, 4}, true},
                  Hazard{kWaw, at(2), at(3), {0, 4}, true}));
}

TEST(FindHazards, AtomicsOfOneOperationCommute) {
  EXPECT_EQ(kinds_of(R"(
      dispatch A atomics c[0:4] atomic=add
      dispatch B atomics c[0:4] atomic=add)"),
            "");
  EXPECT_EQ(kinds_of(R"(
      dispatch A atomics c[0:4] atomic=add
      dispatch B atomics c[0:4] atomic=max)"),
            "RAW WAR WAW");
}

TEST(FindHazards, AtomicsConflictWithPlainAccesses) {
  EXPECT_EQ(kinds_of("dispatch A atomics c[0:4] atomic=add\ndispatch B reads c[0:4]\n"), "RAW");
  EXPECT_EQ(kinds_of("dispatch A reads c[0:4]\ndispatch B atomics c[0:4] atomic=add\n"), "WAR");
  EXPECT_EQ(kinds_of("dispatch A writes c[0:4]\ndispatch B atomics c[0:4] atomic=add\n"),
            "RAW WAW");
  EXPECT_EQ(kinds_of("dispatch A atomics c[0:4] atomic=add\ndispatch B writes c[0:4]\n"),
            "WAR WAW");
}

TEST(FindHazards, LookThroughCommutingAtomics) {
  // The zeroing write hides behind the first atomic, which commutes with the second.
  EXPECT_THAT(hazards_of(R"(
      dispatch Zero writes c[0:4]
      barrier
      dispatch A atomics c[0:4] atomic=add
      dispatch Zero writes c[0:2]
      dispatch A atomics c[0:4] atomic=add
      dispatch B atomics c[0:4] atomic=add)"),
              ElementsAre(Hazard{kWar, at(1), at(2), {0, 2}}, Hazard{kWaw, at(1), at(2), {0, 2}},
                          Hazard{kRaw, at(2), at(3), {0, 2}}, Hazard{kWaw, at(2), at(3), {0, 2}},
                          Hazard{kRaw, at(2), at(4), {0, 2}}, Hazard{kWaw, at(2), at(4), {0, 2}}));
}

TEST(FindHazards, PartialWritesAreWrites) {
  EXPECT_EQ(kinds_of("dispatch A writes a[0:4] partial\ndispatch B writes a[0:4]\n"), "WAW");
}

TEST(FindHazards, ListTheLatestWriterOfEachByte) {
  EXPECT_THAT(hazards_of(R"(
      dispatch Old writes a[0:64]
      dispatch Low writes a[0:32]
      dispatch Consume reads a[0:64])"),
              ElementsAre(Hazard{kWaw, at(0), at(1), {0, 32}}, Hazard{kRaw, at(0), at(2), {0, 64}},
                          Hazard{kRaw, at(1), at(2), {0, 32}}));
  // Fully covered, the old writer is listed against its overwriter only.
  EXPECT_THAT(
      hazards_of(R"(
      dispatch Old writes a[0:32]
      dispatch Low writes a[0:32]
      dispatch Consume reads a[0:32])"),
      ElementsAre(Hazard{kWaw, at(0), at(1), {0, 32}}, Hazard{kRaw, at(1), at(2), {0, 32}}));
}

TEST(FindHazards, OneHazardStandsForAllOperandsOfAPair) {
  EXPECT_THAT(hazards_of(R"(
      dispatch Produce writes b[0:4] a[0:4]
      dispatch Consume reads a[0:4] b[2:8])"),
              ElementsAre(Hazard{kRaw, at(0, 0), at(1, 1), {2, 4}}));
}

TEST(FindHazards, AccessesOfOneDispatchDoNotConflict) {
  EXPECT_EQ(kinds_of("dispatch InPlace reads a[0:4] writes a[0:4]\n"), "");
}

TEST(FindAllHazards, ListsEveryPair) {
  const Program program = program_on_abc(R"(
      dispatch Old writes a[0:32]
      dispatch Low writes a[0:32]
      dispatch Consume reads a[0:32])");
  EXPECT_THAT(find_all_hazards(program, HappensBefore(program)).hazards,
              ElementsAre(Hazard{kWaw, at(0), at(1), {0, 32}}, Hazard{kRaw, at(0), at(2), {0, 32}},
                          Hazard{kRaw, at(1), at(2), {0, 32}}));
}

TEST(FindAllHazards, ExaminesOnlyPairsThatAreHazards) {
  // Half a billion pairs of readers, of commuting atomics, and of reads before an execution barrier
  // with the write after it: examining them all would take minutes.
  const int count = program_count(30'000, 6);
  std::string body;
  for (int i = 0; i < count; ++i) body += "dispatch R reads a[0:1]\n";
  for (int i = 0; i < count; ++i) body += "dispatch A atomics b[0:4] atomic=add\n";
  body += "barrier execution\n";
  for (int i = 0; i < count; ++i) body += "dispatch R reads c[0:1]\n";
  body += "barrier execution\ndispatch W writes a[0:1] c[0:1]\n";
  const Program program = program_on_abc(body);
  EXPECT_THAT(find_all_hazards(program, HappensBefore(program)).hazards, IsEmpty());
}

TEST(FindAllHazards, StopsAtTheLimit) {
  std::string body;
  for (int i = 0; i < 2'000; ++i) body += "dispatch W writes a[0:1]\n";
  const Program program = program_on_abc(body);
  const std::vector<Hazard> some = find_all_hazards(program, HappensBefore(program), 5).hazards;
  EXPECT_THAT(some,
              ElementsAre(Hazard{kWaw, at(0), at(1), {0, 1}}, Hazard{kWaw, at(0), at(2), {0, 1}},
                          Hazard{kWaw, at(1), at(2), {0, 1}}, Hazard{kWaw, at(0), at(3), {0, 1}},
                          Hazard{kWaw, at(1), at(3), {0, 1}}));
}

TEST(FindHazards, FindTheOneConflictOfManyOperands) {
  // Two dispatches of 250 operands; the last and the first of them conflict.
  std::string low = "memory x 100000\ndispatch Low writes";
  std::string high = "\ndispatch High writes";
  for (int i = 0; i < 250; ++i) {
    low += " x[" + std::to_string(i) + ":" + std::to_string(i + 1) + "]";
    high += " x[" + std::to_string(249 + i) + ":" + std::to_string(250 + i) + "]";
  }
  const Program program = program_of(low + high + "\n");
  const HappensBefore order(program);
  EXPECT_THAT(find_hazards(program, order).hazards,
              ElementsAre(Hazard{kWaw, at(0, 249), at(1, 0), {249, 250}}));
  EXPECT_EQ(find_all_hazards(program, order).hazards, find_hazards(program, order).hazards);
}

TEST(HappensBefore, NumbersEpochs) {
  const Program program = program_on_abc(R"(
      barrier
      dispatch A reads a
      dispatch B reads a
      barrier
      barrier
      dispatch C reads a
      barrier execution
      dispatch D reads a
      barrier)");
  const HappensBefore order(program);
  const DispatchId a(size_t{0});
  const DispatchId b(1);
  const DispatchId c(2);
  const DispatchId d(3);
  EXPECT_FALSE(order.executes_before(a, b));
  EXPECT_TRUE(order.executes_before(b, c));
  EXPECT_FALSE(order.executes_before(c, b));
  EXPECT_TRUE(order.is_visible_everywhere(b, c, StageAccess::kComputeRead));
  EXPECT_TRUE(order.executes_before(c, d));
  EXPECT_FALSE(order.is_visible_everywhere(c, d, StageAccess::kComputeRead));
  EXPECT_EQ(order.execution_epoch_begin(b), a);
  EXPECT_EQ(order.execution_epoch_begin(d), d);
  EXPECT_EQ(order.memory_epoch_begin(d), c);
}

}  // namespace
}  // namespace interlock::hazards_test
