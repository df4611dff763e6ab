// The idea: go through the units in issue order, and let what must come before one come first.
// Within a group that is known; happens-before may demand units of no group, or of another one, in
// between, which are few: none at all with global barriers.
#include "simulator/schedules/trace_schedule.h"

#include <bit>
#include <utility>

#include "encoder/program/check.h"

namespace interlock {

TraceSchedule::TraceSchedule(const TraceUnits& units, const std::vector<TraceGroup>& groups,
                             UnitOrder precedes)
    : units_(units),
      groups_(groups),
      precedes_(std::move(precedes)),
      places_(units.units.size()),
      is_emitted_(units.units.size()) {
  for (uint32_t g = 0; g < groups.size(); ++g) {
    for (uint32_t u = 0; u < groups[g].units.size(); ++u) places_[groups[g].units[u]] = {g, u};
    done_.emplace_back((groups[g].units.size() + 63) / 64);
  }
  for (uint32_t g = 0; g < groups.size(); ++g) has_ties_ = has_ties_ || ties_strangers(g);
}

// Whether a unit that is not of the group, but among its units, must come before one of them.
bool TraceSchedule::ties_strangers(uint32_t index) const {
  const std::vector<uint32_t>& members = groups_[index].units;
  for (const uint32_t unit : members) {
    for (uint32_t other = members.front(); other < unit; ++other) {
      if (places_[other].group != index && precedes_(other, unit)) return true;
    }
  }
  return false;
}

void TraceSchedule::schedule_of(const std::vector<const TraceEnumerator*>& traces,
                                Schedule& schedule) {
  schedule.steps.clear();
  is_emitted_.assign(is_emitted_.size(), false);
  for (std::vector<uint64_t>& done : done_) done.assign(done.size(), 0);
  for (first_waiting_ = 0; first_waiting_ < units_.units.size(); ++first_waiting_) {
    emit(first_waiting_, traces, schedule);
  }
}

void TraceSchedule::emit(uint32_t unit, const std::vector<const TraceEnumerator*>& traces,
                         Schedule& schedule) {
  if (is_emitted_[unit]) return;
  is_emitted_[unit] = true;  // What must come before it does not lead back to it.
  const auto [group, position] = places_[unit];
  // A unit of no group comes early only for one that it precedes, after what precedes both.
  if (has_ties_ && group != kNone && unit > first_waiting_) {
    for (uint32_t other = first_waiting_; other < unit; ++other) {
      if (!is_emitted_[other] && precedes_(other, unit)) emit(other, traces, schedule);
    }
  }
  if (group != kNone) {
    const TraceEnumerator& trace = *traces[group];
    const uint64_t* const before = trace.units_before(position);
    std::vector<uint64_t>& done = done_[group];
    for (size_t w = 0; w < trace.before_word_count(); ++w) {
      while ((before[w] & ~done[w]) != 0) {
        const auto bit = static_cast<size_t>(std::countr_zero(before[w] & ~done[w]));
        const uint32_t other = groups_[group].units[w * 64 + bit];
        INTERLOCK_CHECK(!is_emitted_[other]);  // Else there is a cycle.
        emit(other, traces, schedule);
      }
    }
    done[position / 64] |= uint64_t{1} << (position % 64);
  }
  append(units_.units[unit], schedule);
}

void TraceSchedule::append(const Step& unit, Schedule& schedule) const {
  std::vector<Step>& steps = schedule.steps;
  if (!steps.empty() && steps.back().dispatch == unit.dispatch &&
      steps.back().first_slice + steps.back().slice_count == unit.first_slice) {
    steps.back().slice_count += unit.slice_count;
    return;
  }
  steps.push_back(unit);
}

}  // namespace interlock
