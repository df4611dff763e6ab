// SegmentIndex: numbers the byte segments between neighbouring endpoints of ranges, by memory and
// offset, so that a contiguous range is an interval of numbers. For ranges of slices;
// byte_segments.h does the same for whole accesses, and says why there are two.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"

namespace interlock {

class SegmentIndex {
 public:
  SegmentIndex() = default;

  // `for_each_range(visit)` calls visit(memory, bytes) for every range: twice, to count them and to
  // place them. Cost: O(n log n) in the endpoints of sparse memories, linear in those of dense
  // ones.
  template <typename ForEachRange>
  SegmentIndex(std::span<const interlock::Memory> memories, const ForEachRange& for_each_range)
      : memories_(memories.size()) {
    for_each_range([this](MemoryId id, ByteRange) { memories_[id.index].endpoint_count += 2; });
    allocate(memories);
    for_each_range([this](MemoryId id, ByteRange bytes) {
      add_endpoint(memories_[id.index], bytes.begin);
      add_endpoint(memories_[id.index], bytes.end);
    });
    finish();
  }

  // Of a range that was added. Cost: constant in a dense memory, logarithmic in a sparse one.
  SegmentSpan span_of(MemoryId memory, ByteRange bytes) const {
    const Memory& m = memories_[memory.index];
    return {segment_at(m, bytes.begin), segment_at(m, bytes.end)};
  }

  // The segment that begins where a range that was added begins or ends; one more than the last one
  // of the memory at the end of all. Cost: as above.
  uint32_t begin_of(MemoryId memory, uint64_t endpoint) const {
    return segment_at(memories_[memory.index], endpoint);
  }

  SegmentSpan segments_of(MemoryId memory) const { return memories_[memory.index].segments; }

  uint32_t segment_count() const { return segment_count_; }

 private:
  // A memory with many endpoints for its size is dense: words_ hold one bit per offset, and ranks_
  // how many bits stand before each word. Else words_ hold the endpoints themselves.
  struct Memory {
    uint64_t begin = 0;  // In words_.
    uint64_t word_count = 0;
    uint64_t endpoint_count = 0;  // As added; with repetitions.
    SegmentSpan segments;
    bool is_dense = false;
  };

  // std::popcount() is a call where a program must run on any x86-64. Warren, Hacker's Delight,
  // 5-1.
  static uint32_t count_of_ones(uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555;
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return static_cast<uint32_t>((word * 0x0101010101010101) >> 56);
  }

  void allocate(std::span<const interlock::Memory> memories);
  void add_endpoint(Memory& memory, uint64_t endpoint) {
    if (memory.is_dense) {
      words_[memory.begin + endpoint / 64] |= uint64_t{1} << (endpoint % 64);
    } else {
      words_[memory.begin + memory.word_count++] = endpoint;
    }
  }
  void finish();
  uint32_t finish_dense(const Memory& memory);
  uint32_t finish_sparse(Memory& memory);

  // The number of the segment that starts at `endpoint`, or that would, at the end of the last one.
  uint32_t segment_at(const Memory& m, uint64_t endpoint) const {
    if (!m.is_dense) return m.segments.begin + sparse_rank(m, endpoint);
    const uint64_t word = endpoint / 64;
    const uint64_t lower = words_[m.begin + word] & ((uint64_t{1} << (endpoint % 64)) - 1);
    return m.segments.begin + ranks_[m.begin + word] + count_of_ones(lower);
  }
  uint32_t sparse_rank(const Memory& memory, uint64_t endpoint) const;

  std::vector<Memory> memories_;
  std::vector<uint64_t> words_;
  std::vector<uint32_t> ranks_;  // By word; meaningless for sparse memories.
  uint32_t segment_count_ = 0;
};

}  // namespace interlock
