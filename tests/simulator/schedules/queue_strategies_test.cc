// The strategies on programs with several queues, by hand: what each tries and says, and what
// witness lines come of it.
#include "simulator/schedules/queue_strategies.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/order/happens_before.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/explore.h"
#include "simulator/schedules/queue_legality.h"
#include "simulator/schedules/queue_schedule.h"
#include "simulator/schedules/queue_traces.h"
#include "simulator/schedules/queue_walk.h"
#include "simulator/schedules/queue_witness.h"
#include "simulator/schedules/shadow_machine.h"
#include "tests/simulator/judges/reference_run.h"

namespace interlock::queue_strategies_test {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Program run_of(const std::string& body) {
  const std::optional<Program> run = reference_run("interlock 1\n" + body);
  if (!run) ADD_FAILURE() << "no run of\n" << body;
  return run.value_or(Program());
}

std::vector<std::string> lines_of(const Program& program, const Exploration& exploration) {
  std::vector<std::string> lines;
  for (const Displacement& line : exploration.witness) lines.push_back(text_of(program, line));
  return lines;
}

// A reader on one queue, a writer on another, and perhaps a wait between.
std::string overwritten(std::string_view wait) {
  return fmt::format(
      "memory x 16\nmemory y 16\nq1: queue serial\n"
      "a: dispatch Use reads x writes y\nsignal s=1\n{}b: dispatch Make writes x on q1\n",
      wait);
}

TEST(QueueStrategies, FindAndSayAWitnessOfTwoQueuesEach) {
  const Program run = run_of(overwritten(""));
  for (const StrategyEntry& strategy : strategy_registry()) {
    SCOPED_TRACE(strategy.name);
    const Exploration exploration = explore(run, strategy, {100, 1});
    EXPECT_GT(exploration.observable_count, 0u);
    ASSERT_TRUE(exploration.first_different.has_value());
    EXPECT_TRUE(exploration.tried[*exploration.first_different].differs_observably);
    EXPECT_THAT(lines_of(run, exploration), ElementsAre("b before a"));
    EXPECT_EQ(exploration.steps, "");
  }
}

TEST(QueueStrategies, FindNothingBehindAWait) {
  const Program run = run_of(overwritten("wait s=1 on q1\n"));
  for (const StrategyEntry& strategy : strategy_registry()) {
    SCOPED_TRACE(strategy.name);
    const Exploration exploration = explore(run, strategy, {100, 1});
    EXPECT_EQ(exploration.strict_count, 0u);
    EXPECT_THAT(exploration.witness, IsEmpty());
  }
}

// Where execution alone is ordered nothing moves, and the write commits late; where the write is
// available, too, what reads has fetched early.
TEST(QueueStrategies, SayLateCommitsAndEarlyFetches) {
  for (const auto& [barrier, line] :
       {std::pair("barrier execution on q1", "a commits after b"),
        std::pair("barrier compute.write -> compute on q1", "b fetches before a commits")}) {
    const Program run =
        run_of(fmt::format("memory x 16\nmemory y 16\nq1: queue concurrent\n"
                           "a: dispatch Make writes x on q1\n{}\n"
                           "b: dispatch Use reads x writes y on q1\n",
                           barrier));
    for (const StrategyEntry& strategy : strategy_registry()) {
      SCOPED_TRACE(strategy.name);
      const Exploration exploration = explore(run, strategy, {200, 1});
      EXPECT_GT(exploration.observable_count, 0u);
      EXPECT_THAT(lines_of(run, exploration), ElementsAre(line));
    }
  }
}

TEST(QueueStrategies, ShowWhatTheHostFindsTooEarly) {
  const std::string body =
      "memory x 16\nsignal_early: dispatch Make writes x\n{}signal s=1\nhost waits s=1\n"
      "look: host reads x\n";
  const Program wrong = run_of(fmt::format(fmt::runtime(body), ""));
  const Program right = run_of(fmt::format(fmt::runtime(body), "barrier\n"));
  for (const StrategyEntry& strategy : strategy_registry()) {
    SCOPED_TRACE(strategy.name);
    const Exploration found = explore(wrong, strategy, {100, 1});
    EXPECT_GT(found.observable_count, 0u);
    EXPECT_EQ(found.witness.size(), 1u);
    EXPECT_EQ(explore(right, strategy, {100, 1}).strict_count, 0u);
  }
}

TEST(QueueStrategies, ReachAGraphAndItsEdges) {
  const std::string body =
      "memory x 16\nmemory y 16\nmemory z 16\ng: queue graph\n"
      "a: dispatch Make writes x on g\nb: dispatch Use reads x writes y after a on g\n"
      "c: dispatch Use reads x writes z {}on g\n";
  const Program wrong = run_of(fmt::format(fmt::runtime(body), ""));
  const Program right = run_of(fmt::format(fmt::runtime(body), "after a "));
  for (const StrategyEntry& strategy : strategy_registry()) {
    SCOPED_TRACE(strategy.name);
    EXPECT_THAT(lines_of(wrong, explore(wrong, strategy, {100, 1})), ElementsAre("c before a"));
    EXPECT_EQ(explore(right, strategy, {100, 1}).strict_count, 0u);
  }
}

TEST(QueueStrategies, MakeLegalSchedulesOnly) {
  const Program run = run_of(
      "memory x 16\nmemory y 16\nmemory n 16 noncoherent=4\nq1: queue serial\n"
      "q2: queue concurrent\n"
      "host writes n[0:6]\nhost flushes n[0:6]\nsubmit on q1\n"
      "dispatch Use reads n[0:4] writes x on q1\nsignal s=1 on q1\n"
      "wait s=1 before copy on q2\ndispatch Use reads x writes y on q2\n"
      "dispatch More updates y[2:5] on q1\nhost waits s=1\nhost invalidates n\nhost reads n\n");
  const HappensBefore order(run);
  for (const StrategyEntry& strategy : strategy_registry()) {
    SCOPED_TRACE(strategy.name);
    const auto made = strategy.make(run, order, {});
    Schedule schedule;
    for (int i = 0; i < 50 && made->next(schedule); ++i) {
      const auto legal = check_legal_on_queues(run, schedule);
      ASSERT_TRUE(legal.has_value()) << legal.error().message;
    }
  }
}

// `run --schedule=random --seed=N` executes what `explore` calls "random, seed N".
TEST(QueueStrategies, NameARandomScheduleByTheSeedThatGivesItAgain) {
  const Program run = run_of(overwritten(""));
  const HappensBefore order(run);
  const auto strategy = random_of_queues(run, order, {.seed = 40});
  Schedule schedule;
  for (uint64_t seed = 40; seed < 60; ++seed) {
    ASSERT_TRUE(strategy->next(schedule));
    EXPECT_EQ(strategy->schedule_name(), fmt::format("random, seed {}", seed));
    SeededChoice choice(seed);
    EXPECT_EQ(schedule, random_queue_schedule(run, choice));
  }
}

TEST(QueueStrategies, SayWhatThreeDoesInstead) {
  const Exploration exploration =
      explore(run_of(overwritten("")), *find_strategy("three"), {100, 1});
  EXPECT_THAT(exploration.claim, HasSubstr("one sink per hazard was tried instead"));
  ASSERT_EQ(exploration.tried.size(), 1u);
  EXPECT_EQ(exploration.tried[0].name, "sink: WAR a b");
}

// What `explore` says before it starts and when it is done.
std::string words_of(const Program& run, std::string_view strategy, StrategyOptions options = {}) {
  std::string words;
  const Exploration exploration = explore(run, *find_strategy(strategy), options,
                                          [&](std::string_view lines) { words += lines; });
  return words + exploration.claim;
}

// By hand: of a write and a read on two queues the read comes before, between or after the fetch
// and the commit of the write, of which only the commit matters: two traces.
TEST(QueueStrategies, CountTheTracesOfAWriteAndARead) {
  EXPECT_EQ(words_of(run_of(overwritten("")), "exhaustive"),
            "1 conflict without an order between 2 parts of operations, in 1 group of independent "
            "order: 2 traces.\nOne group at a time: 1 schedule beside the reference order.\n"
            "Complete: every trace of each group was tried.\n");
  EXPECT_EQ(words_of(run_of(overwritten("wait s=1 on q1\n")), "exhaustive"),
            "All that conflicts is ordered and visible: 1 trace.\n"
            "Complete: every trace of each group was tried.\n");
}

// By hand: of two writes w and v of the same bytes, each fetches (what it overwrites) and commits.
// All of w before v; all of v before w; both fetch first and w commits first, or v does: 4 traces.
TEST(QueueStrategies, CountTheTracesOfTwoWrites) {
  const Program run = run_of(
      "memory x 16\nq1: queue serial\nw: dispatch One writes x\nv: dispatch Two writes x on q1\n");
  EXPECT_THAT(words_of(run, "exhaustive"), HasSubstr("in 1 group of independent order: 4 traces"));
  const Exploration exploration = explore(run, *find_strategy("exhaustive"));
  EXPECT_EQ(exploration.tried.size(), 3u);
  EXPECT_EQ(exploration.strict_count, 3u);
  EXPECT_EQ(exploration.observable_count, 2u);  // v commits before w.
}

TEST(QueueStrategies, CombineIndependentGroups) {
  const Program run = run_of(
      "memory x 16\nmemory y 16\nmemory o 64\nq1: queue concurrent\nq2: queue concurrent\n"
      "a: dispatch Use reads x writes o[0:16]\nb: dispatch Make writes x on q1\n"
      "c: dispatch Use reads y writes o[16:32]\nd: dispatch Make writes y on q2\n");
  EXPECT_EQ(explore(run, *find_strategy("exhaustive")).tried.size(), 2u);
  EXPECT_EQ(explore(run, *find_strategy("exhaustive"), {.combines_groups = true}).tried.size(), 3u);
  EXPECT_EQ(explore(run, *find_strategy("exhaustive"), {.combines_groups = true}).claim,
            "Complete: every trace of the program was tried.\n");
  const Exploration cut = explore(run, *find_strategy("exhaustive"), {.schedule_count = 1});
  EXPECT_EQ(cut.claim, "Not complete: some traces were not tried.\n");
}

// So that one with many traces leaves some of the limit to the others.
TEST(QueueStrategies, LetGroupsTakeTurns) {
  const Program run = run_of(
      "memory x 16\nmemory y 16\nq1: queue serial\nq2: queue serial\n"
      "a: dispatch One writes x\nb: dispatch Two writes x on q1\n"
      "c: dispatch One writes y\nd: dispatch Two writes y on q2\n");
  const Exploration exploration = explore(run, *find_strategy("exhaustive"), {.schedule_count = 2});
  ASSERT_EQ(exploration.tried.size(), 2u);
  EXPECT_THAT(exploration.tried[0].name, HasSubstr("before a "));
  EXPECT_THAT(exploration.tried[1].name, HasSubstr("before c "));
  EXPECT_EQ(explore(run, *find_strategy("exhaustive")).tried.size(), 6u);
}

TEST(QueueStrategies, SayTheOddsOfPct) {
  const Program run = run_of(overwritten(""));
  // a fetches x and what it overwrites of y, runs and commits; b fetches, runs and commits.
  EXPECT_EQ(words_of(run, "pct", {.schedule_count = 1, .depth = 1}),
            "7 parts of operations in all: if some schedule meets an order constraint, each of "
            "these does with probability at least 1/7.\n");
  EXPECT_THAT(words_of(run, "pct", {.schedule_count = 1, .depth = 3}),
              HasSubstr("3 order constraints, each of these does with probability at least "
                        "1/(7 * 7^2)"));
}

// The bound of one constraint, 1/7, is met by far: of 700 schedules 100 are promised. Seeded.
TEST(QueueStrategies, KeepTheOddsOfPct) {
  const Program run = run_of(overwritten(""));
  ShadowMachine machine(run);
  const ShadowResult reference =
      machine.run(reference_order_schedule(run), ShadowMode::kObservable);
  const QueuePctSchedules schedules(run, 1);
  SeededChoice choice(7);
  int count = 0;
  for (int i = 0; i < 700; ++i) {
    if (machine.run(schedules.schedule(choice), ShadowMode::kObservable) != reference) ++count;
  }
  EXPECT_GE(count, 100);
}

// Its writes are found by what it does next, whenever they reach memory.
TEST(QueueStrategies, DoNotTurnTheHostAgainstItself) {
  const std::string own =
      "memory x 16\nq1: queue serial\nhost writes x\nhost reads x\nhost writes x[0:8]\n"
      "host reads x\n";
  EXPECT_THAT(words_of(run_of(own), "exhaustive", {}), HasSubstr("visible: 1 trace."));
  // What a device writes, beside what two fetches of the last read find.
  EXPECT_THAT(
      words_of(run_of(own + "dispatch Use updates x on q1\nhost reads x\n"), "exhaustive", {}),
      HasSubstr("2 conflicts without an order between 3 parts of operations, in 1 group of "
                "independent order: 4 traces."));
}

TEST(QueueStrategies, SayTheStepsOfASchedule) {
  const Program run = run_of(overwritten(""));
  const Result<Schedule> schedule = queue_schedule_of(
      run, {{DispatchId(size_t{1}), DispatchId(size_t{0}), DisplacementKind::kBefore}});
  ASSERT_TRUE(schedule.has_value());
  EXPECT_EQ(text_of_steps(run, *schedule), "run b, run a");
  Schedule many;
  for (int i = 0; i < 40; ++i) many.steps.push_back(schedule->steps[0]);
  const std::string text = text_of_steps(run, many);
  EXPECT_THAT(text, HasSubstr("run b,\n    run b"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
}

TEST(QueueStrategies, TrySinksInParallelWaysOnceEach) {
  const Program run = run_of(
      "memory x 16\nq1: queue serial\nw: dispatch One writes x\nv: dispatch Two updates x on q1\n");
  const Exploration exploration = explore(run, *find_strategy("directed"));
  std::vector<std::string> names;
  for (const TriedSchedule& tried : exploration.tried) names.push_back(tried.name);
  EXPECT_THAT(names, Each(AnyOf(HasSubstr("RAW w v"), HasSubstr("WAW w v"))));
  EXPECT_EQ(exploration.strict_count, exploration.tried.size());
}

}  // namespace
}  // namespace interlock::queue_strategies_test
