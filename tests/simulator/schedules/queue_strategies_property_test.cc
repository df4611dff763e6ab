// The strategies on random programs with several queues, against what others say: the clocks, and
// all orders of the parts of tiny programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/hazards/alias_contracts.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/host_atoms.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/explore.h"
#include "simulator/schedules/part_order.h"
#include "simulator/schedules/queue_legality.h"
#include "simulator/schedules/queue_schedule.h"
#include "simulator/schedules/queue_steps.h"
#include "simulator/schedules/queue_traces.h"
#include "simulator/schedules/queue_walk.h"
#include "simulator/schedules/shadow_machine.h"
#include "tests/corpus_files.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/reference_run.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_machine_programs.h"

namespace interlock::queue_strategies_property_test {
namespace {

std::string random_text(int seed) {
  SeededChoice choice(static_cast<uint64_t>(seed) + 3'000'000);
  return seed % 2 == 0 ? random_machine_program(choice) : generated_queue_program(choice);
}

bool has_hazard(const Program& run) {
  const Program atoms = with_whole_atoms(run);
  return !find_hazards(atoms, HappensBefore(atoms, &run)).hazards.empty();
}

// When each dispatch runs: positions of steps.
std::vector<size_t> runs_of(const Program& run, const Schedule& schedule) {
  std::vector<size_t> at(run.dispatches.size(), 0);
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    const bool runs = step.kind == StepKind::kRun || step.kind == StepKind::kRunLate;
    if (runs) at[step.dispatch.index] = i;
  }
  return at;
}

// No two dispatches run against the clocks.
void expect_ordered(const Program& run, const HappensBefore& order, const Schedule& schedule) {
  const std::vector<size_t> at = runs_of(run, schedule);
  for (size_t second = 1; second < at.size(); ++second) {
    for (size_t first = 0; first < second; ++first) {
      if (!order.executes_before(DispatchId(first), DispatchId(second))) continue;
      ASSERT_LT(at[first], at[second]) << first << " " << second;
    }
  }
}

TEST(QueueStrategies, NeverRunAgainstTheClocksAndDivergeOnlyBesideAHazard) {
  const int count = proof_count(23'200, 60, 20);
  int judged_count = 0;
  int clean_count = 0;
  int alias_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    const std::string text = random_text(seed);
    const std::optional<Program> run = reference_run(text);
    if (!run) continue;
    SCOPED_TRACE(text);
    ++judged_count;
    const HappensBefore order(*run);
    // What operands of one dispatch do to each other is no matter of schedules.
    const bool is_clean = !has_hazard(*run);
    if (is_clean) ++clean_count;
    alias_count += is_clean && !find_alias_violations(*run, 1).empty();
    ShadowMachine machine(*run);
    const ShadowResult reference = machine.run(reference_order_schedule(*run), ShadowMode::kStrict);
    for (const StrategyEntry& strategy : strategy_registry()) {
      const uint64_t schedule_count = strategy.name == "exhaustive" ? 20 : 4;
      const auto made = strategy.make(
          *run, order, {.schedule_count = schedule_count, .seed = static_cast<uint64_t>(seed)});
      Schedule schedule;
      for (uint64_t i = 0; i < schedule_count && made->next(schedule); ++i) {
        SCOPED_TRACE(std::string(strategy.name) + ": " + made->schedule_name());
        ASSERT_NO_FATAL_FAILURE(expect_ordered(*run, order, schedule));
        const auto legal = check_legal_on_queues(*run, schedule);
        ASSERT_TRUE(legal.has_value()) << legal.error().message;
        if (!is_clean) continue;
        ASSERT_TRUE(machine.run(schedule, ShadowMode::kStrict) == reference);
      }
    }
  }
  EXPECT_GT(judged_count, count / 2);
  EXPECT_GE(clean_count, count / 20);
  EXPECT_GE(alias_count, is_slow_build() ? 0 : 1);
  print_proof(judged_count,
              "no strategy runs operations of several queues against the clocks, nor differs "
              "without a hazard");
}

// Both orders of each pair that the clocks leave open come up, and the other one of those that
// they order never does.
TEST(QueueStrategies, ReachBothOrdersOfWhatNothingOrders) {
  constexpr int kSchedules = 300;
  const int count = share_count(150, 3, 10);
  int pair_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    const std::string text = random_text(seed);
    const std::optional<Program> run = reference_run(text);
    if (!run || run->dispatches.size() > 5) continue;
    SCOPED_TRACE(text);
    const HappensBefore order(*run);
    const size_t size = run->dispatches.size();
    std::vector<bool> is_reversed(size * size, false);
    const auto note = [&](const Schedule& schedule) {
      const std::vector<size_t> at = runs_of(*run, schedule);
      for (size_t second = 1; second < size; ++second) {
        for (size_t first = 0; first < second; ++first) {
          if (at[second] < at[first]) is_reversed[second * size + first] = true;
        }
      }
    };
    const QueuePctSchedules pct(*run, 1);
    for (int i = 0; i < kSchedules; ++i) {
      SeededChoice choice(static_cast<uint64_t>(i));
      note(i % 2 == 0 ? random_queue_schedule(*run, choice) : pct.schedule(choice));
    }
    for (size_t second = 1; second < size; ++second) {
      for (size_t first = 0; first < second; ++first) {
        const bool is_ordered = order.executes_before(DispatchId(first), DispatchId(second));
        ASSERT_NE(is_reversed[second * size + first], is_ordered) << first << " " << second;
        ++pair_count;
      }
    }
  }
  EXPECT_GT(pair_count, count);
}

