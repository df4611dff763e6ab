// T5 as an experiment: the exact check against three strict runs, two methods without common logic.
#include <gtest/gtest.h>

#include "encoder/text/printer.h"
#include "simulator/hazards/hazards.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/choices.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::deciding_runs_test {
namespace {

// Whether the epoch-reversed or the lazy run ends unlike issue order.
bool three_runs_differ(const Program& program, const HappensBefore& order, ShadowMode mode) {
  ShadowMachine machine(program);
  const ShadowResult issue = machine.run(reference_order_schedule(program), mode);
  return machine.run(epoch_reversed_schedule(program, order), mode) != issue ||
         machine.run(lazy_schedule(program, order), mode) != issue;
}

struct RunsTally {
  int programs = 0;
  int hazardous = 0;
  int observable = 0;
};

void compare_runs(const Program& program, RunsTally& tally) {
  const HappensBefore order(program);
  const bool has_hazard = !find_hazards(program, order).hazards.empty();
  const bool differs_strictly = three_runs_differ(program, order, ShadowMode::kStrict);
  const bool differs_observably = three_runs_differ(program, order, ShadowMode::kObservable);
  ASSERT_EQ(has_hazard, differs_strictly) << print(program);
  ASSERT_LE(differs_observably, differs_strictly) << print(program);
  ++tally.programs;
  tally.hazardous += has_hazard ? 1 : 0;
  tally.observable += differs_observably ? 1 : 0;
}

TEST(DecidingRuns, DifferStrictlyExactlyWhenThereIsAHazard) {
  SeededChoice choice(1);
  RunsTally tally;
  while (tally.programs < share_count(100'000, 8, 160)) {
    ASSERT_NO_FATAL_FAILURE(compare_runs(random_program(choice), tally));
  }
  // Otherwise the claim would be empty on one side.
  EXPECT_GT(tally.hazardous, share_count(20'000, 8, 160));
  EXPECT_LT(tally.hazardous, share_count(80'000, 8, 160));
  EXPECT_GT(tally.hazardous - tally.observable, share_count(1'000, 8, 160));
}

TEST(DecidingRuns, DifferStrictlyExactlyWhenThereIsAHazardInLongPrograms) {
  SeededChoice choice(2);
  RandomProgramOptions options;
  options.dispatch_count_max = 40;
  options.memory_bytes = 64;
  options.barrier_percent = 60;
  RunsTally tally;
  while (tally.programs < share_count(5'000, 3)) {
    ASSERT_NO_FATAL_FAILURE(compare_runs(random_program(choice, options), tally));
  }
  EXPECT_LT(tally.hazardous, share_count(4'900, 3));
}

TEST(DecidingRuns, DifferStrictlyExactlyWhenThereIsAHazardInEveryTinyProgram) {
  const int count = share_count(9 * 25 * 25 * 25, 20, 200);  // 25 choices of each dispatch.
  ShareOfChoices choice(count);
  RunsTally tally;
  TinyProgramOptions options;
  options.live_bytes = 1;
  do {
    ASSERT_NO_FATAL_FAILURE(compare_runs(tiny_program(choice, options), tally));
  } while (choice.advance());
  EXPECT_EQ(tally.programs, count);
}

TEST(DecidingRuns, DifferStrictlyExactlyWhenThereIsAHazardInEveryProgramOnOneByte) {
  const int count = share_count(27 * 5 * 5 * 5 * 5, 5, 60);
  ShareOfChoices choice(count);
  RunsTally tally;
  TinyProgramOptions options;
  options.dispatch_count = 4;
  options.memory_bytes = 1;
  do {
    ASSERT_NO_FATAL_FAILURE(compare_runs(tiny_program(choice, options), tally));
  } while (choice.advance());
  EXPECT_EQ(tally.programs, count);
}

}  // namespace
}  // namespace interlock::deciding_runs_test
