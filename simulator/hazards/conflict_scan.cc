// The basic idea is that two range maxima per operand say which dispatches conflict last: of what
// was written in its bytes and, if it writes, of what was read there.
#include "simulator/hazards/conflict_scan.h"

#include "encoder/program/stop.h"

namespace interlock {

namespace {

// Far enough ahead for memory to answer meanwhile.
constexpr size_t kDispatchesAhead = 4;

}  // namespace

LatestConflicts ConflictScan::latest(DispatchId id) const {
  const Dispatch& dispatch = program_.dispatch(id);
  LatestConflicts latest;
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    const size_t index = dispatch.first_access + k;
    const Access& access = program_.accesses[index];
    const SegmentSpan span = segments_.span_of(index);
    latest.write = std::max(latest.write,
                            history_.latest(span, access, dispatch.atomic_op, AccessSide::kWrites));
    if (has_write_side(access)) {
      latest.read = std::max(latest.read,
                             history_.latest(span, access, dispatch.atomic_op, AccessSide::kReads));
    }
  }
  return latest;
}

void ConflictScan::record(DispatchId id) {
  const Dispatch& dispatch = program_.dispatch(id);
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    const size_t index = dispatch.first_access + k;
    history_.record(segments_.span_of(index), program_.accesses[index], dispatch.atomic_op,
                    id.index + 1);
  }
  prefetch_ahead(program_, segments_, id, history_);
}

void prefetch_ahead(const Program& program, const ByteSegments& segments, DispatchId id,
                    const AccessHistory& history) {
  const size_t index = id.index + kDispatchesAhead;
  if (index >= program.dispatches.size()) return;
  const Dispatch& dispatch = program.dispatches[index];
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    history.prefetch(segments.span_of(dispatch.first_access + k));
  }
}

void scan_conflicts(const Program& program, const ByteSegments& segments,
                    std::span<ConflictObserver* const> observers) {
  ConflictScan scan(program, segments);
  for (size_t i = 0; i < program.dispatches.size() && !is_stopped(); ++i) {
    const LatestConflicts latest = scan.latest(DispatchId(i));
    for (ConflictObserver* const observer : observers) observer->see(DispatchId(i), latest);
    scan.record(DispatchId(i));
  }
}

}  // namespace interlock
