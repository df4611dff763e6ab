// Schedules per second of each strategy, made and run strictly, on a program of 16 dispatches; and
// what counting costs. Compare figures of one run: items are schedules.
#include <benchmark/benchmark.h>

#include <optional>
#include <string>
#include <vector>

#include "encoder/text/parser.h"
#include "simulator/hazards/hazards.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/sinks.h"
#include "simulator/schedules/strategy_exhaustive.h"
#include "simulator/schedules/strategy_pct.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"
#include "simulator/schedules/trace_count.h"
#include "simulator/schedules/trace_groups.h"

namespace interlock {
namespace {

// 16 dispatches with 3 reads and 1 write over 8 slots, a barrier in the middle; no slices.
Program sixteen_dispatches() {
  std::string text = "interlock 1\nmemory pool 2048\n";
  SeededChoice choice(1);
  const auto slot = [](uint64_t index) {
    return " pool[" + std::to_string(index * 256) + ":" + std::to_string(index * 256 + 256) + "]";
  };
  for (int i = 0; i < 16; ++i) {
    if (i == 8) text += "barrier\n";
    text += "dispatch D reads" + slot(choice.below(8)) + slot(choice.below(8)) +
            slot(choice.below(8)) + " writes" + slot(choice.below(8)) + "\n";
  }
  Result<Program> program = parse(text);
  INTERLOCK_CHECK(program.has_value());
  return std::move(program).value();
}

class Runner {
 public:
  explicit Runner(const Program& program)
      : machine_(program),
        reference_(machine_.run(reference_order_schedule(program), ShadowMode::kStrict)) {}

  void run(const Schedule& schedule) {
    machine_.run(schedule, ShadowMode::kStrict, result_);
    benchmark::DoNotOptimize(result_ == reference_);
  }

 private:
  ShadowMachine machine_;
  ShadowResult reference_;
  ShadowResult result_;
};

void Three(benchmark::State& state) {
  const Program program = sixteen_dispatches();
  const HappensBefore order(program);
  Runner runner(program);
  for (auto _ : state) {
    runner.run(epoch_reversed_schedule(program, order));
    runner.run(lazy_schedule(program, order));
  }
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(Three);

void Directed(benchmark::State& state) {
  const Program program = sixteen_dispatches();
  const HappensBefore order(program);
  const std::vector<Hazard> hazards = find_all_hazards(program, order).hazards;
  Runner runner(program);
  size_t next = 0;
  for (auto _ : state) {
    const Result<Schedule> sink = schedule_of(program, order, sink_of(order, hazards[next]));
    runner.run(*sink);
    next = (next + 1) % hazards.size();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Directed);

void Exhaustive(benchmark::State& state, bool combines_groups, bool runs) {
  const Program program = sixteen_dispatches();
  const HappensBefore order(program);
  const HazardList hazards = find_all_hazards(program, order);
  StrategyOptions options;
  options.combines_groups = combines_groups;
  std::optional<ExhaustiveSchedules> traces;
  traces.emplace(program, order, hazards, options);
  Runner runner(program);
  Schedule schedule;
  for (auto _ : state) {
    if (!traces->next(schedule)) traces.emplace(program, order, hazards, options);
    if (runs) runner.run(schedule);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(Exhaustive, one_group_at_a_time, false, true);
BENCHMARK_CAPTURE(Exhaustive, combined, true, true);
BENCHMARK_CAPTURE(Exhaustive, not_run, true, false);

void Random(benchmark::State& state) {
  const Program program = sixteen_dispatches();
  const HappensBefore order(program);
  Runner runner(program);
  SeededChoice choice(1);
  for (auto _ : state) runner.run(random_schedule(program, order, choice));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Random);

void Pct(benchmark::State& state) {
  const Program program = sixteen_dispatches();
  const HappensBefore order(program);
  const PctSchedules pct(program, order, {static_cast<uint64_t>(state.range(0))});
  Runner runner(program);
  SeededChoice choice(1);
  for (auto _ : state) runner.run(pct.schedule(choice));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Pct)->Arg(1)->Arg(2)->Arg(3);

// The hazards of `left` slices by rows against `right` slices by columns.
void CountTraces(benchmark::State& state) {
  std::vector<UnitPair> hazards;
  const auto left = static_cast<uint32_t>(state.range(0));
  const auto right = static_cast<uint32_t>(state.range(1));
  for (uint32_t a = 0; a < left; ++a) {
    for (uint32_t b = 0; b < right; ++b) hazards.push_back({a, left + b});
  }
  const std::vector<TraceGroup> groups =
      trace_groups(hazards, [](uint32_t, uint32_t) { return false; });
  for (auto _ : state) {
    uint64_t work_limit = 1u << 21;
    benchmark::DoNotOptimize(count_traces(groups.front(), work_limit).is_exact);
  }
}
BENCHMARK(CountTraces)->Args({8, 8})->Args({64, 16})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace interlock
