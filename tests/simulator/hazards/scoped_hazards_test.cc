// Scoped barriers, each hazard beside its smallest repair; find_hazards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "simulator/hazards/hazards.h"
#include "tests/simulator/programs/program_text.h"

namespace interlock::scoped_hazards_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr FindingKind kRaw = FindingKind::kReadAfterWrite;

std::vector<Hazard> hazards_of(std::string_view body) {
  const Program program = program_on_abc(body);
  return find_hazards(program, HappensBefore(program)).hazards;
}

AccessRef at(size_t dispatch, uint32_t access = 0) { return {DispatchId(dispatch), access}; }

// "RAW 0 1 [0:64]", with "ordered" after it if it is.
std::string text_of(const std::vector<Hazard>& hazards) {
  std::vector<std::string> lines;
  for (const Hazard& hazard : hazards) {
    lines.push_back(fmt::format("{} {} {} [{}:{}]{}", word_of(hazard.kind),
                                hazard.first.dispatch.index, hazard.second.dispatch.index,
                                hazard.overlap.begin, hazard.overlap.end,
                                hazard.is_ordered ? " ordered" : ""));
  }
  return fmt::format("{}", fmt::join(lines, "; "));
}

std::string hazards_in(std::string_view body) { return text_of(hazards_of(body)); }

// A write of a[0:64] by a dispatch, the barriers, and a read of it by a dispatch.
std::string hazards_behind_write(std::string_view barriers) {
  return hazards_in(fmt::format(R"(
      dispatch Produce writes a[0:64]
      {}
      dispatch Consume reads a[0:64])",
                                barriers));
}

TEST(ScopedBarrier, NeedsTheWriteInItsSourceAndTheReadInItsDestination) {
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> compute.read"), "");
  EXPECT_EQ(hazards_behind_write("barrier compute.read -> compute.read"), "RAW 0 1 [0:64] ordered");
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> compute.write"),
            "RAW 0 1 [0:64] ordered");
  EXPECT_EQ(hazards_behind_write("barrier compute -> compute"), "RAW 0 1 [0:64] ordered");
  EXPECT_EQ(hazards_behind_write("barrier all.write -> all.read"), "");
}

TEST(ScopedBarrier, OrdersOnlyItsStages) {
  EXPECT_EQ(hazards_behind_write("barrier copy.write -> compute.read"), "RAW 0 1 [0:64]");
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> copy.read"), "RAW 0 1 [0:64]");
  EXPECT_EQ(hazards_in(R"(
      dispatch Produce writes a[0:64]
      barrier compute.write -> copy.read
      dispatch copy reads a[0:64] writes b[0:64])"),
            "");
  EXPECT_EQ(hazards_in(R"(
      dispatch Produce writes a[0:64]
      barrier compute.write -> compute.read
      dispatch copy reads a[0:64] writes b[0:64])"),
            "RAW 0 1 [0:64]");
}

TEST(ScopedBarrier, TellsAUniformReadFromAShaderRead) {
  EXPECT_EQ(hazards_in(R"(
      dispatch Produce writes a[0:64]
      barrier compute.write -> compute.read
      dispatch Consume uniform a[0:64])"),
            "RAW 0 1 [0:64] ordered");
  EXPECT_EQ(hazards_in(R"(
      dispatch Produce writes a[0:64]
      barrier compute.write -> compute.uniform
      dispatch Consume uniform a[0:64])"),
            "");
  EXPECT_EQ(hazards_in(R"(
      dispatch Produce writes a[0:64]
      barrier compute.write -> all.read
      dispatch Consume uniform a[0:64] reads a[0:64])"),
            "");
}

TEST(ScopedBarrier, MakesAWriteVisibleToTheWriteThatFollows) {
  EXPECT_EQ(hazards_in(R"(
      dispatch One writes a[0:64]
      barrier compute.write -> compute.read
      dispatch Two writes a[0:64])"),
            "WAW 0 1 [0:64] ordered");
  EXPECT_EQ(hazards_in(R"(
      dispatch One writes a[0:64]
      barrier compute.write -> compute.write
      dispatch Two writes a[0:64])"),
            "");
  EXPECT_EQ(hazards_in(R"(
      dispatch One writes a[0:64]
      barrier compute.write -> compute.write
      dispatch Two updates a[0:64])"),
            "RAW 0 1 [0:64] ordered");
}

