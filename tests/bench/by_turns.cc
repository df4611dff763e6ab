#include "tests/bench/by_turns.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace interlock {
namespace {

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Makes passes and times them.
class Stopwatch {
 public:
  explicit Stopwatch(const std::function<double()>& clock)
      : clock_(clock ? clock : thread_cpu_seconds) {}

  double seconds_of_a_pass(const Contestant& contestant, double least_seconds) const {
    double total = 0;
    int passes = 0;
    do {
      if (contestant.prepare) contestant.prepare();
      const double start = clock_();
      contestant.pass();
      total += clock_() - start;
      ++passes;
    } while (total < least_seconds);
    return total / passes;
  }

 private:
  std::function<double()> clock_;
};

double greatest_spread(const std::vector<Timing>& timings) {
  double greatest = 0;
  for (const Timing& timing : timings) greatest = std::max(greatest, timing.spread());
  return greatest;
}

}  // namespace

double Timing::median() const { return median_of(rounds_); }

double Timing::spread() const {
  std::vector<double> sorted = rounds_;
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  return (sorted[(3 * n - 1) / 4] - sorted[n / 4]) / (2 * sorted[n / 2]);
}

std::vector<Timing> measure_by_turns(const std::vector<Contestant>& contestants,
                                     const TurnOptions& options) {
  const Stopwatch watch(options.clock);
  // The first pass of some makes what all later ones find, in several times as long as these take:
  // who has no more is told by the second.
  for (const Contestant& contestant : contestants) watch.seconds_of_a_pass(contestant, 0);
  std::vector<double> second_passes;
  for (const Contestant& contestant : contestants) {
    second_passes.push_back(watch.seconds_of_a_pass(contestant, 0));
  }
  const double least = *std::min_element(second_passes.begin(), second_passes.end());
  const auto is_hopeless = [&](size_t i) {
    return !contestants[i].is_judged && second_passes[i] > options.hopeless_seconds &&
           second_passes[i] > 10 * least;
  };
  std::vector<Timing> calmest;
  for (int attempt = 0; attempt < options.attempts; ++attempt) {
    std::vector<std::vector<double>> rounds(contestants.size());
    for (int round = 0; round < options.rounds; ++round) {
      for (size_t i = 0; i < contestants.size(); ++i) {
        rounds[i].push_back(is_hopeless(i)
                                ? second_passes[i]
                                : watch.seconds_of_a_pass(contestants[i], options.least_seconds));
      }
    }
    std::vector<Timing> timings(std::make_move_iterator(rounds.begin()),
                                std::make_move_iterator(rounds.end()));
    if (calmest.empty() || greatest_spread(timings) < greatest_spread(calmest)) {
      calmest = std::move(timings);
    }
    if (greatest_spread(calmest) <= options.most_spread) break;
  }
  return calmest;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double geometric_mean(const std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0,
                                     [](double s, double value) { return s + std::log(value); });
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace interlock
