// TraceSchedule: a schedule of each trace.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/schedules/schedule.h"
#include "simulator/schedules/trace_enumerator.h"
#include "simulator/schedules/trace_groups.h"
#include "simulator/schedules/trace_units.h"

namespace interlock {

class TraceSchedule {
 public:
  // Requires: `groups` are those of `units` and `precedes`; `units` and `groups` outlive this.
  // Cost: O(u * s) questions for the u units of each group and the s units that it spans.
  TraceSchedule(const TraceUnits& units, const std::vector<TraceGroup>& groups, UnitOrder precedes);

  // Replaces `schedule` by the one closest to issue order in which each group has the trace of its
  // enumerator. Requires: one enumerator per group, in their order.
  // Cost: O(u) for u units; and for each unit that comes early the units that it overtakes.
  void schedule_of(const std::vector<const TraceEnumerator*>& traces, Schedule& schedule);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Place {
    uint32_t group = kNone;  // Of a unit; none if it has no hazard.
    uint32_t position = 0;
  };

  bool ties_strangers(uint32_t group) const;
  void emit(uint32_t unit, const std::vector<const TraceEnumerator*>& traces, Schedule& schedule);
  void append(const Step& unit, Schedule& schedule) const;

  const TraceUnits& units_;
  const std::vector<TraceGroup>& groups_;
  UnitOrder precedes_;
  std::vector<Place> places_;     // By unit.
  bool has_ties_ = false;         // Some group ties strangers: its traces can move other units.
  std::vector<bool> is_emitted_;  // By unit; of one schedule, as are the others.
  std::vector<std::vector<uint64_t>> done_;  // By group, a bit set: its units that are emitted.
  uint32_t first_waiting_ = 0;               // All units before it have been emitted.
};

}  // namespace interlock
