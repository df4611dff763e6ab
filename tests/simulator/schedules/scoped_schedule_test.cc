// Schedules, strategies and observability of programs with scoped barriers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "encoder/text/printer.h"
#include "simulator/hazards/hazards.h"
#include "simulator/report/check.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/explore.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/strategy_random.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::scoped_schedule_test {
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
  EXPECT_EQ(
      witness_error(fmt::format(fmt::runtime(program), "Two before Fill")),
      "The schedule runs Two (dispatch 2) before One (dispatch 1), but a barrier orders them.");
  EXPECT_EQ(witness_error(fmt::format(fmt::runtime(program), "Fill after Two")), "");
}

TEST(ScopedSchedule, CommitsLateUntilTheWriteIsAvailableToAStage) {
  const std::string_view program = R"(
      W: dispatch Write writes a[0:64]
      barrier compute.write -> {}
      Other: dispatch Other reads b
      R: dispatch Read reads a[32:96]
      witness W commits after R)";
  EXPECT_THAT(
      witness_error(fmt::format(fmt::runtime(program), "compute.read")),
      HasSubstr(
          "runs Other (dispatch 1) before W (dispatch 0) commits, but a barrier makes its writes available"));
  // To whom it is visible does not matter: the machine commits before it makes available.
  EXPECT_THAT(witness_error(fmt::format(fmt::runtime(program), "compute.uniform")),
              HasSubstr("but a barrier makes"));
  EXPECT_EQ(witness_error(fmt::format(fmt::runtime(program), "copy.read")), "");
}

TEST(ScopedSchedule, CommitsBytesByThemselvesThatABarrierMakesAvailable) {
  const std::string_view text = R"(
      W: dispatch Write writes a[0:64]
      barrier compute.write -> compute.read {}
      Other: dispatch Other reads b
      R: dispatch Read reads a[32:96]
      witness W commits after R)";
  const Program program = program_on_abc(fmt::format(fmt::runtime(text), "a[60:70]"));
  const auto schedule = schedule_of(program, HappensBefore(program), program.witness);
  ASSERT_TRUE(schedule.has_value()) << schedule.error().message;
  ASSERT_EQ(schedule->steps.size(), 5u);
  EXPECT_EQ(schedule->steps[1].kind, StepKind::kCommit);
  ASSERT_EQ(schedule->bytes_of(schedule->steps[1]).size(), 1u);
  EXPECT_EQ(schedule->bytes_of(schedule->steps[1])[0].range, (ByteRange{60, 64}));
  EXPECT_EQ(schedule->steps[4], whole_step(program, DispatchId(0), StepKind::kCommit));
  // Another byte than those that are written, and all of them.
  EXPECT_EQ(witness_error(fmt::format(fmt::runtime(text), "a[64:65]")), "");
  EXPECT_THAT(witness_error(fmt::format(fmt::runtime(text), "a[0:64]")),
              HasSubstr("but a barrier makes its writes available"));
}

TEST(ScopedSchedule, FetchesEarlyWhatNeedNotBeVisible) {
  const std::string_view text = R"(
      W: dispatch Write writes a[0:64]
      barrier compute.write -> compute.read
      Between: dispatch Between reads a[0:4]
      R: dispatch Read {} a[0:64]
      witness R fetches before W commits)";
  const Program program = program_on_abc(fmt::format(fmt::runtime(text), "uniform"));
  const auto schedule = schedule_of(program, HappensBefore(program), program.witness);
  ASSERT_TRUE(schedule.has_value()) << schedule.error().message;
  std::vector<StepKind> kinds;
  for (const Step& step : schedule->steps) kinds.push_back(step.kind);
  EXPECT_THAT(kinds, ::testing::ElementsAre(StepKind::kRunLate, StepKind::kFetch, StepKind::kCommit,
                                            StepKind::kRun, StepKind::kRun));
  EXPECT_THAT(witness_error(fmt::format(fmt::runtime(text), "reads")),
              HasSubstr("lets R (dispatch 2) fetch before W (dispatch 0) commits, but nothing"));
}

TEST(ScopedSchedule, HoldsAFetchBackUntilWhatLeadsToItIsOver) {
  const std::string_view text = R"(
      W: dispatch Write writes a[0:64]
      Copy: dispatch copy reads c[0:64] writes b[0:64]
      barrier copy -> compute.read, compute.write -> compute
      R: dispatch Read reads a[0:64]
      {}witness R fetches before W commits)";
  EXPECT_THAT(witness_error(fmt::format(fmt::runtime(text), "")), HasSubstr("but nothing"));
  EXPECT_EQ(witness_error(fmt::format(fmt::runtime(text), "witness W commits after Copy\n")), "");
}

TEST(ScopedSchedule, HasNoFetchesBesideGlobalBarriers) {
  EXPECT_THAT(witness_error("W: dispatch W writes a\nR: dispatch R reads a\n"
                            "witness R fetches before W commits"),
              HasSubstr("beside scoped barriers only"));
}

