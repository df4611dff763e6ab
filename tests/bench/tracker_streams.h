// Streams of dispatches for trackers: made-up pools, and what real encoders recorded.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// Accesses of dispatches, one dispatch after the other, each with the number of its buffer: two
// accesses are to the same buffer iff they are to the same range.
struct TrackerStream {
  std::vector<Access> accesses;
  std::vector<uint32_t> buffers;  // By access.
  std::vector<uint32_t> ends;     // By dispatch: where its accesses end.
  std::vector<Access> ranges;     // By buffer.

  size_t dispatch_count() const { return ends.size(); }
};

inline constexpr int64_t kNoDependency = 0;  // As a period.

struct PoolOptions {
  int64_t dispatches = 1'000;
  int64_t period = kNoDependency;  // After so many dispatches one depends on the one before.
  uint64_t buffers = 64;
  bool has_gaps = false;  // Between buffers.
};

// 3 reads, of the lower half of the buffers at random, and 1 write, which walks through the upper
// half. A write that would make a dependency of its own is a fourth read: where half of the buffers
// are fewer than a period, or where there are none without dependencies.
TrackerStream pool_stream(const PoolOptions& options);

// As a pool, but that its `buffers` ranges overlap at random in their half of the bytes: up to four
// times as long as they would be side by side, so that a byte is of two on average. A write that
// would touch what its epoch has written is a fourth read.
TrackerStream overlapping_stream(int64_t dispatches, int64_t period, uint64_t buffers);

// Four ranges a dispatch that never come again, in the order of their addresses or shuffled, but
// that after each `period` dispatches one reads what the one before wrote.
TrackerStream new_ranges_stream(int64_t dispatches, int64_t period, bool is_sequential);

// The declared accesses of a program; empty ones are left out. Requires: it has no atomics.
TrackerStream stream_of(const Program& program);

}  // namespace interlock
