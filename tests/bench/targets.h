// Targets of benchmarks, in the counter `to_target`: what was measured to what it may be. Tables
// mark what is above 1.
#pragma once

#include <benchmark/benchmark.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/by_turns.h"

namespace interlock {

// What an iteration takes may be at most so many seconds.
inline void hold_time(benchmark::State& state, double seconds) {
  state.counters["to_target"] = benchmark::Counter(
      seconds, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// The figure `ratio`, the median of the rounds, may be at most `most`; `spread` is that of it.
inline void hold_ratio(benchmark::State& state, const Timing& ratio, double most) {
  state.counters["ratio"] = ratio.median();
  state.counters["spread"] = ratio.spread();
  state.counters["to_target"] = ratio.median() / most;
}

// Measures the contestants by turns, a round for each iteration, once each has made a pass untimed.
// An iteration's own time is that of all of them.
inline std::vector<Timing> measure_rounds(benchmark::State& state,
                                          std::vector<Contestant> contestants) {
  TurnOptions options;
  options.untimed_passes = 1;
  options.hopeless_seconds = std::numeric_limits<double>::infinity();
  Rounds rounds(std::move(contestants), options);
  for (auto _ : state) state.SetIterationTime(rounds.take());
  return rounds.timings();
}

// As a figure: the median, in nanoseconds of one of `items`.
inline void note_time(benchmark::State& state, const std::string& figure, const Timing& timing,
                      double items) {
  state.counters[figure] = timing.median() * 1e9 / items;
}

}  // namespace interlock
