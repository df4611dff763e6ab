// Targets of benchmarks, in the counter `to_target`: what was measured to what it may be. Tables
// mark what is above 1.
#pragma once

#include <benchmark/benchmark.h>

namespace interlock {

// What an iteration takes may be at most so many seconds.
inline void hold_time(benchmark::State& state, double seconds) {
  state.counters["to_target"] = benchmark::Counter(
      seconds, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// The figure `ratio` may be at most `most`.
inline void hold_ratio(benchmark::State& state, double ratio, double most) {
  state.counters["ratio"] = ratio;
  state.counters["to_target"] = ratio / most;
}

}  // namespace interlock