// Calls `seen` with every order of the parts of `order`; false if there are more than `limit`.
bool for_each_order(const PartOrder& order, uint64_t limit,
                    const std::function<void(const std::vector<OperationPart>&)>& seen) {
  std::vector<OperationPart> chosen;
  uint64_t count = 0;
  const std::function<bool(uint64_t)> extend = [&](uint64_t done) {
    if (chosen.size() == order.parts.size()) {
      if (++count > limit) return false;
      seen(chosen);
      return true;
    }
    for (size_t i = 0; i < order.parts.size(); ++i) {
      const uint64_t bit = uint64_t{1} << i;
      if ((done & bit) != 0 || (order.earlier[i] & ~done) != 0) continue;
      chosen.push_back(order.parts[i]);
      const bool goes_on = extend(done | bit);
      chosen.pop_back();
      if (!goes_on) return false;
    }
    return true;
  };
  return extend(0);
}

// A strict write that overwrites all has no time of its own at which it finds what was there: so of
// strict outcomes it counts only whether there are several.
struct Outcomes {
  std::set<std::vector<uint64_t>> strict;
  std::set<std::vector<uint64_t>> observable;

  void add(ShadowMachine& machine, const Schedule& schedule) {
    strict.insert(machine.run(schedule, ShadowMode::kStrict).values);
    observable.insert(machine.run(schedule, ShadowMode::kObservable).values);
  }
};

