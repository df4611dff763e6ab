// Planners on a training step of 30 layers, one micro-batch or eight; items are dispatches. For
// each, the bytes above the lower bound and the barriers above those without reuse, in percent.
#include <benchmark/benchmark.h>

#include "encoder/plan/planner.h"
#include "tests/encoder/backward/training_step.h"

namespace interlock {
namespace {

void Plan(benchmark::State& state, const char* name, uint32_t slack_percent) {
  const Program program = training_step({30, static_cast<uint64_t>(state.range(0)), 8, 16});
  PlanOptions options;
  options.slack_percent = slack_percent;
  for (auto _ : state) {
    benchmark::DoNotOptimize(find_planner(name)->plan(program, options)->tensors.size());
  }
  const PlanReport report =
      *report_of(program, *find_planner(name)->plan(program, options), options);
  const auto percent = [](uint64_t value, uint64_t base) {
    return (static_cast<double>(value) / static_cast<double>(base) - 1) * 100;
  };
  state.counters["bytes_above_%"] = percent(report.pool_bytes, report.lower_bound_bytes);
  state.counters["barriers_above_%"] = percent(report.barrier_count, report.fresh_barrier_count);
  state.counters["dispatches"] = static_cast<double>(program.dispatches.size());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(program.dispatches.size()));
}
// Micro-batches.
BENCHMARK_CAPTURE(Plan, fresh, "fresh", 0)->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Plan, liveness, "liveness", 0)->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Plan, liveness_slack_10, "liveness", 10)
    ->Arg(1)
    ->Arg(8)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Plan, ggml, "ggml", 0)->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Plan, arena, "arena", 0)->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace interlock
