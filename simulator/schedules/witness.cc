// Delta debugging (Zeller and Hildebrandt, TSE 2002), complements only: displacements are short and
// mostly independent, so the largest chunks that can go are found first.
#include "simulator/schedules/witness.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "encoder/program/stop.h"
#include "simulator/schedules/displacements.h"

namespace interlock {

std::vector<Displacement> shrink_witness(const Program& program, const HappensBefore& order,
                                         std::vector<Displacement> displacements,
                                         const std::function<bool(const Schedule&)>& differs,
                                         uint64_t attempt_limit) {
  uint64_t attempts = 0;
  size_t chunk = std::max<size_t>(1, displacements.size() / 2);
  while (true) {
    bool has_dropped = false;
    // From the back: what comes later builds on what comes earlier.
    for (size_t end = displacements.size(); end > 0;) {
      const size_t begin = end - std::min(chunk, end);
      std::vector<Displacement> rest = displacements;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(begin),
                 rest.begin() + static_cast<std::ptrdiff_t>(end));
      end = begin;
      if (attempts++ >= attempt_limit || is_stopped()) return displacements;
      const Result<Schedule> schedule = schedule_of(program, order, rest);
      if (!schedule || !differs(*schedule)) continue;
      if (is_stopped()) return displacements;
      displacements = std::move(rest);
      has_dropped = true;
    }
    if (chunk > 1) {
      chunk /= 2;
    } else if (!has_dropped) {
      return displacements;
    }
  }
}

}  // namespace interlock
