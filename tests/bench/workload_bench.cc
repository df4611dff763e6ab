// A training step of 30 layers on its way through Interlock: the backward pass that is appended,
// the plan, the encoder, the check. Items are dispatches; one micro-batch, or eight.
#include <benchmark/benchmark.h>

#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/plan/planner.h"
#include "encoder/sync/encoder.h"
#include "fuzz/workloads/workload.h"
#include "simulator/report/check.h"

namespace interlock {
namespace {

WorkloadOptions options_of(const benchmark::State& state, const char* workload) {
  WorkloadOptions options = find_workload(workload)->defaults;
  options.layer_count = 30;
  options.micro_batch_count = static_cast<uint64_t>(state.range(0));
  return options;
}

Program step_of(const benchmark::State& state, const char* workload) {
  return build(*find_workload(workload)->make(options_of(state, workload))).value();
}

Program planned(const Program& program) {
  return find_planner("liveness")->plan(program, PlanOptions{}).value();
}

Program encoded(const Program& program) {
  return encode(program, *find_encoder("interlock")->create());
}

void count(benchmark::State& state, const Program& program) {
  state.counters["dispatches"] = static_cast<double>(program.dispatches.size());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(program.dispatches.size()));
}

// Forward and backward pass, as a draft; and the program that it makes.
void StepBackward(benchmark::State& state, const char* workload) {
  const WorkloadOptions options = options_of(state, workload);
  for (auto _ : state) {
    benchmark::DoNotOptimize(build(*find_workload(workload)->make(options))->dispatches.size());
  }
  count(state, step_of(state, workload));
}

void StepPlan(benchmark::State& state, const char* workload) {
  const Program program = step_of(state, workload);
  for (auto _ : state) benchmark::DoNotOptimize(planned(program).memories.size());
  count(state, program);
}

void StepEncode(benchmark::State& state, const char* workload) {
  const Program program = planned(step_of(state, workload));
  for (auto _ : state) benchmark::DoNotOptimize(encoded(program).barriers.size());
  count(state, program);
}

void StepCheck(benchmark::State& state, const char* workload) {
  const Program program = encoded(planned(step_of(state, workload)));
  for (auto _ : state) benchmark::DoNotOptimize(check(program).findings.size());
  count(state, program);
}

#define INTERLOCK_STEP_BENCHMARK(function)                                                \
  BENCHMARK_CAPTURE(function, mlp, "mlp")->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(function, transformer, "transformer")                                 \
      ->Arg(1)                                                                            \
      ->Arg(8)                                                                            \
      ->Unit(benchmark::kMillisecond)

INTERLOCK_STEP_BENCHMARK(StepBackward);
INTERLOCK_STEP_BENCHMARK(StepPlan);
INTERLOCK_STEP_BENCHMARK(StepEncode);
INTERLOCK_STEP_BENCHMARK(StepCheck);

}  // namespace
}  // namespace interlock