TEST(CheckLegal, RefusesStepsThatTheMachineDoesNotTake) {
  const Program program = program_on_abc(R"(
      W: dispatch Write writes a[0:64]
      barrier compute.write -> copy.read a[0:32], compute -> compute.read
      R: dispatch Read reads a[0:64])");
  const HappensBefore order(program);
  const DispatchId w(size_t{0});
  const DispatchId r(size_t{1});
  const MemoryId a(size_t{0});
  const Step late = whole_step(program, w, StepKind::kRunLate);
  const Step commit = whole_step(program, w, StepKind::kCommit);
  const Step run = whole_step(program, r, StepKind::kRun);
  const Step some{StepKind::kCommit, w, 0, 1};
  const Step fetch{StepKind::kFetch, r, 0, 1};
  const auto legality = [&](const std::vector<Step>& steps, ByteRange range) {
    const auto legal = check_legal(program, order, {steps, {{a, range}}});
    return legal ? "" : legal.error().message;
  };
  EXPECT_EQ(legality({late, run, commit}, {0, 1}), "");
  EXPECT_EQ(legality({late, some, run, commit}, {0, 1}), "");
  EXPECT_THAT(legality({late, some, some, run, commit}, {0, 1}), HasSubstr("do not wait"));
  EXPECT_THAT(legality({some, late, run, commit}, {0, 1}), HasSubstr("do not wait"));
  EXPECT_THAT(legality({late, commit, run, fetch}, {0, 1}), HasSubstr("after it has run"));
  // A barrier orders the run of W before the fetches, and the commit after none of them.
  EXPECT_THAT(legality({fetch, late, run, commit}, {0, 1}),
              HasSubstr("fetches for R (dispatch 1) before W (dispatch 0) runs"));
  EXPECT_EQ(legality({late, fetch, commit, run}, {0, 1}), "");
}

TEST(RandomSchedule, IsLegalWithScopesAndDiffersOnlyWithAHazard) {
  int clean_count = 0;
  int differing_count = 0;
  int hazardous_count = 0;
  for (int seed = 0; seed < share_count(4000, 2); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const Program program = random_scoped_program(choice);
    SCOPED_TRACE(print(program));
    const HappensBefore order(program);
    const bool is_clean = find_hazards(program, order).hazards.empty();
    ShadowMachine machine(program);
    const ShadowResult reference =
        machine.run(reference_order_schedule(program), ShadowMode::kStrict);
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
  EXPECT_GT(clean_count, share_count(4000, 2) / 10);
  // Ten schedules show most hazards; what two displacements at once would show, they may miss.
  EXPECT_GT(differing_count, hazardous_count * 2 / 3);
}

TEST(Observability, OfScopedProgramsIsWitnessedOrHoldsForEverySchedule) {
  int observable_count = 0;
  int unobservable_count = 0;
  for (int seed = 0; seed < share_count(4000, 5, 120); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const Program program = random_scoped_program(choice);
    SCOPED_TRACE(print(program));
    const HappensBefore order(program);
    ShadowMachine machine(program);
    const ShadowResult reference =
        machine.run(reference_order_schedule(program), ShadowMode::kObservable);
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
  EXPECT_GT(observable_count, share_count(4000, 5, 120) / 4);
  EXPECT_GT(unobservable_count, 0);
}

TEST(Observability, IsShownByAnEarlyFetchWhereADispatchBetweenSeesTheWrite) {
  const Program program = program_on_abc(R"(
      tensor out u8[64] at c+0
      output out
      dispatch Write writes a[0:64]
      barrier compute.write -> compute.read
      dispatch Between reads a[0:4] writes b[0:64]
      dispatch Read uniform a[0:64] writes out)");
  const CheckReport report = check(program);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].observability, Observability::kObservable);
  EXPECT_EQ(
      report.findings[0].details.back(),
      "Observable: with dispatch 2 fetching before dispatch 0 commits, output out can differ.");
  ASSERT_EQ(report.findings[0].witness.size(), 1u);
  EXPECT_EQ(text_of(program, report.findings[0].witness[0]), "2 fetches before 0 commits");
}

TEST(Observability, OfAnOverwriteNeedsAWriteThatIsNotAvailable) {
  const auto observability_with = [&](std::string_view barrier, std::string_view second) {
    const CheckReport report = check(program_on_abc(
        fmt::format("dispatch One writes a\nbarrier {}\ndispatch Two {}\n", barrier, second)));
    EXPECT_EQ(report.findings.at(0).kind, FindingKind::kWriteAfterWrite);
    return report.findings.at(0).observability;
  };
  // The first write has been committed before the second dispatch runs.
  EXPECT_EQ(observability_with("compute.write -> compute", "writes a"),
            Observability::kUnobservable);
  EXPECT_EQ(observability_with("compute -> compute", "writes a"), Observability::kObservable);
  EXPECT_EQ(observability_with("compute.write -> compute", "writes a partial"),
            Observability::kObservable);
}

TEST(Explore, TriesSinksInPlaceOfTheThreeRunsAndSaysSo) {
  const Program program = program_on_abc(R"(
      dispatch Write writes a[0:64]
      barrier copy -> copy
      dispatch Read reads a[0:64])");
  const Exploration exploration = explore(program, *find_strategy("three"));
  EXPECT_THAT(exploration.claim, HasSubstr("'three' decides for global barriers only"));
  ASSERT_EQ(exploration.tried.size(), 1u);
  EXPECT_EQ(exploration.tried[0].name, "sink: 0 after 1");
  EXPECT_EQ(exploration.strict_count, 1u);
  const Program global = program_on_abc("dispatch Write writes a[0:64]");
  EXPECT_EQ(explore(global, *find_strategy("three")).claim, "");
}

}  // namespace
}  // namespace interlock::scoped_schedule_test
