// Byte ranges: half open, within one memory.
#pragma once

#include <algorithm>
#include <cstdint>

namespace interlock {

struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t size_bytes() const { return end - begin; }
  bool is_empty() const { return begin >= end; }
  bool contains(ByteRange other) const { return begin <= other.begin && other.end <= end; }

  bool operator==(const ByteRange&) const = default;
};

// An empty range shares no byte with anything; touching ranges share none.
inline ByteRange intersection(ByteRange a, ByteRange b) {
  const uint64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

inline bool share_a_byte(ByteRange a, ByteRange b) { return !intersection(a, b).is_empty(); }

// `run_count` runs of `run_bytes` each; run k starts at begin + k * pitch_bytes.
struct StridedRange {
  uint64_t begin = 0;
  uint64_t run_bytes = 0;
  uint64_t pitch_bytes = 0;
  uint64_t run_count = 1;

  ByteRange run(uint64_t k) const {
    return {begin + k * pitch_bytes, begin + k * pitch_bytes + run_bytes};
  }
};

// One run.
inline StridedRange contiguous(ByteRange range) {
  return {range.begin, range.size_bytes(), range.size_bytes(), 1};
}

}  // namespace interlock
