// Every trace of a program, against all linear extensions; and what one group at a time decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/printer.h"
#include "simulator/hazards/hazards.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/explore.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/strategy_exhaustive.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/all_traces.h"
#include "tests/simulator/judges/brute_force.h"
#include "tests/simulator/programs/choices.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::exhaustive_test {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

struct Enumeration {
  ExhaustivePlan plan;
  std::vector<Schedule> schedules;
  std::vector<std::string> names;
};

Enumeration enumerate(const Program& program, const StrategyOptions& options) {
  const HappensBefore order(program);
  ExhaustiveSchedules traces(program, order, find_all_hazards(program, order), options);
  Enumeration result;
  result.plan = traces.plan();
  Schedule schedule;
  while (traces.next(schedule)) {
    result.schedules.push_back(schedule);
    result.names.push_back(traces.name());
  }
  EXPECT_FALSE(traces.next(schedule));
  return result;
}

StrategyOptions all_traces() {
  StrategyOptions options;
  options.combines_groups = true;
  options.schedule_count = 100'000;
  return options;
}

StepOrder runs_of(const Schedule& schedule) {
  StepOrder order;
  for (const Step& step : schedule.steps) order.push_back(step.dispatch.index);
  return order;
}

// Each class of `relations` once; issue order is the one not in the enumeration.
void check_traces(const Program& program, const StepRelations& relations,
                  const std::vector<StepOrder>& orders, const ExhaustivePlan& plan) {
  std::set<NormalForm> forms;
  StepOrder issue_order;
  for (uint32_t step = 0; step < relations.count(); ++step) issue_order.push_back(step);
  forms.insert(normal_form(issue_order, relations));
  for (const StepOrder& order : orders) {
    ASSERT_TRUE(forms.insert(normal_form(order, relations)).second) << "a trace came twice\n"
                                                                    << print(program);
  }
  ASSERT_EQ(forms, normal_forms(relations)) << print(program);
  ASSERT_TRUE(plan.is_exact);
  ASSERT_EQ(plan.trace_count, Natural(forms.size())) << print(program);
  ASSERT_EQ(plan.schedule_count, Natural(orders.size())) << print(program);
}

void check_program(const Program& program, uint64_t& trace_count) {
  const HappensBefore order(program);
  const Enumeration enumeration = enumerate(program, all_traces());
  std::vector<StepOrder> orders;
  for (const Schedule& schedule : enumeration.schedules) {
    const Result<Success> legal = check_legal(program, order, schedule);
    ASSERT_TRUE(legal.has_value()) << legal.error().message << "\n" << print(program);
    orders.push_back(runs_of(schedule));
  }
  const StepRelations relations = dispatch_relations(program);
  ASSERT_NO_FATAL_FAILURE(check_traces(program, relations, orders, enumeration.plan));
  // T1, and its converse.
  ASSERT_EQ(relations.hazards().empty(), orders.empty()) << print(program);
  trace_count += orders.size() + 1;
}

