// The short way of the shadow machine against the long one, on what campaigns run.
#include <gtest/gtest.h>

#include <cstdint>

#include "encoder/text/printer.h"
#include "fuzz/generate/generator.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/program_count.h"

namespace interlock::plain_runs_test {
namespace {

// Without sync, so that what a schedule may do is not bounded.
TEST(ShadowMachine, RunsPlainProgramsAsAnyOther) {
  uint64_t differing_count = 0;
  uint64_t late_count = 0;
  const auto program_total = static_cast<uint64_t>(program_count(1000, 10));
  for (uint64_t seed = 1; seed <= program_total; ++seed) {
    SeededChoice choice(seed);
    const Program program = generate_program(choice).value();
    const HappensBefore order(program);
    ShadowMachine plain(program);
    ShadowMachine any(program, false);
    const Schedule schedules[] = {
        reference_order_schedule(program), epoch_reversed_schedule(program, order),
        lazy_schedule(program, order), random_schedule(program, order, choice),
        random_schedule(program, order, choice)};
    for (const ShadowMode mode : {ShadowMode::kStrict, ShadowMode::kObservable}) {
      const ShadowResult issue = any.run(schedules[0], mode);
      for (const Schedule& schedule : schedules) {
        const ShadowResult result = any.run(schedule, mode);
        ASSERT_EQ(plain.run(schedule, mode).values, result.values) << print(program);
        differing_count += result != issue;
        for (const Step& step : schedule.steps) late_count += step.kind == StepKind::kRunLate;
      }
    }
  }
  EXPECT_GT(differing_count, program_total);
  EXPECT_GT(late_count, program_total);
}

}  // namespace
}  // namespace interlock::plain_runs_test
