// The basic idea is that two range maxima per operand say which dispatches conflict last: of what
// was written in its bytes and, if it writes, of what was read there.
#include "simulator/hazards/conflict_scan.h"

#include "encoder/program/stop.h"

namespace interlock {

void scan_conflicts(const Program& program, const ByteSegments& segments,
                    std::span<ConflictObserver* const> observers) {
  AccessHistory history(program, segments);
  for (size_t i = 0; i < program.dispatches.size() && !is_stopped(); ++i) {
    const DispatchId id(i);
    const LatestConflicts latest = history.latest(id);
    for (ConflictObserver* const observer : observers) observer->see(id, latest);
    history.record(id, id.index + 1);
    history.prefetch_ahead(id);
  }
}

}  // namespace interlock
