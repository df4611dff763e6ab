// TraceUnits: the steps whose order makes a trace, and the hazards between them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/trace_groups.h"

namespace interlock {

struct TraceUnits {
  // Each runs consecutive slices of a dispatch, which always run together. Every slice once, in
  // issue order.
  std::vector<Step> units;
  std::vector<UnitPair> hazards;  // Conflicts that nothing orders; each pair once.
  bool are_slices = false;        // Some dispatch is split.
  bool is_truncated = false;      // `hazards` misses some.
};

// At most so many units have hazards; what is beyond is left out, and said.
inline constexpr size_t kHazardousUnitsMax = 1024;

// Every dispatch is one unit. `hazards` are all of the program's, by second, then first; those that
// are ordered, but not visible, are left out: no order of runs changes them.
TraceUnits dispatch_units(const Program& program, std::span<const Hazard> hazards);

// The slices of the dispatches that `hazards` join, and of those whose own slices conflict, are
// units if they have a hazard; slices without one run in groups. None if that takes too long to
// find, or if there are too many of them.
// Cost: O(p log p) for p range pieces of each hazardous pair of dispatches, and the overlaps.
std::optional<TraceUnits> slice_units(const Program& program, std::span<const Hazard> hazards);

// How text refers to a unit: the dispatch, and its slices if they are not all: "vjp[3:4]".
std::string text_of(const Program& program, const Step& unit);

}  // namespace interlock
