// `check` at stream speed: time and memory per dispatch, from 1e5 to 1e7 dispatches of 2 reads and
// 1 write, on repeated ranges and on ranges that overlap at random, and on recorded streams; beside
// it what the tracker takes to place the barriers of the same program, and least_check.h. The
// streams are clean, with the fewest barriers, and are made in memory: parsing is apart (Parse of
// interlock_bench).
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/program.h"
#include "encoder/sync/tracker.h"
#include "encoder/text/files.h"
#include "simulator/barriers/barrier_bounds.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"
#include "tests/bench/allocated_bytes.h"
#include "tests/bench/least_check.h"
#include "tests/bench/targets.h"

namespace interlock {
namespace {

enum class Ranges {
  kRepeated,     // 1024 buffers of 256 bytes.
  kOverlapping,  // All different, of up to 1/64 of one memory, anywhere in it.
  kNarrow,       // The same of up to 2^-16 of it: few overlap, and most can be seen to the end.
};

ByteRange random_range(Ranges ranges, SeededChoice& choice) {
  if (ranges == Ranges::kRepeated) {
    const uint64_t begin = choice.below(1024) * 256;
    return {begin, begin + 256};
  }
  const uint64_t size_max = uint64_t{1} << (ranges == Ranges::kNarrow ? 24 : 34);
  const uint64_t size = 1 + choice.below(size_max);
  const uint64_t begin = choice.below((uint64_t{1} << 40) - size);
  return {begin, begin + size};
}

void append_barrier(Program& program) {
  const auto index = static_cast<uint32_t>(program.barriers.size());
  program.barriers.push_back({StatementId(program.statements.size()), BarrierKind::kFull});
  program.statements.push_back({.kind = StatementKind::kBarrier, .index = index});
}

void append_dispatch(const Dispatch& dispatch, Program& program) {
  const auto index = static_cast<uint32_t>(program.dispatches.size());
  program.dispatches.push_back(dispatch);
  program.dispatches.back().statement = StatementId(program.statements.size());
  program.statements.push_back({.kind = StatementKind::kDispatch, .index = index});
}

Program unordered_stream(Ranges ranges, int64_t dispatch_count) {
  Program program;
  program.names = {"pool", "Work"};
  program.memories = {{NameId(0), uint64_t{1} << 40, false}};
  SeededChoice choice(1);
  program.statements.reserve(static_cast<size_t>(dispatch_count));
  program.dispatches.reserve(static_cast<size_t>(dispatch_count));
  program.accesses.reserve(static_cast<size_t>(dispatch_count) * 3);
  for (int64_t i = 0; i < dispatch_count; ++i) {
    Dispatch dispatch;
    dispatch.kernel_name = NameId(1);
    dispatch.kernel = mix_kernel();
    dispatch.order = static_cast<uint64_t>(i);
    dispatch.first_access = static_cast<uint32_t>(program.accesses.size());
    dispatch.access_count = 3;
    for (const AccessMode mode : {AccessMode::kRead, AccessMode::kRead, AccessMode::kWrite}) {
      ByteRange range = random_range(ranges, choice);
      // Operands of one dispatch do not overlap: slices of one dispatch would conflict.
      for (size_t k = dispatch.first_access; k < program.accesses.size(); ++k) {
        while (share_a_byte(range, program.accesses[k].range)) {
          range = random_range(ranges, choice);
          k = dispatch.first_access;
        }
      }
      program.accesses.push_back({MemoryId(0), TensorId(), range, mode, true});
    }
    append_dispatch(dispatch, program);
  }
  return program;
}

// Puts a barrier before the second of each forcing pair: the fewest, and no hazard.
Program ordered_stream(Ranges ranges, int64_t dispatch_count) {
  Program program = unordered_stream(ranges, dispatch_count);
  const BarrierBounds bounds = barrier_bounds(program);
  std::vector<Dispatch> dispatches;
  dispatches.swap(program.dispatches);
  program.dispatches.reserve(dispatches.size());
  program.statements.clear();
  program.statements.reserve(dispatches.size() + bounds.forcing.size());
  program.barriers.reserve(bounds.forcing.size());
  size_t next = 0;
  for (size_t i = 0; i < dispatches.size(); ++i) {
    if (next < bounds.forcing.size() && bounds.forcing[next].second == DispatchId(i)) {
      append_barrier(program);
      ++next;
    }
    append_dispatch(dispatches[i], program);
  }
  return program;
}

uint64_t size_bytes_of(const Program& program) {
  return program.statements.capacity() * sizeof(Statement) +
         program.dispatches.capacity() * sizeof(Dispatch) +
         program.barriers.capacity() * sizeof(Barrier) +
         program.accesses.capacity() * sizeof(Access);
}

void count_per_dispatch(benchmark::State& state, const Program& program) {
  const auto dispatch_count = static_cast<double>(program.dispatches.size());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(program.dispatches.size()));
  state.counters["per_dispatch"] = benchmark::Counter(
      dispatch_count, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void Check(benchmark::State& state, Ranges ranges) {
  const Program program = ordered_stream(ranges, state.range(0));
  uint64_t barrier_count = 0;
  size_t peak = 0;
  for (auto _ : state) {
    peak = peak_bytes_of([&] {
      const CheckReport report = check(program);
      INTERLOCK_CHECK(report.findings.empty() && report.redundant.empty());
      barrier_count = report.barrier_count;
    });
  }
  const auto dispatch_count = static_cast<double>(state.range(0));
  count_per_dispatch(state, program);
  state.counters["bytes_per_dispatch"] = static_cast<double>(peak) / dispatch_count;
  state.counters["program_bytes_per_dispatch"] =
      static_cast<double>(size_bytes_of(program)) / dispatch_count;
  state.counters["barriers"] = static_cast<double>(barrier_count);
  if (ranges == Ranges::kRepeated && state.range(0) == 1'000'000) hold_time(state, 0.25);
  if (ranges == Ranges::kOverlapping && state.range(0) == 1'000'000) hold_time(state, 1.5);
  if (ranges == Ranges::kOverlapping && state.range(0) == 10'000'000) hold_time(state, 20);
}

void register_sizes(benchmark::internal::Benchmark* benchmark) {
  for (const int64_t count : {100'000, 1'000'000, 10'000'000}) benchmark->Arg(count);
  benchmark->Iterations(1)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(Check, repeated, Ranges::kRepeated)->Apply(register_sizes);
BENCHMARK_CAPTURE(Check, overlapping, Ranges::kOverlapping)->Apply(register_sizes);
BENCHMARK_CAPTURE(Check, narrow, Ranges::kNarrow)->Apply(register_sizes);

uint64_t track(const Program& program) {
  HazardTracker tracker;
  uint64_t barrier_count = 0;
  for (const Dispatch& dispatch : program.dispatches) {
    barrier_count += tracker.add(program.accesses_of(dispatch), dispatch.atomic_op) ? 1 : 0;
  }
  return barrier_count;
}

bool do_agree(const Program& program, const CheckReport& report,
              const LeastCheck::Verdicts& least) {
  const uint64_t needed = program.barriers.size() - report.redundant.size() - report.closing.size();
  return least.is_clean == report.findings.empty() &&
         least.fewest_barriers == report.fewest_barriers && least.needed_barriers == needed &&
         least.longest_chain == report.longest_chain;
}

// By turns. Each is new for each pass, the tracker too.
void measure_beside_tracker(benchmark::State& state, const Program& program,
                            bool has_least = true) {
  uint64_t barrier_count = 0;
  CheckReport report;
  LeastCheck::Verdicts least;
  std::vector<Contestant> contestants = {{"tracker", {}, [&] { barrier_count = track(program); }},
                                         {"check", {}, [&] { report = check(program); }}};
  if (has_least) {
    contestants.push_back({"least", {}, [&] { least = LeastCheck(program).run(); }});
  }
  const std::vector<Timing> timings = measure_rounds(state, std::move(contestants));
  INTERLOCK_CHECK(barrier_count == report.fewest_barriers);
  INTERLOCK_CHECK(!has_least || do_agree(program, report, least));
  const auto dispatch_count = static_cast<double>(program.dispatches.size());
  note_time(state, "tracker_ns", timings[0], dispatch_count);
  note_time(state, "check_ns", timings[1], dispatch_count);
  if (has_least) note_time(state, "least_ns", timings[2], dispatch_count);
  hold_ratio(state, ratio_by_round(timings[1], timings[0]), 12);
}

void BesideTracker(benchmark::State& state, Ranges ranges) {
  // Of narrow ranges far too many are visible for an array of runs.
  measure_beside_tracker(state, ordered_stream(ranges, state.range(0)), ranges != Ranges::kNarrow);
}
BENCHMARK_CAPTURE(BesideTracker, repeated, Ranges::kRepeated)->Arg(1'000'000)->Iterations(3);
BENCHMARK_CAPTURE(BesideTracker, overlapping, Ranges::kOverlapping)->Arg(1'000'000)->Iterations(3);
BENCHMARK_CAPTURE(BesideTracker, narrow, Ranges::kNarrow)->Arg(1'000'000)->Iterations(3);

Program recorded_stream(const char* name) {
  Result<Program> program =
      parse_file(INTERLOCK_SOURCE_DIR "/corpus/streams/" + std::string(name) + ".ilk");
  INTERLOCK_CHECK(program.has_value());
  return std::move(program).value();
}

void CheckRecorded(benchmark::State& state, const char* name) {
  measure_beside_tracker(state, recorded_stream(name));
}
BENCHMARK_CAPTURE(CheckRecorded, llama24, "ggml-llama24-metal")->Iterations(50);
BENCHMARK_CAPTURE(CheckRecorded, llama24_64steps, "ggml-llama24-metal-64steps")->Iterations(5);
BENCHMARK_CAPTURE(CheckRecorded, train30, "ggml-train-metal-30")->Iterations(50);

}  // namespace
}  // namespace interlock
