// Queue traces: what varies between the executions of a program with several queues or the host. A
// unit is a part of an operation (queue_machine.h) that meets another one on some byte, one of them
// a commit, while nothing orders the two; a trace directs each such pair (docs/theory.md, T2).
//
// What must come before what, the machine of counters says by itself: all that never runs while a
// part is withheld comes after it. No clock is asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/schedules/queue_machine.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/strategy.h"
#include "simulator/schedules/trace_groups.h"
#include "simulator/schedules/trace_turns.h"

namespace interlock {

// Parts of operations, in reference order, and the pairs of them that nothing orders.
struct QueueUnits {
  std::vector<OperationPart> parts;  // Those of at least one pair.
  std::vector<UnitPair> pairs;       // Of positions there, by second, then first.
  BitMatrix before;                  // (u, v): v must come before u.
  bool is_truncated = false;         // There are more conflicts than are asked about.

  bool precedes(uint32_t first, uint32_t second) const { return before.has(second, first); }
};

// Each of so many parts that conflict takes a run of the machine. What is beyond is left out.
inline constexpr size_t kConflictingPartsMax = 512;

// Requires: `program` is in reference order, and has no deadlock.
// Cost: O(n log n) for n parts and the bytes that tell them apart; a run of the machine for each
// part that conflicts, and the square of these.
QueueUnits find_queue_units(const Program& program);

class QueueTraces {
 public:
  // Requires: as above; `program` outlives this. Cost: that, and count_traces().
  QueueTraces(const Program& program, const StrategyOptions& options);
  QueueTraces(const QueueTraces&) = delete;
  QueueTraces& operator=(const QueueTraces&) = delete;

  const QueueUnits& units() const { return units_; }
  uint64_t group_count() const { return groups_.size(); }
  const TurnCounts& counts() const { return counts_; }

  // Replaces `schedule` by one of the next trace other than that of the reference order; groups
  // take turns, or vary together. False when all have been made.
  // Cost: that of TraceEnumerator::advance(), and a run of the machine.
  bool next(Schedule& schedule);

  // Of the trace at hand, e.g. "b fetches before a commits, and 2 more".
  std::string name() const;

  // Traces that the machine could not carry out. None is known.
  uint64_t refused_count() const { return refused_count_; }

 private:
  bool make(Schedule& schedule) const;

  const Program& program_;
  const QueueUnits units_;
  const std::vector<TraceGroup> groups_;
  const TurnCounts counts_;
  TraceTurns turns_;
  uint64_t refused_count_ = 0;
};

}  // namespace interlock
