// The basic idea is that both bounds need one number about each dispatch. Greedy: place a barrier
// before it iff its latest conflicting dispatch lies in the current epoch. Chain: its level is one
// more than the highest level among earlier conflicting dispatches; levels only matter through
// range maxima, so the same trees hold them.
#include "simulator/barrier_bounds.h"

#include <algorithm>

#include "simulator/access_history.h"
#include "simulator/byte_segments.h"

namespace interlock {

namespace {

// The greatest stamp among earlier conflicting dispatches.
Stamp greatest_conflict(const Program& program, const ByteSegments& segments,
                        const AccessHistory& history, const Dispatch& dispatch) {
  Stamp greatest = 0;
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    const Access& access = program.accesses[dispatch.first_access + k];
    const SegmentSpan span = segments.span_of(dispatch.first_access + k);
    greatest =
        std::max(greatest, history.latest(span, access, dispatch.atomic_op, AccessSide::kWrites));
    if (has_write_side(access)) {
      greatest =
          std::max(greatest, history.latest(span, access, dispatch.atomic_op, AccessSide::kReads));
    }
  }
  return greatest;
}

void record(const Program& program, const ByteSegments& segments, const Dispatch& dispatch,
            Stamp stamp, AccessHistory& history) {
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    history.record(segments.span_of(dispatch.first_access + k),
                   program.accesses[dispatch.first_access + k], dispatch.atomic_op, stamp);
  }
}

uint64_t count_levels(const Program& program, const ByteSegments& segments) {
  AccessHistory history(segments.count());
  Stamp highest = 0;
  for (const Dispatch& dispatch : program.dispatches) {
    const Stamp level = 1 + greatest_conflict(program, segments, history, dispatch);
    record(program, segments, dispatch, level, history);
    highest = std::max(highest, level);
  }
  return highest;
}

}  // namespace

uint64_t fewest_barriers(const Program& program, const ByteSegments& segments) {
  AccessHistory history(segments.count());
  uint64_t barrier_count = 0;
  Stamp epoch_begin = 1;
  for (Stamp stamp = 1; stamp <= program.dispatches.size(); ++stamp) {
    const Dispatch& dispatch = program.dispatches[stamp - 1];
    if (greatest_conflict(program, segments, history, dispatch) >= epoch_begin) {
      ++barrier_count;
      epoch_begin = stamp;
    }
    record(program, segments, dispatch, stamp, history);
  }
  return barrier_count;
}

BarrierBounds barrier_bounds(const Program& program) {
  return barrier_bounds(program, ByteSegments(program));
}

BarrierBounds barrier_bounds(const Program& program, const ByteSegments& segments) {
  const uint64_t level_count = count_levels(program, segments);
  return {.fewest_barriers = fewest_barriers(program, segments),
          .longest_chain = level_count == 0 ? 0 : level_count - 1};
}

}  // namespace interlock