TEST(ScopedBarrier, SeparatesAWriteFromAReadByOrderAlone) {
  EXPECT_EQ(hazards_in(R"(
      dispatch Consume reads a[0:64]
      dispatch Overwrite writes a[0:64])"),
            "WAR 0 1 [0:64]");
  EXPECT_EQ(hazards_in(R"(
      dispatch Consume reads a[0:64]
      barrier compute -> compute
      dispatch Overwrite writes a[0:64])"),
            "");
  EXPECT_EQ(hazards_in(R"(
      dispatch Consume reads a[0:64]
      barrier compute -> copy
      dispatch Overwrite writes a[0:64])"),
            "WAR 0 1 [0:64]");
}

TEST(ScopedBarrier, ChainsWithAnotherCommandAndNotWithinOne) {
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> copy, copy -> compute.read"),
            "RAW 0 1 [0:64]");
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> copy\nbarrier copy -> compute.read"),
            "");
  EXPECT_EQ(hazards_behind_write("barrier copy -> compute.read\nbarrier compute.write -> copy"),
            "RAW 0 1 [0:64]");
}

TEST(ScopedBarrier, MayHaveToBeRepeated) {
  const std::string_view barrier = "barrier compute.write -> copy, copy -> compute.read";
  EXPECT_EQ(hazards_behind_write(barrier), "RAW 0 1 [0:64]");
  EXPECT_EQ(hazards_behind_write(fmt::format("{}\n{}", barrier, barrier)), "");
}

TEST(ScopedBarrier, LetsAvailabilityTravelThroughExecution) {
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> copy\nbarrier execution\n"
                                 "barrier compute -> compute.read"),
            "");
  EXPECT_EQ(hazards_behind_write("barrier compute -> copy\nbarrier execution\n"
                                 "barrier compute -> compute.read"),
            "RAW 0 1 [0:64] ordered");
}

TEST(ScopedBarrier, MakesVisibleOnlyInItsOperands) {
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> compute.read a[0:64]"), "");
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> compute.read a[0:32]"),
            "RAW 0 1 [32:64] ordered");
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> compute.read a[1:63]"),
            "RAW 0 1 [0:1] ordered");
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> compute.read b"),
            "RAW 0 1 [0:64] ordered");
  EXPECT_EQ(
      hazards_behind_write(
          "barrier compute.write -> compute.read a[0:32], compute.write -> compute.read a[32:64]"),
      "");
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> compute.read b a[0:32] a[16:64]"), "");
}

TEST(ScopedBarrier, OrdersExecutionWhateverItsOperandsAre) {
  EXPECT_EQ(hazards_in(R"(
      dispatch Consume reads a[0:64]
      barrier compute.write -> compute.read b
      dispatch Overwrite writes a[0:64])"),
            "");
}

// Availability, once it is there, travels along execution; visibility needs the bytes.
TEST(ScopedBarrier, CarriesAvailabilityThroughOtherOperandsButNotVisibility) {
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> copy a[0:64]\n"
                                 "barrier copy -> copy.read b\n"
                                 "barrier copy -> compute.read a[0:64]"),
            "");
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> copy a[0:64]\n"
                                 "barrier copy -> compute.read b"),
            "RAW 0 1 [0:64] ordered");
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> copy b\n"
                                 "barrier copy -> compute.read a[0:64]"),
            "RAW 0 1 [0:64] ordered");
}

TEST(ScopedBarrier, CompletesTheIndirectStage) {
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> indirect\n"
                                 "barrier compute -> compute.read"),
            "");
  EXPECT_EQ(hazards_behind_write("barrier compute.write -> copy\n"
                                 "barrier copy -> indirect\nbarrier compute -> compute.read"),
            "");
}