TEST(Exhaustive, MakesEachTraceOfEveryTinyProgramOnce) {
  ShareOfChoices choice(share_count(62'500, 10, 200));
  TinyProgramOptions options;
  options.has_execution_barriers = false;
  uint64_t trace_count = 0;
  do {
    ASSERT_NO_FATAL_FAILURE(check_program(tiny_program(choice, options), trace_count));
  } while (choice.advance());
  if (tries_all()) {
    EXPECT_EQ(trace_count, 148'116u);
  }
  EXPECT_GT(trace_count, static_cast<uint64_t>(share_count(100'000, 10, 200)));
}

TEST(Exhaustive, MakesEachTraceOfRandomProgramsOnce) {
  SeededChoice choice(41);
  RandomProgramOptions options;
  options.barrier_percent = 20;
  uint64_t trace_count = 0;
  for (int i = 0; i < share_count(5'000, 5); ++i) {
    ASSERT_NO_FATAL_FAILURE(check_program(random_program(choice, options), trace_count));
  }
  EXPECT_GT(trace_count, static_cast<uint64_t>(share_count(16'000, 5)));
}

// Opaque dispatches, which run in the compute stage, and copies, which run in the copy stage.
Program scoped_program(Choice& choice) {
  constexpr const char* kBarriers[] = {"barrier",
                                       "barrier execution",
                                       "barrier compute -> copy",
                                       "barrier copy -> compute",
                                       "barrier compute.write -> compute.read",
                                       "barrier copy -> copy"};
  std::string body = "memory m 8\n";
  for (uint64_t k = 2 + choice.below(5); k > 0; --k) {
    const uint64_t from = choice.below(4);
    const uint64_t to = 4 + choice.below(4);
    switch (choice.below(3)) {
      case 0:
        body += fmt::format("dispatch copy reads m[{}:{}] writes m[{}:{}]\n", from, from + 1, to,
                            to + 1);
        break;
      case 1:
        body += fmt::format("dispatch W writes m[{}:{}]\n", from, from + 1);
        break;
      default:
        body +=
            fmt::format("dispatch R reads m[{}:{}] writes m[{}:{}]\n", to, to + 1, from, from + 1);
    }
    if (choice.chance(1, 3)) body += std::string(kBarriers[choice.below(6)]) + "\n";
  }
  return program_of(body);
}

// Where order is not one of epochs: groups that happens-before ties together.
TEST(Exhaustive, MakesEachTraceOfProgramsWithScopedBarriersOnce) {
  SeededChoice choice(46);
  uint64_t trace_count = 0;
  int scoped_count = 0;
  for (int i = 0; i < share_count(5'000, 8); ++i) {
    const Program program = scoped_program(choice);
    const HappensBefore order(program);
    StepRelations relations = dispatch_relations(program);
    for (uint32_t a = 0; a < relations.count(); ++a) {
      for (uint32_t b = 0; b < relations.count(); ++b) {
        relations.precedes[a][b] =
            a < b && order.executes_before(DispatchId(size_t{a}), DispatchId(size_t{b}));
      }
    }
    const Enumeration enumeration = enumerate(program, all_traces());
    std::vector<StepOrder> orders;
    for (const Schedule& schedule : enumeration.schedules) {
      const Result<Success> legal = check_legal(program, order, schedule);
      ASSERT_TRUE(legal.has_value()) << legal.error().message << "\n" << print(program);
      orders.push_back(runs_of(schedule));
    }
    ASSERT_NO_FATAL_FAILURE(check_traces(program, relations, orders, enumeration.plan));
    trace_count += orders.size() + 1;
    scoped_count += order.has_scopes() ? 1 : 0;
  }
  EXPECT_GT(trace_count, static_cast<uint64_t>(share_count(20'000, 8)));
  EXPECT_GT(scoped_count, share_count(2'000, 8));
}

// Row sums and row writers on places that overlap at random.
Program sliced_program(Choice& choice) {
  std::string body = "memory m 256\ntensor w f32[2] at m+32\n";
  for (int t = 0; t < 2; ++t) {
    const uint64_t rows = 1 + choice.below(3);
    body += fmt::format("tensor x{} f32[{},2] at m+{}\n", t, rows, 4 * choice.below(6));
    body += fmt::format("tensor y{} f32[{}] at m+{}\n", t, rows, 4 * choice.below(12));
    body += fmt::format("tensor z{} f32[{},2] at m+{}\n", t, rows, 4 * choice.below(6));
  }
  for (uint64_t k = 2 + choice.below(2); k > 0; --k) {
    const uint64_t t = choice.below(2);
    switch (choice.below(4)) {
      case 0:
        body += fmt::format("dispatch W reads y{} writes x{}\n", t, t);
        break;
      case 1:
        body += fmt::format("dispatch rms_norm reads x{} w writes z{}\n", t, t);
        break;
      default:
        body += fmt::format("dispatch row_sum reads x{} writes y{}\n", t, t);
    }
    if (choice.chance(1, 5)) body += "barrier\n";
  }
  return program_of(body);
}

std::vector<StepOrder> slice_orders(const std::vector<Schedule>& schedules,
                                    const std::vector<SliceStep>& slices) {
  std::vector<StepOrder> orders;
  for (const Schedule& schedule : schedules) {
    orders.emplace_back();
    for (const Step& step : schedule.steps) {
      for (uint32_t s = 0; s < slices.size(); ++s) {
        if (slices[s].dispatch == step.dispatch.index && slices[s].slice >= step.first_slice &&
            slices[s].slice < step.first_slice + step.slice_count) {
          orders.back().push_back(s);
        }
      }
    }
  }
  return orders;
}

// Slices of one dispatch that conflict are among these programs.
TEST(Exhaustive, MakesEachTraceOfSlicesOnce) {
  SeededChoice choice(42);
  int sliced_count = 0;
  for (int i = 0; i < share_count(3'000, 8, 120); ++i) {
    const Program program = sliced_program(choice);
    std::vector<SliceStep> slices;
    const StepRelations relations = slice_relations(program, slices);
    if (slices.size() > 6) continue;
    const HappensBefore order(program);
    const Enumeration enumeration = enumerate(program, all_traces());
    for (const Schedule& schedule : enumeration.schedules) {
      const Result<Success> legal = check_legal(program, order, schedule);
      ASSERT_TRUE(legal.has_value()) << legal.error().message << "\n" << print(program);
      const Result<Schedule> again =
          schedule_of(program, order, displacements_of(program, schedule));
      ASSERT_TRUE(again.has_value()) << again.error().message << "\n" << print(program);
      ASSERT_EQ(*again, schedule) << print(program);
    }
    ASSERT_NO_FATAL_FAILURE(check_traces(
        program, relations, slice_orders(enumeration.schedules, slices), enumeration.plan));
    sliced_count += enumeration.plan.are_units_slices ? 1 : 0;
  }
  EXPECT_GT(sliced_count, share_count(500, 8, 120));
}

TEST(Exhaustive, RunsDispatchesWholeIfTheirSlicesHaveTooManyTraces) {
  const Program program = program_of(R"(
      memory m 4096
      tensor x f32[8,2] at m+0
      tensor y f32[8] at m+1024
      tensor z f32[2] at m+2048
      dispatch row_sum reads x writes y
      dispatch col_sum reads x writes z
      w: dispatch fill writes m[0:64] value=1)");
  StrategyOptions options;
  options.schedule_count = 100;
  const Enumeration cut = enumerate(program, options);
  EXPECT_FALSE(cut.plan.are_units_slices);
  EXPECT_TRUE(cut.plan.joins_slices);
  ASSERT_TRUE(cut.plan.slice_traces.has_value());
  EXPECT_EQ(cut.schedules.size(), 3u);  // One group, w before either of the two, or of both.
  options.schedule_count = 1000;
  const Enumeration apart = enumerate(program, options);
  EXPECT_TRUE(apart.plan.are_units_slices);
  EXPECT_EQ(apart.plan.trace_count, cut.plan.slice_traces->value);
  EXPECT_EQ(apart.schedules.size(), 511u);  // w against 8 rows and a block of columns.
}

TEST(Exhaustive, NeedsOneTraceForDisjointStores) {
  const Program program = program_of(R"(
      memory m 9
      dispatch A writes m[0:1] m[1:2] m[2:3]
      dispatch B writes m[3:4] m[4:5] m[5:6]
      dispatch C writes m[6:7] m[7:8] m[8:9])");
  const Enumeration enumeration = enumerate(program, all_traces());
  EXPECT_EQ(enumeration.plan.trace_count, Natural(1));
  EXPECT_TRUE(enumeration.schedules.empty());
}

// 6 traces, 2, and 2: a product of 24, or 5 + 1 + 1 besides issue order.
constexpr std::string_view kThreeGroups = R"(
    memory m 16
    a: dispatch A writes m[0:4]
    b: dispatch B writes m[0:4]
    c: dispatch C writes m[0:4]
    x: dispatch X writes m[4:8]
    y: dispatch Y reads m[4:8]
    barrier
    d: dispatch D writes m[0:8]
    e: dispatch E reads m[0:4]
)";

TEST(Exhaustive, MultipliesEpochsAndGroupsOnlyIfCombined) {
  const Program program = program_of(kThreeGroups);
  const Enumeration one_at_a_time = enumerate(program, {});
  EXPECT_EQ(one_at_a_time.plan.group_count, 3u);
  EXPECT_EQ(one_at_a_time.plan.hazard_count, 5u);
  EXPECT_EQ(one_at_a_time.plan.trace_count, Natural(24));
  EXPECT_EQ(one_at_a_time.plan.schedule_count, Natural(7));
  EXPECT_EQ(one_at_a_time.schedules.size(), 7u);
  EXPECT_EQ(enumerate(program, all_traces()).schedules.size(), 23u);
}

TEST(Exhaustive, LetsGroupsTakeTurns) {
  EXPECT_THAT(enumerate(program_of(kThreeGroups), {}).names,
              ElementsAre("c before b", "y before x", "e before d", "c before a", "b before a",
                          "b before a, and 1 more", "b before a, and 2 more"));
}

// What runs on the shadow machine say.
struct Differences {
  bool strict = false;
  bool observable = false;
};

Differences differences(const Program& program, const std::vector<Schedule>& schedules) {
  ShadowMachine machine(program);
  const Schedule issue = reference_order_schedule(program);
  const ShadowResult strict = machine.run(issue, ShadowMode::kStrict);
  const ShadowResult observable = machine.run(issue, ShadowMode::kObservable);
  Differences result;
  for (const Schedule& schedule : schedules) {
    result.strict |= machine.run(schedule, ShadowMode::kStrict) != strict;
    result.observable |= machine.run(schedule, ShadowMode::kObservable) != observable;
  }
  return result;
}

// Partial writes and atomics included.
TEST(Exhaustive, DecidesByOneGroupAtATimeWhatAllTracesDecide) {
  SeededChoice choice(43);
  RandomProgramOptions options;
  options.dispatch_count_max = 7;
  options.barrier_percent = 25;
  options.has_execution_barriers = false;
  int observable = 0;
  int differs_in_number = 0;
  for (int i = 0; i < share_count(10'000, 5, 80); ++i) {
    const Program program = random_program(choice, options);
    const Enumeration all = enumerate(program, all_traces());
    const Enumeration some = enumerate(program, {});
    const Differences of_all = differences(program, all.schedules);
    const Differences of_some = differences(program, some.schedules);
    ASSERT_EQ(of_all.strict, of_some.strict) << print(program);
    ASSERT_EQ(of_all.strict, !all.schedules.empty()) << print(program);
    ASSERT_EQ(of_all.observable, of_some.observable) << print(program);
    observable += of_all.observable ? 1 : 0;
    differs_in_number += all.schedules.size() > some.schedules.size() ? 1 : 0;
  }
  EXPECT_GT(observable, share_count(2'000, 5, 80));
  EXPECT_GT(differs_in_number, share_count(500, 5, 80));
}

TEST(Exhaustive, GivesEachTraceItsOwnStrictResult) {
  SeededChoice choice(44);
  RandomProgramOptions options;
  options.barrier_percent = 10;
  options.has_atomics = false;
  for (int i = 0; i < program_count(2'000); ++i) {
    const Program program = random_program(choice, options);
    ShadowMachine machine(program);
    std::set<std::vector<uint64_t>> results = {
        machine.run(reference_order_schedule(program), ShadowMode::kStrict).values};
    for (const Schedule& schedule : enumerate(program, all_traces()).schedules) {
      ASSERT_TRUE(results.insert(machine.run(schedule, ShadowMode::kStrict).values).second)
          << print(program);
    }
  }
}

Differences explored(const Program& program, std::string_view strategy) {
  const Exploration exploration = explore(program, *find_strategy(strategy), {100'000});
  return {exploration.strict_count > 0, exploration.observable_count > 0};
}

// Late commits included: the lazy run stands for them. The conditions are those of T5.
TEST(Exhaustive, FindsADifferenceExactlyWhenThreeRunsDoAndBruteForceDoes) {
  SeededChoice choice(45);
  RandomProgramOptions options;
  options.dispatch_count_max = 4;
  options.memory_bytes = 4;
  options.has_atomics = false;
  options.has_partial_writes = false;
  for (int i = 0; i < share_count(10'000, 10, 160); ++i) {
    const Program program = random_program(choice, options);
    const Differences exhaustive = explored(program, "exhaustive");
    const Differences three = explored(program, "three");
    ASSERT_EQ(exhaustive.strict, three.strict) << print(program);
    ASSERT_EQ(exhaustive.observable, three.observable) << print(program);
    const BruteForceVerdict verdict = brute_force(program);
    ASSERT_EQ(exhaustive.strict, verdict.differs_strictly) << print(program);
    ASSERT_EQ(exhaustive.observable, verdict.differs_observably) << print(program);
  }
}

}  // namespace
}  // namespace interlock::exhaustive_test
