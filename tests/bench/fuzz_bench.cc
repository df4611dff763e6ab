// A campaign, and its parts: items are programs of the generator.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/subject.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/minimize/minimizer.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/bench/dispatch_stream.h"
#include "tests/bench/targets.h"

namespace interlock {
namespace {

CampaignOptions campaign_of(const char* encoder) {
  CampaignOptions options;
  options.encoder = find_encoder(encoder);
  options.oracles.encoder = options.encoder;
  options.seed = 1;
  return options;
}

// Everything that one run of `interlock fuzz` does: generate, build, encode, exact check,
// cross-check, strict and random runs; observable runs where there is a hazard; print and parse on
// 1 in 16, and the CPU kernels on 1 in 64.
void FuzzOneProgram(benchmark::State& state) {
  const CampaignOptions options = campaign_of("interlock");
  const auto subject = subject_of(options);
  uint64_t run = 0;
  for (auto _ : state) {
    const RunOutcome outcome = subject->judge(run++);
    INTERLOCK_CHECK(outcome.signatures.empty() && outcome.disagreements.empty());
  }
  state.SetItemsProcessed(state.iterations());
  hold_time(state, 1.0 / 40'000);
}
BENCHMARK(FuzzOneProgram)->Unit(benchmark::kMicrosecond);

// The parts, on the same programs.
constexpr uint64_t kPartRuns = 256;

void Generate(benchmark::State& state) {
  const CampaignOptions options = campaign_of("interlock");
  uint64_t run = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(draft_of_run(options, run++ % kPartRuns).items.size());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Generate)->Unit(benchmark::kMicrosecond);

void PrintAndParse(benchmark::State& state) {
  const CampaignOptions options = campaign_of("interlock");
  std::vector<ProgramDraft> drafts;
  for (uint64_t run = 0; run < kPartRuns; ++run) drafts.push_back(draft_of_run(options, run));
  uint64_t run = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(parse(print(drafts[run++ % kPartRuns])).has_value());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(PrintAndParse)->Unit(benchmark::kMicrosecond);

void JudgeWithoutText(benchmark::State& state) {
  CampaignOptions options = campaign_of("interlock");
  options.oracles.text_period = 0;
  std::vector<Program> programs;
  for (uint64_t run = 0; run < kPartRuns; ++run) {
    programs.push_back(build(draft_of_run(options, run)).value());
  }
  uint64_t run = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        judge(programs[run % kPartRuns], options.oracles, run).disagreements.size());
    ++run;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(JudgeWithoutText)->Unit(benchmark::kMicrosecond);

// The three deciding runs of a program of 16 dispatches, strict, with all that they need.
void ThreeStrictRuns(benchmark::State& state) {
  const Program program = dispatch_stream(16, 8);
  const HappensBefore order(program);
  const Schedule issue = reference_order_schedule(program);
  for (auto _ : state) {
    ShadowMachine machine(program);
    const ShadowResult result = machine.run(issue, ShadowMode::kStrict);
    benchmark::DoNotOptimize(
        result == machine.run(epoch_reversed_schedule(program, order), ShadowMode::kStrict));
    benchmark::DoNotOptimize(result ==
                             machine.run(lazy_schedule(program, order), ShadowMode::kStrict));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(ThreeStrictRuns)->Unit(benchmark::kMicrosecond);

// The first programs in which the encoder misses a barrier, from some 16 dispatches down to two.
void Minimize(benchmark::State& state, const char* encoder) {
  constexpr size_t kProgramCount = 8;
  const CampaignOptions options = campaign_of(encoder);
  std::vector<Program> programs;
  std::vector<Fact> facts;
  for (uint64_t run = 0; programs.size() < kProgramCount; ++run) {
    Program program = build(draft_of_run(options, run)).value();
    const auto found = find_exactly(encode_with(program, options.encoder));
    if (found.empty() || !is_hazard(kind_of(found[0]))) continue;
    programs.push_back(std::move(program));
    facts.push_back(found[0]);
  }
  uint64_t evaluation_count = 0;
  size_t next = 0;
  for (auto _ : state) {
    const MinimizeReport report = minimize_fact(programs[next], options.encoder, facts[next]);
    evaluation_count += report.evaluation_count;
    next = (next + 1) % kProgramCount;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["evaluations"] =
      benchmark::Counter(static_cast<double>(evaluation_count), benchmark::Counter::kAvgIterations);
}
BENCHMARK_CAPTURE(Minimize, none, "none")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Minimize, mlx_2024, "mlx-2024")->Unit(benchmark::kMillisecond);

// A recorded stream: each dispatch reads weights and what the one before has written. One of the
// barriers is missing, in the middle.
Program stream_without_a_barrier(int64_t dispatch_count) {
  std::string text = "interlock 1\nmemory weights 200000000\nmemory pool 65536\n";
  const auto slot = [](int64_t index) {
    const int64_t begin = index % 64 * 1024;
    return "pool[" + std::to_string(begin) + ":" + std::to_string(begin + 1024) + "]";
  };
  for (int64_t i = 0; i < dispatch_count; ++i) {
    const int64_t matrix = i % 2000 * 100'000;
    if (i != dispatch_count / 2) text += "barrier\n";
    text += "dispatch D" + std::to_string(i % 16) + " reads weights[" + std::to_string(matrix) +
            ":" + std::to_string(matrix + 100'000) + "] " + slot(i + 63) + " writes " + slot(i) +
            "\n";
  }
  ParseOptions options;
  options.limits.input_bytes = UINT64_MAX;
  return parse(text, "stream", options).value();
}

// As `interlock minimize` does it once it has read the file.
void MinimizeStream(benchmark::State& state) {
  const Program program = stream_without_a_barrier(state.range(0));
  uint64_t evaluation_count = 0;
  for (auto _ : state) {
    const auto report = minimize_program(program);
    INTERLOCK_CHECK(report.has_value() && report->program.dispatches.size() == 2);
    evaluation_count += report->evaluation_count;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["evaluations"] =
      benchmark::Counter(static_cast<double>(evaluation_count), benchmark::Counter::kAvgIterations);
  if (state.range(0) == 1'000'000) hold_time(state, 10);
}
BENCHMARK(MinimizeStream)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace interlock
