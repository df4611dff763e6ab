// Text: items are lines, parsed and printed.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/schedules/choice.h"
#include "tests/bench/dispatch_stream.h"
#include "tests/bench/minimal_parser.h"
#include "tests/bench/targets.h"

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

constexpr int64_t kStreamDispatches = 100'000;

std::string range_text(uint64_t begin, uint64_t end) {
  return " pool[" + std::to_string(begin) + ":" + std::to_string(end) + "]";
}

// Each dispatch reads what the one before it wrote.
std::string chain_text() {
  std::string text = "interlock 1\nmemory pool 268435456\n";
  for (uint64_t i = 0; i < kStreamDispatches; ++i) {
    text += "dispatch C reads" + range_text(i * 256, i * 256 + 256) + " writes" +
            range_text(i * 256 + 256, i * 256 + 512) + "\nbarrier\n";
  }
  return text;
}

// 1 byte to 16 GiB of a memory of 1 TiB.
std::string random_range_text() {
  constexpr uint64_t kMemoryBytes = 1ull << 40;
  std::string text = "interlock 1\nmemory pool " + std::to_string(kMemoryBytes) + "\n";
  SeededChoice choice(1);
  const auto range = [&choice] {
    const uint64_t size_bytes = 1 + choice.below(1ull << choice.below(35));
    const uint64_t begin = choice.below(kMemoryBytes - size_bytes);
    return range_text(begin, begin + size_bytes);
  };
  for (int64_t i = 0; i < kStreamDispatches; ++i) {
    text += "dispatch D reads" + range() + range() + " writes" + range() + "\n";
  }
  return text;
}

std::string recorded_text(const std::string& name) {
  return read_file(INTERLOCK_SOURCE_DIR "/corpus/streams/" + name + ".ilk").value();
}

bool are_equal(const Access& a, const Access& b) {
  return a.memory == b.memory && a.tensor == b.tensor && a.range == b.range && a.mode == b.mode &&
         a.is_sliced == b.is_sliced && a.is_undeclared == b.is_undeclared;
}

// The least that a reader of these bytes has to do stands beside what parse() does, both by turns,
// so that other work on the machine hits both. The counters are nanoseconds of CPU time a line, and
// their ratio.
void ParseBesideMinimal(benchmark::State& state, const std::string& text) {
  const Program program = parse(text).value();
  const MinimalProgram minimal = parse_minimally(text);
  INTERLOCK_CHECK(std::ranges::equal(program.accesses, minimal.accesses, are_equal));
  INTERLOCK_CHECK(program.dispatches.size() == minimal.dispatches.size());
  INTERLOCK_CHECK(program.barriers.size() == minimal.barriers.size());
  const size_t dispatch_count = program.dispatches.size();
  const auto parse_all = [&] { INTERLOCK_CHECK(parse(text).has_value()); };
  const auto parse_least = [&] {
    INTERLOCK_CHECK(parse_minimally(text).dispatches.size() == dispatch_count);
  };
  const std::vector<Timing> timings =
      measure_rounds(state, {{"ours", {}, parse_all}, {"minimal", {}, parse_least}});
  const auto line_count = static_cast<double>(std::count(text.begin(), text.end(), '\n'));
  note_time(state, "ns_a_line", timings[0], line_count);
  note_time(state, "minimal_ns", timings[1], line_count);
  hold_ratio(state, ratio_by_round(timings[0], timings[1]), 2);
}
BENCHMARK_CAPTURE(ParseBesideMinimal, chain, chain_text())->UseManualTime();
BENCHMARK_CAPTURE(ParseBesideMinimal, repeated_ranges, dispatch_stream_text(kStreamDispatches, 8))
    ->UseManualTime();
BENCHMARK_CAPTURE(ParseBesideMinimal, random_ranges, random_range_text())->UseManualTime();
BENCHMARK_CAPTURE(ParseBesideMinimal, names_and_labels, named_stream_text(kStreamDispatches))
    ->UseManualTime();
BENCHMARK_CAPTURE(ParseBesideMinimal, recorded_64_steps,
                  recorded_text("ggml-llama24-metal-64steps"))
    ->UseManualTime();
BENCHMARK_CAPTURE(ParseBesideMinimal, recorded_training, recorded_text("ggml-train-metal-30"))
    ->UseManualTime();
BENCHMARK_CAPTURE(ParseBesideMinimal, recorded_with_order,
                  recorded_text("ggml-llama24-metal-reorder"))
    ->UseManualTime();

}  // namespace
}  // namespace interlock
