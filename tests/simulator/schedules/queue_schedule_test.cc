// Schedules of several queues, by hand: what witness lines say, and what ends the search for sinks.
#include "simulator/schedules/queue_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/bytes/byte_segments.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/observability.h"
#include "tests/simulator/judges/reference_run.h"

namespace interlock::queue_schedule_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kTwoQueues = R"(interlock 1
memory x 16
memory y 16
q1: queue serial
a: dispatch Make writes x
b: dispatch Use reads x writes y on q1
)";

// The steps as "run a, fetch b, …", or the error.
std::string steps_of_witness(const std::string& text) {
  const std::optional<Program> run = reference_run(text);
  if (!run) return "no program";
  const HappensBefore order(*run);
  const Result<Schedule> schedule = schedule_of(*run, order, run->witness);
  if (!schedule) return schedule.error().message;
  if (const auto legal = check_legal(*run, order, *schedule); !legal) return legal.error().message;
  std::string steps;
  for (const Step& step : schedule->steps) {
    constexpr std::string_view kWords[] = {"run", "run late", "commit", "fetch", "drop"};
    if (!steps.empty()) steps += ", ";
    steps += kWords[static_cast<size_t>(step.kind)];
    steps += " " + run->reference_of(step.dispatch);
  }
  return steps;
}

TEST(QueueSchedule, DefersWhatAWitnessPutsAfterAnother) {
  EXPECT_EQ(steps_of_witness(std::string(kTwoQueues)), "run a, run b");
  EXPECT_EQ(steps_of_witness(std::string(kTwoQueues) + "witness b before a\n"), "run b, run a");
  EXPECT_EQ(steps_of_witness(std::string(kTwoQueues) + "witness a after b\n"), "run b, run a");
}

TEST(QueueSchedule, LetsWhatFollowsADeferredOperationWaitWithIt) {
  const std::string text = R"(interlock 1
memory x 16
memory y 16
memory z 16
q1: queue serial
a: dispatch Make writes x on q1
c: dispatch Copy reads x writes z on q1
b: dispatch Use reads x writes y
)";
  EXPECT_EQ(steps_of_witness(text + "witness b before a\n"), "run b, run a, run c");
}

TEST(QueueSchedule, CommitsLateAndFetchesEarlyWhereExecutionAloneIsOrdered) {
  const std::string text = R"(interlock 1
memory x 16
memory y 16
q1: queue concurrent
a: dispatch Make writes x on q1
barrier execution on q1
b: dispatch Use reads x writes y on q1
)";
  EXPECT_EQ(steps_of_witness(text + "witness a commits after b\n"), "run late a, run b, commit a");
  EXPECT_THAT(steps_of_witness(text + "witness b before a\n"),
              HasSubstr("b (dispatch 1) may not run: a barrier (statement 1) holds it"));
  const std::string available = R"(interlock 1
memory x 16
memory y 16
q1: queue concurrent
a: dispatch Make writes x on q1
barrier compute.write -> compute on q1
b: dispatch Use reads x writes y on q1
)";
  EXPECT_EQ(steps_of_witness(available + "witness b fetches before a commits\n"),
            "run late a, fetch b, commit a, run b");
  EXPECT_EQ(steps_of_witness(available + "witness a commits after b\n"),
            "No write of a (dispatch 0) can commit after b (dispatch 1).");
}

TEST(QueueSchedule, RefusesWhatASemaphoreOrders) {
  const std::string text = R"(interlock 1
memory x 16
memory y 16
q1: queue serial
a: dispatch Make writes x
signal s=1
wait s=1 on q1
b: dispatch Use reads x writes y on q1
witness b before a
)";
  EXPECT_THAT(steps_of_witness(text), HasSubstr("semaphore 's' is at 0, below 1"));
}

TEST(QueueSchedule, RefusesASlice) {
  EXPECT_THAT(steps_of_witness(std::string(kTwoQueues) + "witness b[0:1] before a\n"),
              testing::AnyOf(HasSubstr("only whole operations move"), HasSubstr("no program")));
}

