// The encode pass, by encoder: items are dispatches. The trackers alone are in tracker_bench.cc.
#include <benchmark/benchmark.h>

#include "encoder/sync/encoder.h"
#include "tests/bench/dispatch_stream.h"

namespace interlock {
namespace {

void Encode(benchmark::State& state, const char* name) {
  const Program program = dispatch_stream(state.range(0), state.range(1));
  for (auto _ : state) {
    const std::unique_ptr<Encoder> encoder = find_encoder(name)->create();
    benchmark::DoNotOptimize(encode(program, *encoder).barriers.size());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
// Dispatches, and how many of them in a row are independent.
BENCHMARK_CAPTURE(Encode, serial, "serial")->Args({10'000, 8});
BENCHMARK_CAPTURE(Encode, interlock, "interlock")->Args({10'000, 8})->Args({10'000, 1'000'000});
BENCHMARK_CAPTURE(Encode, mlx_2026, "mlx-2026")->Args({10'000, 8})->Args({10'000, 1'000'000});
BENCHMARK_CAPTURE(Encode, ggml_metal, "ggml-metal")->Args({10'000, 8})->Args({10'000, 512});

}  // namespace
}  // namespace interlock
