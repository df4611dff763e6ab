#include "tests/bench/by_turns.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace interlock {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_of_a_pass(const Contestant& contestant, double least_seconds) {
  double total = 0;
  int passes = 0;
  do {
    if (contestant.prepare) contestant.prepare();
    const double start = cpu_seconds();
    contestant.pass();
    total += cpu_seconds() - start;
    ++passes;
  } while (total < least_seconds);
  return total / passes;
}

Timing timing_of(std::vector<double> rounds) {
  std::sort(rounds.begin(), rounds.end());
  const size_t n = rounds.size();
  const double median = rounds[n / 2];
  return {median, (rounds[(3 * n - 1) / 4] - rounds[n / 4]) / (2 * median)};
}

}  // namespace

std::vector<Timing> measure_by_turns(const std::vector<Contestant>& contestants,
                                     const TurnOptions& options) {
  std::vector<Timing> best(contestants.size());
  // The first pass of some makes what all later ones find, in several times as long as these take:
  // who has no more is told by the second.
  for (const Contestant& contestant : contestants) seconds_of_a_pass(contestant, 0);
  std::vector<double> second_passes;
  for (const Contestant& contestant : contestants) {
    second_passes.push_back(seconds_of_a_pass(contestant, 0));
  }
  const double least = *std::min_element(second_passes.begin(), second_passes.end());
  const auto is_hopeless = [&](size_t i) {
    return second_passes[i] > options.hopeless_seconds && second_passes[i] > 10 * least;
  };
  for (int attempt = 0; attempt < options.attempts; ++attempt) {
    std::vector<std::vector<double>> rounds(contestants.size());
    for (size_t i = 0; i < contestants.size(); ++i) {
      if (is_hopeless(i)) {
        rounds[i].push_back(second_passes[i]);
      } else if (attempt > 0) {
        seconds_of_a_pass(contestants[i], 0);
      }
    }
    for (int round = 0; round < options.rounds; ++round) {
      for (size_t i = 0; i < contestants.size(); ++i) {
        if (is_hopeless(i)) continue;
        rounds[i].push_back(seconds_of_a_pass(contestants[i], options.least_seconds));
      }
    }
    bool is_calm = true;
    for (size_t i = 0; i < contestants.size(); ++i) {
      const Timing timing = timing_of(rounds[i]);
      if (attempt == 0 || timing.spread < best[i].spread) best[i] = timing;
      is_calm &= best[i].spread <= options.most_spread;
    }
    if (is_calm) break;
  }
  return best;
}

double geometric_mean(const std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0,
                                     [](double s, double value) { return s + std::log(value); });
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace interlock
