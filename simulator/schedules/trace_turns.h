// TraceTurns: the traces of a program, of which its groups vary independently: one group at a time,
// in turn, while the others rest at the order that the groups begin with, or all combined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simulator/schedules/natural.h"
#include "simulator/schedules/trace_enumerator.h"
#include "simulator/schedules/trace_groups.h"

namespace interlock {

struct TurnCounts {
  Natural trace_count;     // Of the program, the one to begin with among them.
  Natural schedule_count;  // To be made: one for each other trace.
  bool is_exact = true;    // Else both are upper bounds.
};

// Cost: count_traces() with a bounded work for all groups together.
TurnCounts count_turns(const std::vector<TraceGroup>& groups, bool combines_groups);

class TraceTurns {
 public:
  // Requires: `groups` outlives this.
  TraceTurns(const std::vector<TraceGroup>& groups, bool combines_groups);
  TraceTurns(const TraceTurns&) = delete;
  TraceTurns& operator=(const TraceTurns&) = delete;

  // Moves on to the next trace other than the one to begin with. False when all have been made.
  // Cost: that of TraceEnumerator::advance(), for each group when all are combined.
  bool advance();

  // By group, its trace at hand.
  const std::vector<const TraceEnumerator*>& at_hand() const { return at_hand_; }

  // What the trace at hand turns around, in the words of its units: "b before a, and 2 more".
  std::string name(const std::function<std::string(uint32_t unit)>& text_of) const;

 private:
  bool advance_one();
  bool advance_all();

  const std::vector<TraceGroup>& groups_;
  const bool combines_groups_;
  bool is_done_ = false;
  std::vector<TraceEnumerator> resting_;         // By group: where they begin.
  std::vector<TraceEnumerator> varying_;         // By group.
  std::vector<const TraceEnumerator*> at_hand_;  // By group, one of the two.
  // One at a time:
  std::vector<size_t> open_;  // Groups with traces left, ascending.
  size_t turn_ = 0;           // Into `open_`: whose turn is next,
  size_t varied_ = 0;         // and the group that had the last.
};

}  // namespace interlock
