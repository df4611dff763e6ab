// ByteSegments: compressed byte coordinates. The endpoints of all accesses, and of all operands of
// barriers, cut every memory into segments, and each of them covers a run of whole ones.
//
// SegmentIndex numbers segments too, for the shadow machine. There are two because they are asked
// in different ways. Here a range is asked for by its number. Programs have millions of accesses in
// memories of gigabytes, so the endpoints are sorted, and the ranks stored with each access. There
// an endpoint is asked for by its offset, and the ranges are those of slices: thousands in a memory
// of a few kilobytes. A bitmap of such a memory is smaller than the list of endpoints, needs no
// sort, and answers in constant time; it would be of no use here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// Consecutive segments [begin, end) of one memory.
struct SegmentSpan {
  uint32_t begin = 0;
  uint32_t end = 0;

  bool is_empty() const { return begin >= end; }

  bool operator==(const SegmentSpan&) const = default;
};

// Ranks when it is first asked: a program without hazards can be checked without.
class ByteSegments {
 public:
  // Requires: `program` outlives this, and does not change.
  explicit ByteSegments(const Program& program) : program_(&program) {}

  // Cost, here and below: constant, but for the first question of all: O(a log a) for a accesses,
  // in passes over memory rather than in searches. No two threads may ask before one has asked.

  // Segments are numbered from 0 through all memories, in order of (memory, byte).
  uint32_t count() const { return static_cast<uint32_t>(ranks().endpoints.size()); }

  // The segments of access number `access_index` of Program::accesses.
  SegmentSpan span_of(size_t access_index) const { return ranks().spans[access_index]; }

  // The segments of operand number `operand_index` of Program::barrier_operands.
  SegmentSpan span_of_operand(size_t operand_index) const {
    return ranks().spans[program_->accesses.size() + operand_index];
  }

  // Requires: `span` is not empty and lies in one memory.
  ByteRange bytes_of(SegmentSpan span) const {
    return {ranks().endpoints[span.begin], ranks().endpoints[span.end]};
  }

  // The segments of `memory`; its last one is never covered by an access.
  SegmentSpan segments_of(MemoryId memory) const {
    return {ranks().first_segment[memory.index], ranks().first_segment[memory.index + 1]};
  }

 private:
  struct Ranks {
    std::vector<uint64_t> endpoints;      // Sorted within each memory; where segment k begins.
    std::vector<uint32_t> first_segment;  // By memory, and one more.
    std::vector<SegmentSpan> spans;       // By access, then by operand of barriers.

    explicit Ranks(const Program& program);
    void rank_endpoints(const std::vector<uint32_t>& places,
                        const std::vector<size_t>& bucket_begin,
                        std::vector<uint64_t>& offsets_bytes);
  };

  const Ranks& ranks() const {
    if (!ranks_.has_value()) ranks_.emplace(*program_);
    return *ranks_;
  }

  const Program* program_;
  mutable std::optional<Ranks> ranks_;
};

}  // namespace interlock
