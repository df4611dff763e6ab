// Stale host copies: what a device wrote gets to the host's domain after the host has written over
// it there. The host then finds the older value again, while the device has the newer one; a part
// of the machine of counters can show neither, as it knows one copy of each byte.
//
// docs/theory.md, "Two copies of a byte".
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/scoped_order.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

class StaleHostCopies {
 public:
  // Requires: `program` is in reference order, and outlives this. Cost: linear.
  explicit StaleHostCopies(const Program& program) : program_(program) {}

  // Of a host's dispatch: bytes that it finds in the host's copy.
  struct Fetch {
    DispatchId dispatch;
    MemoryRange bytes;
    StageAccess sort = StageAccess::kHostRead;
  };

  // Where what the first dispatch of the hazard wrote comes to the host's domain after a host write
  // over it: who of the host finds it there. None where the second dispatch is no access of the
  // host, or the hazard a WAR. Requires: `hazard` is of the program. Cost: added to `step_count`:
  // the operands of what comes after the first dispatch, for each access of the host to bytes of
  // its; at first the clocks of the program. Ends where more than `steps_max` are added, and at a
  // stop, with what was found by then.
  std::vector<Fetch> fetches_of(const Hazard& hazard, uint64_t steps_max, uint64_t& step_count);

  // The schedule with that fetch: the reference run, with it right after the first dispatch. It
  // stands for an execution with two copies of a byte, so the machine of counters calls it illegal.
  // Cost: the length of a schedule.
  Schedule with_fetch(DispatchId writer, const Fetch& fetch) const;

 private:
  std::vector<Fetch> fetches_of(DispatchId dispatch) const;
  bool meets_writes_of(DispatchId writer, const MemoryRange& bytes) const;
  void add_fetches(DispatchId writer, DispatchId over, const Fetch& fetch, uint64_t& step_count,
                   std::vector<Fetch>& fetches);
  const HappensBefore& coherent_order();

  const Program& program_;
  // As if no memory had a cache of the host before it: then visible to the host is what has got to
  // its domain. Made where somebody asks.
  std::unique_ptr<const Program> coherent_;
  std::unique_ptr<const HappensBefore> order_;
};

}  // namespace interlock