// One schedule of each trace has every outcome that any execution has, and no other; and where one
// group varies at a time something differs iff something differs at all.
TEST(QueueStrategies, ReachEveryOutcomeByTraces) {
  constexpr uint64_t kOrdersMax = 3000;
  const int count = proof_count(105'000, 120, 30);
  int judged_count = 0;
  int differing_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    const std::string text = random_text(seed);
    const std::optional<Program> run = reference_run(text);
    if (!run || QueueMachine(*run, {.splits_memory = true}).pieces().size() > 12) continue;
    if (!find_alias_violations(*run, 1).empty()) continue;
    const QueueMachine machine(*run, {.splits_memory = true});
    ShadowMachine shadow(*run);
    Outcomes all;
    const bool are_few =
        for_each_order(find_part_order(*run, true), kOrdersMax,
                       [&](const auto& parts) { all.add(shadow, steps_of(*run, machine, parts)); });
    if (!are_few) continue;
    SCOPED_TRACE(text);
    ++judged_count;
    if (all.strict.size() > 1) ++differing_count;
    for (const bool combines : {true, false}) {
      QueueTraces traces(*run, {.combines_groups = combines});
      ASSERT_FALSE(traces.units().is_truncated);
      Outcomes reached;
      reached.add(shadow, reference_order_schedule(*run));
      Schedule schedule;
      uint64_t made_count = 0;
      for (; traces.next(schedule); ++made_count) reached.add(shadow, schedule);
      ASSERT_EQ(traces.refused_count(), 0u);
      ASSERT_TRUE(!traces.counts().is_exact ||
                  Natural(made_count) == traces.counts().schedule_count);
      ASSERT_EQ(reached.strict.size() > 1, all.strict.size() > 1);
      ASSERT_EQ(reached.observable.size() > 1, all.observable.size() > 1);
      ASSERT_TRUE(!combines || reached.observable == all.observable);
    }
  }
  EXPECT_GE(judged_count, count / 10);
  EXPECT_GE(differing_count, count / 40);
  print_proof(judged_count,
              "the traces of several queues have every outcome that some execution has, and no "
              "other");
}

// Of the programs about queues in the corpus: the sinks of hazards, and one schedule of each trace,
// change an output where a check says that one can change.
TEST(QueueStrategies, ShowWhatTheCheckCallsObservableInTheCorpus) {
  int observable_count = 0;
  for (const auto& path : fewer_if_slow(corpus_files({"bugs", "queues"}))) {
    const Program text = corpus_program(path);
    if (!needs_queue_order(text) || !find_reference_order(text).cycle.empty()) continue;
    SCOPED_TRACE(path);
    const Program run = reference_run(text);
    const CheckReport report = check(run);
    const bool is_observable = std::ranges::any_of(report.findings, [](const Finding& finding) {
      return is_hazard(finding.kind) && finding.observability == Observability::kObservable;
    });
    observable_count += is_observable ? 1 : 0;
    for (const std::string_view name : {"directed", "exhaustive"}) {
      const Exploration exploration = explore(run, *find_strategy(name), {.schedule_count = 200});
      EXPECT_EQ(exploration.observable_count > 0, is_observable) << name << exploration.claim;
    }
  }
  EXPECT_GT(observable_count, is_slow_build() ? 15 : 60);
}

// A witness that explore() prints is a legal schedule, and differs as it was said to.
TEST(QueueStrategies, SayWitnessesThatReplay) {
  const int count = share_count(300, 2, 30);
  int witness_count = 0;
  int unsaid_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    const std::string text = random_text(seed);
    const std::optional<Program> run = reference_run(text);
    if (!run) continue;
    SCOPED_TRACE(text);
    const HappensBefore order(*run);
    ShadowMachine machine(*run);
    for (const std::string_view name : {"directed", "random"}) {
      const Exploration exploration = explore(*run, *find_strategy(name), {.schedule_count = 30});
      if (!exploration.first_different) continue;
      ASSERT_NE(exploration.witness.empty(), exploration.steps.empty());
      if (exploration.witness.empty()) {
        ++unsaid_count;
        continue;
      }
      ++witness_count;
      const Result<Schedule> said = queue_schedule_of(*run, exploration.witness);
      ASSERT_TRUE(said.has_value());
      const ShadowMode mode =
          exploration.observable_count > 0 ? ShadowMode::kObservable : ShadowMode::kStrict;
      EXPECT_FALSE(machine.run(*said, mode) == machine.run(reference_order_schedule(*run), mode));
    }
  }
  EXPECT_GT(witness_count, count / 4);
  EXPECT_LT(unsaid_count, witness_count / 10);
}

}  // namespace
}  // namespace interlock::queue_strategies_property_test
