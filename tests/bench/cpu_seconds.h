// What work costs, in CPU time of the process: other work on the machine does not count.
#pragma once

#include <time.h>

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {

inline double cpu_seconds() {
  timespec now = {};
  INTERLOCK_CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// CPU seconds of `work`; of several the least.
template <typename Work>
void take_least(double& seconds, const Work& work) {
  const double begin = cpu_seconds();
  work();
  seconds = std::min(seconds, cpu_seconds() - begin);
}

}  // namespace interlock
