// Measures things that compare with each other: by turns in one run, in CPU time of this thread, so
// that other work on the machine meets all of them alike.
//
// The basic idea is a stretch: passes one after the other between two readings of the clock. That
// clock is a system call, as long as some passes are, so a stretch has as many passes as make it
// 200 times as long as what a reading adds to it: the clock is half a percent of any figure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace interlock {

struct Contestant {
  std::string name;
  std::function<void(int passes)> prepare;  // Before each stretch of so many passes, not timed.
  std::function<void()> pass;
  bool is_judged = false;  // It is measured in each round, however long it takes.
};

// CPU time of a pass in each round, in seconds, or a ratio of two such. Never empty.
class Timing {
 public:
  explicit Timing(std::vector<double> rounds) : rounds_(std::move(rounds)) {}

  const std::vector<double>& rounds() const { return rounds_; }
  double median() const;
  double spread() const;  // Half of the rounds lie within so much of the median: 0.1 is 10 %.

 private:
  std::vector<double> rounds_;
};

// What `ours` took to `other` in each round. The ratio of their medians would be of different
// rounds. Requires: both have as many rounds, of the same attempt.
Timing ratio_by_round(const Timing& ours, const Timing& other);

struct TurnOptions {
  int rounds = 9;
  int untimed_passes = 2;        // Of each before the first round, at least one.
  double least_seconds = 0.002;  // Of a contestant in a round: it makes as many stretches.
  double most_spread = 0.1;      // Where a contestant has more, all are measured again,
  int attempts = 3;              // so often in all.
  // Who is not judged, takes so long for its last untimed pass, and ten times the least, has no
  // other: it is its time in all rounds.
  double hopeless_seconds = 0.4;
  // CPU seconds of this thread; another clock is for tests.
  std::function<double()> clock;
};

// Contestants, round by round.
class Rounds {
 public:
  // Makes the untimed passes, and finds out how many passes a stretch of each has.
  // Requires: at least one contestant.
  explicit Rounds(std::vector<Contestant> contestants, const TurnOptions& options = {});

  // Measures each contestant once. Returns what the clock counted for all of them, in seconds.
  double take();

  // Of the rounds since the beginning, or since forget(). Requires: there was one.
  std::vector<Timing> timings() const;
  void forget();

 private:
  struct Stretch {
    double seconds = 0;
    int passes = 1;
  };

  void find_clock_cost();
  Stretch measure(size_t contestant, int passes) const;
  int passes_of_a_stretch(size_t contestant, const Stretch& last) const;

  std::vector<Contestant> contestants_;
  std::function<double()> clock_;
  double least_seconds_ = 0;
  double least_stretch_seconds_ = 0;
  std::vector<int> passes_;                 // Of a stretch, by contestant.
  std::vector<double> hopeless_seconds_;    // By contestant; 0: it is measured.
  std::vector<std::vector<double>> taken_;  // By contestant and round.
};

// Returns a timing of each contestant, all of the same attempt, so that round r of one was measured
// beside round r of another: ratios are of a round. It is the attempt whose greatest spread is the
// least. Requires: at least one.
std::vector<Timing> measure_by_turns(const std::vector<Contestant>& contestants,
                                     const TurnOptions& options = {});

// The one in the middle; the greater of two. Requires: at least one value.
double median_of(std::vector<double> values);

// The geometric mean. Requires: at least one value, all above 0.
double geometric_mean(const std::vector<double>& values);

}  // namespace interlock
