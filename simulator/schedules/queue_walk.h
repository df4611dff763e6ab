// QueueWalk: schedules of programs with several queues or the host, drawn on the machine of
// counters (queue_machine.h). Whatever it lets run is legal, so a walk asks no clock.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/queue_machine.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// A random legal schedule: of the parts of operations that may run, one after another. Each
// schedule can come up, though not each with the same chance: an operation that has begun mostly
// goes on, and the host's cache seldom fetches early.
// Requires: `program` is in reference order, and has no deadlock. So below.
// Cost: that of the machine, and for each part those that may run beside it. So below.
Schedule random_queue_schedule(const Program& program, Choice& choice);

// Probabilistic concurrency testing (strategy_pct.h) by parts: each has a random priority of its
// own, and the most urgent one that may run does; depth - 1 times, at random steps, the part at
// hand becomes the least urgent. If `depth` order constraints between parts suffice for a
// difference, one schedule shows it with probability at least 1/k^depth for k parts.
class QueuePctSchedules {
 public:
  QueuePctSchedules(const Program& program, uint64_t depth);

  uint64_t part_count() const { return part_count_; }  // k

  Schedule schedule(Choice& choice) const;

 private:
  const Program& program_;
  uint64_t depth_;
  uint64_t part_count_ = 0;
};

}  // namespace interlock
