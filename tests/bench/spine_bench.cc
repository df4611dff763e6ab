// The spine, stage by stage. Machines differ, so compare figures of one run: counters are per
// dispatch or per program, and the restated trackers stand beside ours.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "encoder/encoder.h"
#include "encoder/text.h"
#include "fuzz/generator.h"
#include "fuzz/oracles.h"
#include "simulator/barrier_bounds.h"
#include "simulator/check.h"
#include "simulator/hazards.h"
#include "simulator/shadow_machine.h"
#include "simulator/strategies.h"

namespace interlock {
namespace {

// `dispatch_count` opaque dispatches with 3 reads and 1 write over 1024 buffers of 256 bytes; each
// run of `period` dispatches has no dependency within itself.
std::string stream_text(int64_t dispatch_count, int64_t period) {
  std::string text = "interlock 1\nmemory pool 262144\n";
  SeededChoice choice(1);
  const auto slot = [](uint64_t index) {
    return "pool[" + std::to_string(index * 256) + ":" + std::to_string(index * 256 + 256) + "]";
  };
  for (int64_t i = 0; i < dispatch_count; ++i) {
    // Writes walk through the upper half; reads stay in the lower one, until the period is over.
    const bool depends = i % period == period - 1;
    text += "dispatch D reads";
    for (int read = 0; read < 3; ++read) {
      text += " " + slot(depends && read == 0 ? 512 + static_cast<uint64_t>(i - 1) % 512
                                              : choice.below(512));
    }
    text += " writes " + slot(512 + static_cast<uint64_t>(i) % 512) + "\n";
  }
  return text;
}

Program stream(int64_t dispatch_count, int64_t period) {
  Result<Program> program = parse(stream_text(dispatch_count, period));
  INTERLOCK_CHECK(program.has_value());
  return std::move(program).value();
}

void count_dispatches(benchmark::State& state, int64_t dispatch_count) {
  state.SetItemsProcessed(state.iterations() * dispatch_count);
}

void Parse(benchmark::State& state) {
  const std::string text = stream_text(state.range(0), 8);
  for (auto _ : state) {
    benchmark::DoNotOptimize(parse(text).has_value());
  }
  count_dispatches(state, state.range(0));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}
BENCHMARK(Parse)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void Encode(benchmark::State& state, const char* name) {
  const Program program = stream(state.range(0), state.range(1));
  for (auto _ : state) {
    const std::unique_ptr<Encoder> encoder = find_encoder(name)->create();
    benchmark::DoNotOptimize(encode(program, *encoder).barriers.size());
  }
  count_dispatches(state, state.range(0));
}
BENCHMARK_CAPTURE(Encode, serial, "serial")->Args({10'000, 8});
BENCHMARK_CAPTURE(Encode, interlock, "interlock")->Args({10'000, 8})->Args({10'000, 1'000'000});
BENCHMARK_CAPTURE(Encode, mlx_2026, "mlx-2026")->Args({10'000, 8})->Args({10'000, 1'000'000});
BENCHMARK_CAPTURE(Encode, ggml_metal, "ggml-metal")->Args({10'000, 8})->Args({10'000, 512});

void ExactCheck(benchmark::State& state) {
  const Program program = stream(state.range(0), 8);
  for (auto _ : state) {
    benchmark::DoNotOptimize(find_hazards(program, HappensBefore(program), 1).size());
  }
  count_dispatches(state, state.range(0));
}
BENCHMARK(ExactCheck)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void FewestBarriers(benchmark::State& state) {
  const Program program = stream(state.range(0), 8);
  for (auto _ : state) {
    benchmark::DoNotOptimize(barrier_bounds(program).fewest_barriers);
  }
  count_dispatches(state, state.range(0));
}
BENCHMARK(FewestBarriers)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void ThreeStrictRuns(benchmark::State& state) {
  const Program program = stream(16, 8);
  const HappensBefore order(program);
  for (auto _ : state) {
    ShadowMachine machine(program);
    const ShadowResult issue = machine.run(issue_order_schedule(program), ShadowMode::kStrict);
    benchmark::DoNotOptimize(
        issue == machine.run(epoch_reversed_schedule(program, order), ShadowMode::kStrict));
    benchmark::DoNotOptimize(issue ==
                             machine.run(lazy_schedule(program, order), ShadowMode::kStrict));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(ThreeStrictRuns);

// One item: generate, build, encode, check, cross-check, shadow runs; the CPU on 1 in 64.
void FuzzOneProgram(benchmark::State& state) {
  OracleOptions options;
  options.encoder = find_encoder("interlock");
  uint64_t number = 0;
  for (auto _ : state) {
    SeededChoice choice(++number);
    benchmark::DoNotOptimize(judge(generate(choice), options, number).findings.size());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(FuzzOneProgram);

}  // namespace
}  // namespace interlock
