// The 24-layer stream on a CUDA device, by how it is issued: time on the device, from the first
// launch to the end of the last. Dispatches execute `mix`, so they read and write what the recorded
// ones did and compute less.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cuda/cuda_backend.h"
#include "encoder/program/check.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/files.h"
#include "fuzz/judge/oracles.h"

namespace interlock {
namespace {

const Program& stream() {
  static const Program program = [] {
    Result<Program> parsed =
        parse_file(INTERLOCK_SOURCE_DIR "/corpus/streams/ggml-llama24-metal.ilk");
    INTERLOCK_CHECK(parsed.has_value());
    return std::move(parsed).value();
  }();
  return program;
}

CudaBackend& cuda() {
  // Never destroyed, as in the registry. Its limit is for strangers' files.
  static auto* const backend = new CudaBackend({.limit_bytes = 16ull << 30});
  return *backend;
}

void measure(benchmark::State& state, Result<std::unique_ptr<CudaRecording>> recording) {
  if (!recording) return state.SkipWithError(recording.error().message.c_str());
  for (auto _ : state) {
    const Result<double> seconds = (*recording)->measure_seconds();
    if (!seconds) return state.SkipWithError(seconds.error().message.c_str());
    state.SetIterationTime(*seconds);
  }
}

// Without a device: says why, and measures nothing.
bool skips(benchmark::State& state) {
  const Availability availability = cuda().availability();
  if (!availability.is_available) state.SkipWithError(("no CUDA: " + availability.reason).c_str());
  return !availability.is_available;
}

void Issue(benchmark::State& state, const char* encoder, CudaLowering lowering) {
  if (skips(state)) return;
  const Program program = encode_with(stream(), find_encoder(encoder));
  state.counters["barriers"] = static_cast<double>(program.barriers.size());
  measure(state, cuda().record(program, {.lowering = lowering}));
}
BENCHMARK_CAPTURE(Issue, single_stream, "none", CudaLowering::kOneStream)->UseManualTime();
BENCHMARK_CAPTURE(Issue, serial_on_streams, "serial", CudaLowering::kStreams)->UseManualTime();
BENCHMARK_CAPTURE(Issue, interlock_on_streams, "interlock", CudaLowering::kStreams)
    ->UseManualTime();
BENCHMARK_CAPTURE(Issue, serial_as_graph, "serial", CudaLowering::kGraph)->UseManualTime();
BENCHMARK_CAPTURE(Issue, interlock_as_graph, "interlock", CudaLowering::kGraph)->UseManualTime();
BENCHMARK_CAPTURE(Issue, interlock_as_captured_graph, "interlock", CudaLowering::kCapturedGraph)
    ->UseManualTime();
// Every conflict as an edge, instead of barriers.
BENCHMARK_CAPTURE(Issue, conflicts_as_graph, "none", CudaLowering::kConflictGraph)->UseManualTime();
// What no order allows: all dispatches at once.
BENCHMARK_CAPTURE(Issue, none_as_graph, "none", CudaLowering::kGraph)->UseManualTime();

bool conflict(const Program& program, DispatchId first, DispatchId second) {
  for (const Access& a : program.accesses_of(first)) {
    for (const Access& b : program.accesses_of(second)) {
      const bool shares = a.memory == b.memory && share_a_byte(a.range, b.range);
      const bool both_atomic = a.is_atomic() && b.is_atomic();
      if (shares && !(a.only_reads() && b.only_reads()) && !both_atomic) return true;
    }
  }
  return false;
}

// The dispatches of a longest chain of conflicts, in issue order.
std::vector<uint32_t> longest_chain(const Program& program) {
  const auto count = static_cast<uint32_t>(program.dispatches.size());
  std::vector<uint32_t> length(count, 1);
  std::vector<uint32_t> previous(count, count);
  for (uint32_t second = 0; second < count; ++second) {
    for (uint32_t first = 0; first < second; ++first) {
      if (length[first] < length[second]) continue;
      if (!conflict(program, DispatchId(first), DispatchId(second))) continue;
      length[second] = length[first] + 1;
      previous[second] = first;
    }
  }
  std::vector<uint32_t> chain;
  if (count == 0) return chain;
  const auto last = std::max_element(length.begin(), length.end()) - length.begin();
  for (auto d = static_cast<uint32_t>(last); d != count; d = previous[d]) chain.push_back(d);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

// No order of the whole stream can be faster than these alone, one after the other.
void LongestChain(benchmark::State& state) {
  if (skips(state)) return;
  const std::vector<uint32_t> chain = longest_chain(stream());
  state.counters["dispatches"] = static_cast<double>(chain.size());
  Schedule schedule;
  for (const uint32_t d : chain) {
    schedule.steps.push_back(whole_step(stream(), DispatchId(d), StepKind::kRun));
  }
  measure(state, cuda().record(stream(), schedule));
}
BENCHMARK(LongestChain)->UseManualTime();

}  // namespace
}  // namespace interlock