TEST(FindHazards, ListTheLatestOfEachStage) {
  // Two writers in two stages, and an earlier one of each that the later ones hide.
  EXPECT_EQ(hazards_in(R"(
      dispatch One writes a[0:64]
      dispatch fill writes a[0:64] value=1
      barrier all.write -> all.write
      dispatch Two writes a[0:64]
      barrier compute.write -> copy.write
      dispatch fill writes a[0:64] value=2
      barrier host -> compute.read
      dispatch Consume reads a[0:64])"),
            "WAW 0 1 [0:64]; RAW 2 4 [0:64]; RAW 3 4 [0:64]");
  EXPECT_EQ(hazards_in(R"(
      dispatch One reads a[0:64]
      dispatch copy reads a[0:64] writes b[0:64]
      barrier host -> host
      dispatch Consume writes a[0:64])"),
            "WAR 0 2 [0:64]; WAR 1 2 [0:64]");
}

TEST(FindHazards, HideNoAtomicsBehindOnesThatCommute) {
  EXPECT_EQ(hazards_in(R"(
      dispatch Init writes a[0:4]
      dispatch Count atomics a[0:4] atomic=add
      barrier host -> host
      dispatch Count atomics a[0:4] atomic=add)"),
            "RAW 0 1 [0:4]; WAW 0 1 [0:4]; RAW 0 2 [0:4]; WAW 0 2 [0:4]");
  EXPECT_EQ(hazards_in(R"(
      dispatch Init writes a[0:4]
      barrier compute.write -> compute.read|compute.write a[0:4]
      dispatch Count atomics a[0:4] atomic=add
      dispatch Count atomics a[0:4] atomic=add)"),
            "");
}

TEST(FindHazards, ReportThePairOfAccessesThatIsNotSeparated) {
  EXPECT_THAT(hazards_of(R"(
      dispatch Produce writes a[0:64] b[0:64]
      barrier compute.write -> compute.read a
      dispatch Consume uniform c[0:64] reads a[0:64] b[0:64])"),
              ElementsAre(Hazard{kRaw, at(0, 1), at(1, 2), {0, 64}, true}));
  EXPECT_THAT(hazards_of(R"(
      dispatch Produce writes a[0:64]
      barrier compute.write -> compute.read
      dispatch Consume uniform a[32:64] reads a[0:64])"),
              ElementsAre(Hazard{kRaw, at(0), at(1), {32, 64}, true}));
}

TEST(FindHazards, FindNoneBehindFullBarriersAmongScopedOnes) {
  EXPECT_THAT(hazards_of(R"(
      dispatch Produce writes a[0:64]
      barrier copy -> host
      barrier
      dispatch copy reads a[0:64] writes b[0:64]
      barrier
      dispatch Consume reads b[0:64] writes a[0:64])"),
              IsEmpty());
}

TEST(FindAllHazards, ListEveryPairAcrossScopedBarriers) {
  const Program program = program_on_abc(R"(
      dispatch One writes a[0:64]
      barrier compute.write -> compute.write
      dispatch Two writes a[0:64]
      barrier compute.write -> compute.write a[0:64]
      dispatch Three writes a[0:64]
      dispatch Consume reads a[0:64])");
  const HappensBefore order(program);
  EXPECT_EQ(text_of(find_hazards(program, order).hazards), "RAW 2 3 [0:64]");
  EXPECT_EQ(text_of(find_all_hazards(program, order).hazards),
            "RAW 0 3 [0:64] ordered; RAW 1 3 [0:64] ordered; RAW 2 3 [0:64]");
}

TEST(HazardKinds, AskForTheSortOfEachAccess) {
  const Program program = program_on_abc(R"(
      dispatch Produce updates a[0:64]
      barrier compute.write -> compute.read a[0:64]
      dispatch Consume uniform a[0:8] reads a[0:64]
      dispatch Overwrite writes a[0:64])");
  const HappensBefore order(program);
  const ConflictKinds to_reader =
      hazard_kinds(program, order, DispatchId(size_t{0}), DispatchId(1));
  EXPECT_TRUE(to_reader.raw);  // The uniform one.
  EXPECT_FALSE(to_reader.war || to_reader.waw);
  const ConflictKinds to_writer =
      hazard_kinds(program, order, DispatchId(size_t{0}), DispatchId(2));
  EXPECT_TRUE(to_writer.waw);
  EXPECT_FALSE(to_writer.raw || to_writer.war);
}

}  // namespace
}  // namespace interlock::scoped_hazards_test
