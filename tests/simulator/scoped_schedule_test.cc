// Schedules, strategies and observability of programs with scoped barriers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "simulator/check.h"
#include "simulator/explore.h"
#include "simulator/hazards.h"
#include "simulator/shadow_machine.h"
#include "simulator/strategies.h"
#include "tests/program_count.h"
#include "tests/simulator/program_text.h"
#include "tests/simulator/random_scoped_programs.h"

namespace interlock {
namespace {

using ::testing::HasSubstr;

// The error of the schedule that the witness lines of the program give; empty if it is legal.
std::string witness_error(std::string_view body) {
  const Program program = program_on_abc(body);
  const auto schedule = schedule_of(program, HappensBefore(program), program.witness);
  return schedule ? "" : schedule.error().message;
}

TEST(ScopedSchedule, RunsStagesThatNothingOrdersInAnyOrder) {
  const std::string_view program = R"(
      Fill: dispatch fill writes a[0:64] value=1
      One: dispatch One writes b
      barrier compute -> compute
      Two: dispatch Two writes b
      witness {})";
  EXPECT_EQ(witness_error(fmt::format(fmt::runtime(program), "Two before Fill")),
            "The schedule runs Two (dispatch 2) before One (dispatch 1), but a barrier orders "
            "them.");
  EXPECT_EQ(witness_error(fmt::format(fmt::runtime(program), "Fill after Two")), "");
}

TEST(ScopedSchedule, CommitsLateUntilADispatchMustSeeTheWrite) {
  const std::string_view program = R"(
      W: dispatch Write writes a[0:64]
      barrier compute.write -> {}
      Other: dispatch Other reads b
      R: dispatch Read reads a[32:96]
      witness W commits after R)";
  EXPECT_THAT(
      witness_error(fmt::format(fmt::runtime(program), "compute.read")),
      HasSubstr("runs R (dispatch 2) before W (dispatch 0) commits, but a barrier makes its "
                "writes visible"));
  EXPECT_THAT(witness_error(fmt::format(fmt::runtime(program), "compute.read a[64:65]")), "");
  EXPECT_THAT(witness_error(fmt::format(fmt::runtime(program), "compute.read a[63:64]")),
              HasSubstr("but a barrier makes"));
  EXPECT_EQ(witness_error(fmt::format(fmt::runtime(program), "compute.uniform")), "");
}

TEST(ScopedSchedule, LetsNobodyMissAWriteThatADispatchBetweenMustSee) {
  const std::string_view program = R"(
      W: dispatch Write writes a[0:64]
      barrier compute.write -> compute.read
      Between: dispatch Between reads {}
      R: dispatch Read uniform a[0:64]
      witness W commits after R)";
  EXPECT_THAT(witness_error(fmt::format(fmt::runtime(program), "a[0:4]")),
              HasSubstr("runs Between (dispatch 1) before W (dispatch 0) commits"));
  EXPECT_EQ(witness_error(fmt::format(fmt::runtime(program), "b")), "");
}

TEST(RandomSchedule, IsLegalWithScopesAndDiffersOnlyWithAHazard) {
  int clean_count = 0;
  int differing_count = 0;
  int hazardous_count = 0;
  for (int seed = 0; seed < program_count(4000); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const Program program = random_scoped_program(choice);
    SCOPED_TRACE(print(program));
    const HappensBefore order(program);
    const bool is_clean = find_hazards(program, order).empty();
    ShadowMachine machine(program);
    const ShadowResult reference = machine.run(issue_order_schedule(program), ShadowMode::kStrict);
    bool differs = false;
    for (int i = 0; i < 10; ++i) {
      const Schedule schedule = random_schedule(program, order, choice);
      const auto legal = check_legal(program, order, schedule);
      ASSERT_TRUE(legal.has_value()) << legal.error().message;
      differs |= machine.run(schedule, ShadowMode::kStrict) != reference;
    }
    ASSERT_FALSE(is_clean && differs);
    clean_count += is_clean;
    hazardous_count += !is_clean;
    differing_count += differs;
  }
  EXPECT_GT(clean_count, program_count(4000) / 10);
  // Ten schedules show most hazards; what two displacements at once would show, they may miss.
  EXPECT_GT(differing_count, hazardous_count * 2 / 3);
}

TEST(Observability, OfScopedProgramsIsWitnessedOrHoldsForEverySchedule) {
  int observable_count = 0;
  int unobservable_count = 0;
  for (int seed = 0; seed < program_count(4000); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const Program program = random_scoped_program(choice);
    SCOPED_TRACE(print(program));
    const HappensBefore order(program);
    ShadowMachine machine(program);
    const ShadowResult reference =
        machine.run(issue_order_schedule(program), ShadowMode::kObservable);
    bool is_unobservable = false;
    for (const Finding& finding : check(program).findings) {
      if (!is_hazard(finding.kind)) continue;
      is_unobservable |= finding.observability == Observability::kUnobservable;
      if (finding.observability != Observability::kObservable) continue;
      ++observable_count;
      const auto schedule = schedule_of(program, order, finding.witness);
      ASSERT_TRUE(schedule.has_value()) << schedule.error().message;
      ASSERT_NE(machine.run(*schedule, ShadowMode::kObservable), reference);
    }
    unobservable_count += is_unobservable;
    for (int i = 0; is_unobservable && i < 50; ++i) {
      const Schedule schedule = random_schedule(program, order, choice);
      ASSERT_EQ(machine.run(schedule, ShadowMode::kObservable), reference);
    }
  }
  EXPECT_GT(observable_count, program_count(4000) / 4);
  EXPECT_GT(unobservable_count, 0);
}

TEST(Observability, IsOpenWhereNoScheduleShowsTheHazardAlone) {
  const std::string_view program = R"(
      tensor out u8[64] at c+0
      output out
      dispatch Write writes a[0:64]
      barrier compute.write -> compute.read
      dispatch Between reads {} writes b[0:64]
      dispatch Read uniform a[0:64] writes out)";
  const auto finding_with = [&](std::string_view operand) {
    const CheckReport report = check(program_on_abc(fmt::format(fmt::runtime(program), operand)));
    EXPECT_EQ(report.findings.size(), 1u);
    return report.findings.at(0);
  };
  const Finding seen_between = finding_with("a[0:4]");
  EXPECT_EQ(seen_between.observability, Observability::kUnknown);
  EXPECT_THAT(seen_between.details.back(), HasSubstr("not decided: the second dispatch or one"));
  EXPECT_EQ(finding_with("c[64:68]").observability, Observability::kObservable);
}

TEST(Explore, TriesSinksInPlaceOfTheThreeRunsAndSaysSo) {
  const Program program = program_on_abc(R"(
      dispatch Write writes a[0:64]
      barrier copy -> copy
      dispatch Read reads a[0:64])");
  const Exploration exploration = explore(program);
  EXPECT_THAT(exploration.claim, HasSubstr("'three' decides for global barriers only"));
  ASSERT_EQ(exploration.tried.size(), 1u);
  EXPECT_EQ(exploration.tried[0].name, "sink: 0 after 1");
  EXPECT_EQ(exploration.strict_count, 1u);
  const Program global = program_on_abc("dispatch Write writes a[0:64]");
  EXPECT_EQ(explore(global).claim, "");
}

}  // namespace
}  // namespace interlock
