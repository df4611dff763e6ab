// Text: items are lines, parsed and printed.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "encoder/program/check.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/schedules/choice.h"
#include "tests/bench/dispatch_stream.h"

namespace interlock {
namespace {

// As recorders name things: a memory and a tensor per buffer, a label per dispatch.
std::string named_stream_text(int64_t dispatch_count) {
  constexpr uint64_t kBufferCount = 1024;
  std::string text = "interlock 1\n";
  for (uint64_t i = 0; i < kBufferCount; ++i) {
    text += "memory buffer." + std::to_string(i) + " 4096\n";
    text += "tensor x" + std::to_string(i) + " f32[32,32] at buffer." + std::to_string(i) + "+0\n";
  }
  SeededChoice choice(1);
  const auto operand = [&choice] { return " x" + std::to_string(choice.below(kBufferCount)); };
  for (int64_t i = 0; i < dispatch_count; ++i) {
    text += "s" + std::to_string(i) + ": dispatch Opaque reads" + operand() + operand() +
            operand() + " writes" + operand() + "\n";
  }
  return text;
}

void parse_text(benchmark::State& state, const std::string& text) {
  const auto line_count = static_cast<int64_t>(std::count(text.begin(), text.end(), '\n'));
  for (auto _ : state) {
    const bool has_parsed = parse(text).has_value();
    INTERLOCK_CHECK(has_parsed);
  }
  state.SetItemsProcessed(state.iterations() * line_count);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

void ParseRanges(benchmark::State& state) {
  parse_text(state, dispatch_stream_text(state.range(0), 8));
}
BENCHMARK(ParseRanges)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void ParseNames(benchmark::State& state) { parse_text(state, named_stream_text(state.range(0))); }
BENCHMARK(ParseNames)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void Print(benchmark::State& state) {
  const Program program = dispatch_stream(state.range(0), 8);
  for (auto _ : state) benchmark::DoNotOptimize(print(program).size());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Print)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace interlock
