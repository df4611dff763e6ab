// ShadowProgram: a program as the shadow machine runs it. The bytes between two neighbouring range
// endpoints share one fate and are one segment; slices are flat lists of segments.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/scope.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/segment_index.h"

namespace interlock {

// kKeep: it writes what it read there.
enum class ShadowEffect : uint8_t { kOverwrite, kPartial, kAtomic, kKeep };

// Consecutive segments that a unit changes through one run of one access.
struct ShadowWrite {
  SegmentSpan span;
  ShadowEffect effect;
  AtomicOp operation;
};

// A slice; or a whole dispatch, if it has too many of them or two of its outputs share a byte. Its
// reads and writes end where those of
// the next unit begin.
struct ShadowUnit {
  uint32_t first_read;
  uint32_t first_write;
};

// The dispatch overwrites there what the host has lost (machine_lines.h).
struct OverLost {
  uint32_t dispatch;
  SegmentSpan span;
};

// The host writes beside it, in the same atom (machine_lines.h).
struct BesideWrite {
  uint32_t dispatch;
  SegmentSpan span;
};

struct ShadowProgram {
  std::vector<uint32_t> first_unit;  // By dispatch, and one more: the number of units.
  std::vector<ShadowUnit> units;     // And one more: the ends.
  std::vector<SegmentSpan> reads;    // Each by a unit through one run of one access, in order.
  std::vector<ShadowWrite> writes;
  uint32_t segment_count = 0;
  std::vector<uint32_t> live_segments;  // Those of the outputs, each once, in order.
  bool is_all_live = false;             // No output is named: every segment is live.
  std::vector<SegmentSpan> ended;    // Of freed and reset values at the end: dead, all live or not.
                                     // Those of `lost` too.
  std::vector<SegmentSpan> lost;     // What the host has lost, at the end.
  std::vector<OverLost> over_lost;   // By dispatch and segment.
  std::vector<BesideWrite> beside;   // By dispatch. None where steps concern no bytes.
  std::vector<uint32_t> host_reads;  // Dispatches in which the host reads, in order.
  // Of the values of an observable result: by position among the outputs; by memory if all is live.
  // Then one for each of host_reads.
  std::vector<SegmentSpan> live_spans;
  std::vector<StageAccess> read_sorts;  // By read. None where steps concern no bytes.
  SegmentIndex index;  // Beside scoped barriers, accesses and operands end at its endpoints.
};

// Slices are the units as long as they have at most about a million range pieces in all. A larger
// dispatch is one unit with the ranges that it declares, which can only call more outputs
// reachable. Cost: O(p log p) for p pieces, plus the dispatches and memories.
ShadowProgram compile_shadow_program(const Program& program);

}  // namespace interlock
