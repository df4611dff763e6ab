// Sinks: the schedules that show one hazard and nothing else that matters (T6).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// The sink of a hazard moves its first dispatch, with what must follow it, to right after the
// second; a hazard that is ordered but not visible commits late instead.
// Requires: no scopes, or the two are in no order.
std::vector<Displacement> sink_of(const HappensBefore& order, const Hazard& hazard);

struct Sink {
  std::vector<Displacement> displacements;
  // What it is to fetch early: schedule_of() prefers it.
  std::optional<StepBytes> wanted = {};

  const StepBytes* wanted_bytes() const { return wanted.has_value() ? &*wanted : nullptr; }
  bool operator==(const Sink&) const = default;
};

// For any barriers: schedules of which one changes a live read of the hazard's own steps, if any
// execution does. One sink_of(), unless scoped barriers order the two: then one for each way in
// which they treat the bytes, and none where no read can miss the write: the second dispatch
// overwrites what is available to it, or its atomics fetch as they commit. With several queues the
// lines that may say one (queue_schedule.h), legal or not.
// Cost: for each run of bytes that operands of barriers tell apart, the statements and operands
// between the two. They are taken from `steps_left`, if given; where it is too small it ends at 0,
// and sinks may be missing.
std::vector<Sink> sinks_of(const Program& program, const HappensBefore& order, const Hazard& hazard,
                           uint64_t* steps_left = nullptr);

}  // namespace interlock
