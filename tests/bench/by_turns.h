// Measures things that compare with each other: by turns in one run, in CPU time of this thread, so
// that other work on the machine meets all of them alike.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace interlock {

struct Contestant {
  std::string name;
  std::function<void()> prepare;  // Before each pass, not timed.
  std::function<void()> pass;
  bool is_judged = false;  // It is measured in each round, however long it takes.
};

// CPU time of a pass in each round, in seconds. Never empty.
class Timing {
 public:
  explicit Timing(std::vector<double> rounds) : rounds_(std::move(rounds)) {}

  const std::vector<double>& rounds() const { return rounds_; }
  double median() const;
  double spread() const;  // Half of the rounds lie within so much of the median: 0.1 is 10 %.

 private:
  std::vector<double> rounds_;
};

struct TurnOptions {
  int rounds = 9;
  double least_seconds = 0.002;  // Of a contestant in a round: it makes as many passes.
  double most_spread = 0.1;      // Where a contestant has more, all are measured again,
  int attempts = 3;              // so often in all.
  // Who is not judged, takes so long for its second pass, and ten times the least, has no other: it
  // is its time in all rounds.
  double hopeless_seconds = 0.4;
  // CPU seconds of this thread; another clock is for tests.
  std::function<double()> clock;
};

// Returns a timing of each contestant, all of the same attempt, so that round r of one was measured
// beside round r of another: ratios are of a round. It is the attempt whose greatest spread is the
// least. Each contestant runs twice more before the first round. Requires: at least one.
std::vector<Timing> measure_by_turns(const std::vector<Contestant>& contestants,
                                     const TurnOptions& options = {});

// The one in the middle; the greater of two. Requires: at least one value.
double median_of(std::vector<double> values);

// The geometric mean. Requires: at least one value, all above 0.
double geometric_mean(const std::vector<double>& values);

}  // namespace interlock