TEST(QueueSchedule, IsIllegalOnTheMachineIfAStepComesTooEarly) {
  const std::optional<Program> run = reference_run(R"(interlock 1
memory x 16
memory y 16
q1: queue serial
a: dispatch Make writes x
signal s=1
wait s=1 on q1
b: dispatch Use reads x writes y on q1
)");
  ASSERT_TRUE(run.has_value());
  const HappensBefore order(*run);
  Schedule schedule = reference_order_schedule(*run);
  EXPECT_TRUE(check_legal(*run, order, schedule).has_value());
  std::swap(schedule.steps[0], schedule.steps[1]);
  const auto legal = check_legal(*run, order, schedule);
  ASSERT_FALSE(legal.has_value());
  EXPECT_THAT(legal.error().message, HasSubstr("b (dispatch 1) may not run"));
  schedule.steps.erase(schedule.steps.begin());
  EXPECT_EQ(check_legal(*run, order, schedule).error().message,
            "The schedule does not carry out all that the program has.");
}

// What waits for the arguments of an indirect dispatch alone may come before the rest of it.
TEST(QueueSchedule, LetsWorkGoOnOnceArgumentsAreRead) {
  for (const std::string arguments : {"m[0:4]", "m[0:0]"}) {
    const std::optional<Program> run = reference_run(
        "interlock 1\nmemory m 16\na: dispatch Draw indirect " + arguments + R"( reads m[4:8]
set e indirect -> compute
await e
b: dispatch Make writes m[4:8]
)");
    ASSERT_TRUE(run.has_value());
    const HappensBefore order(*run);
    uint64_t steps = 1'000'000;
    const std::vector<Schedule> sinks =
        queue_sinks_of(*run, find_all_hazards(*run, order).hazards.front(), steps);
    ASSERT_EQ(sinks.size(), 1u);
    EXPECT_EQ(sinks[0].steps.back().dispatch, DispatchId(size_t{0}));
    const Result<Success> legal = check_legal(*run, order, sinks[0]);
    EXPECT_TRUE(legal) << legal.error().message;
  }
}

TEST(QueueSchedule, EndsWhereStepsDoNotLast) {
  const std::optional<Program> run = reference_run(std::string(kTwoQueues));
  ASSERT_TRUE(run.has_value());
  const HappensBefore order(*run);
  const Hazard hazard = find_all_hazards(*run, order).hazards.front();
  uint64_t many = 1'000'000;
  EXPECT_EQ(queue_sinks_of(*run, hazard, many).size(), 1u);
  EXPECT_GT(many, 0u);
  uint64_t few = 3 * kStepsOfARun;
  EXPECT_TRUE(queue_sinks_of(*run, hazard, few).empty());
  EXPECT_EQ(few, 0u);
  const auto verdicts = judge_observability(*run, order, ByteSegments(*run),
                                            std::vector<Hazard>{hazard}, {.work_limit = 100});
  EXPECT_EQ(verdicts.front().proof, ObservabilityProof::kOverBudget);
}

// Signals of a queue that nothing else holds up look at what has come since the last one alone.
TEST(QueueSchedule, LooksAtPendingWorkInLinearTime) {
  const auto steps_of = [](int dispatch_count) {
    std::string text = "interlock 1\nmemory m 64\nq1: queue concurrent\n";
    for (int i = 0; i < dispatch_count; ++i) {
      text += "dispatch Use reads m on q1\n";
      if (i % 4 == 0) text += "signal s=" + std::to_string(i + 1) + " on q1\n";
    }
    const std::optional<Program> run = reference_run(text);
    return QueueMachine(*run, {.splits_memory = true}).step_count();
  };
  EXPECT_GT(steps_of(1000), 0u);
  EXPECT_LT(steps_of(4000), 5 * steps_of(1000));
}

}  // namespace
}  // namespace interlock::queue_schedule_test
