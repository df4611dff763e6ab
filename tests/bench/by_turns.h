// Measures things that compare with each other: by turns in one run, in CPU time of this thread, so
// that other work on the machine meets all of them alike.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace interlock {

struct Contestant {
  std::string name;
  std::function<void()> prepare;  // Before each pass, not timed.
  std::function<void()> pass;
};

struct Timing {
  double seconds = 0;  // CPU time of a pass: the median of the rounds.
  double spread = 0;   // Half of the rounds lie within so much of it: 0.1 is 10 %.
};

struct TurnOptions {
  int rounds = 5;
  double least_seconds = 0.002;  // Of a contestant in a round: it makes as many passes.
  double most_spread = 0.1;      // Above, everything is measured again,
  int attempts = 3;              // so often in all; the calmest attempt of each counts.
  // Who takes so long for its second pass, and ten times the least, has no other: it is the timing.
  double hopeless_seconds = 0.4;
};

// Returns a timing of each contestant. Each runs twice more before the first round.
std::vector<Timing> measure_by_turns(const std::vector<Contestant>& contestants,
                                     const TurnOptions& options = {});

// The geometric mean. Requires: at least one value, all above 0.
double geometric_mean(const std::vector<double>& values);

}  // namespace interlock
