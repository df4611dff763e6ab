#include "tests/bench/by_turns.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr double kClockShare = 1.0 / 200;
constexpr int kMostGrowth = 16;  // Of a stretch, from one try to the next.

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

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

Timing ratio_by_round(const Timing& ours, const Timing& other) {
  INTERLOCK_CHECK(ours.rounds().size() == other.rounds().size());
  std::vector<double> ratios;
  for (size_t round = 0; round < ours.rounds().size(); ++round) {
    ratios.push_back(ours.rounds()[round] / other.rounds()[round]);
  }
  return Timing(std::move(ratios));
}

Rounds::Rounds(std::vector<Contestant> contestants, const TurnOptions& options)
    : contestants_(std::move(contestants)),
      clock_(options.clock ? options.clock : thread_cpu_seconds),
      least_seconds_(options.least_seconds),
      passes_(contestants_.size(), 1),
      hopeless_seconds_(contestants_.size()),
      taken_(contestants_.size()) {
  INTERLOCK_CHECK(!contestants_.empty() && options.untimed_passes > 0);
  find_clock_cost();
  // The first pass of some makes what all later ones find, in several times as long as these take:
  // who has no more is told by the last.
  std::vector<Stretch> last(contestants_.size());
  for (int pass = 0; pass < options.untimed_passes; ++pass) {
    for (size_t i = 0; i < contestants_.size(); ++i) last[i] = measure(i, 1);
  }
  double least = last[0].seconds;
  for (const Stretch& each : last) least = std::min(least, each.seconds);
  for (size_t i = 0; i < contestants_.size(); ++i) {
    const double seconds = last[i].seconds;
    const bool is_hopeless =
        !contestants_[i].is_judged && seconds > options.hopeless_seconds && seconds > 10 * least;
    if (is_hopeless) hopeless_seconds_[i] = seconds;
    if (!is_hopeless) passes_[i] = passes_of_a_stretch(i, last[i]);
  }
}

// What it counts between two readings without anything between them is what it adds to a stretch.
void Rounds::find_clock_cost() {
  std::vector<double> costs;
  for (int i = 0; i < 101; ++i) {
    const double start = clock_();
    costs.push_back(clock_() - start);
  }
  least_stretch_seconds_ = median_of(std::move(costs)) / kClockShare;
}

Rounds::Stretch Rounds::measure(size_t contestant, int passes) const {
  const Contestant& each = contestants_[contestant];
  if (each.prepare) each.prepare(passes);
  const double start = clock_();
  for (int i = 0; i < passes; ++i) each.pass();
  return {clock_() - start, passes};
}

int Rounds::passes_of_a_stretch(size_t contestant, const Stretch& last) const {
  Stretch tried = last;
  while (tried.seconds < least_stretch_seconds_) {
    const double growth = 1.1 * least_stretch_seconds_ / tried.seconds;
    const double passes = tried.passes * std::min<double>(growth, kMostGrowth);
    INTERLOCK_CHECK(passes < 1e9);  // A pass that the clock does not see has no time.
    tried = measure(contestant, static_cast<int>(std::ceil(passes)));
  }
  return tried.passes;
}

double Rounds::take() {
  double all_seconds = 0;
  for (size_t i = 0; i < contestants_.size(); ++i) {
    if (hopeless_seconds_[i] > 0) {
      taken_[i].push_back(hopeless_seconds_[i]);
      continue;
    }
    double seconds = 0;
    int64_t passes = 0;
    do {
      const Stretch stretch = measure(i, passes_[i]);
      seconds += stretch.seconds;
      passes += stretch.passes;
    } while (seconds < least_seconds_);
    taken_[i].push_back(seconds / static_cast<double>(passes));
    all_seconds += seconds;
  }
  return all_seconds;
}

std::vector<Timing> Rounds::timings() const {
  INTERLOCK_CHECK(!taken_[0].empty());
  return std::vector<Timing>(taken_.begin(), taken_.end());
}

void Rounds::forget() {
  for (std::vector<double>& each : taken_) each.clear();
}

std::vector<Timing> measure_by_turns(const std::vector<Contestant>& contestants,
                                     const TurnOptions& options) {
  Rounds rounds(contestants, options);
  std::vector<Timing> calmest;
  for (int attempt = 0; attempt < options.attempts; ++attempt) {
    rounds.forget();
    for (int round = 0; round < options.rounds; ++round) rounds.take();
    std::vector<Timing> timings = rounds.timings();
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
