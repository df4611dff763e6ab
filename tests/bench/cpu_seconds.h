// What work costs, in CPU time of the process: other work on the machine does not count.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "encoder/program/check.h"

namespace interlock {

inline double cpu_seconds() {
  timespec now = {};
  INTERLOCK_CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// What several turns of the same work took, in seconds: their median. Not the least: where a
// hypervisor takes a core away, the clock of CPU time stands still at times while work goes on.
class Turns {
 public:
  void add(double seconds) { seconds_.push_back(seconds); }

  // Adds the CPU time of `work`.
  template <typename Work>
  void take(const Work& work) {
    const double begin = cpu_seconds();
    work();
    add(cpu_seconds() - begin);
  }

  // Requires: at least one turn. Cost: linear in them.
  double median() const {
    INTERLOCK_CHECK(!seconds_.empty());
    std::vector<double> seconds = seconds_;
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return *middle;
  }

 private:
  std::vector<double> seconds_;
};

}  // namespace interlock
