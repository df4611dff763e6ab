// SegmentIndex: numbers the byte segments between neighbouring endpoints of ranges, by memory and
// offset, so that a contiguous range is an interval of numbers. For ranges of slices;
// byte_segments.h does the same for whole accesses, and says why there are two.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "encoder/program/check.h"

namespace interlock {

// Built in four steps: announce_range for every range, allocate, add_range for every range again,
// finish. Then segment_at answers.
class SegmentIndex {
 public:
  explicit SegmentIndex(size_t memory_count) : memories_(memory_count) {}

  void announce_range(uint32_t memory) { memories_[memory].endpoint_count += 2; }

  // Reserves the storage of all memories. `size_bytes_of` says how large a memory is.
  void allocate(const std::function<uint64_t(uint32_t memory)>& size_bytes_of);

  void add_range(uint32_t memory, uint64_t begin, uint64_t end) {
    add_endpoint(memories_[memory], begin);
    add_endpoint(memories_[memory], end);
  }

  // Cost: O(n log n) in the endpoints of sparse memories, linear in those of dense ones.
  void finish();

  // The number of the segment that starts at `endpoint`, or that would, at the end of the last one.
  // Requires: `endpoint` was added. Cost: constant in a dense memory, logarithmic in a sparse one.
  uint32_t segment_at(uint32_t memory, uint64_t endpoint) const {
    const Memory& m = memories_[memory];
    if (!m.is_dense) return m.first_segment + sparse_rank(m, endpoint);
    const uint64_t word = endpoint / 64;
    const uint64_t lower = words_[m.begin + word] & ((uint64_t{1} << (endpoint % 64)) - 1);
    return m.first_segment + ranks_[m.begin + word] + static_cast<uint32_t>(std::popcount(lower));
  }

  // The segments of `memory` are numbered from here on.
  uint32_t first_segment_of(uint32_t memory) const { return memories_[memory].first_segment; }

  uint32_t segment_count() const { return segment_count_; }

 private:
  // A memory with many endpoints for its size is dense: words_ hold one bit per offset, and ranks_
  // how many bits stand before each word. Else words_ hold the endpoints themselves.
  struct Memory {
    uint64_t begin = 0;  // In words_.
    uint64_t word_count = 0;
    uint64_t endpoint_count = 0;  // As added; with repetitions.
    uint32_t first_segment = 0;
    bool is_dense = false;
  };

  void add_endpoint(Memory& memory, uint64_t endpoint) {
    if (memory.is_dense) {
      words_[memory.begin + endpoint / 64] |= uint64_t{1} << (endpoint % 64);
    } else {
      words_[memory.begin + memory.word_count++] = endpoint;
    }
  }
  uint32_t sparse_rank(const Memory& memory, uint64_t endpoint) const;
  uint32_t finish_dense(const Memory& memory);
  uint32_t finish_sparse(Memory& memory);

  std::vector<Memory> memories_;
  std::vector<uint64_t> words_;
  std::vector<uint32_t> ranks_;  // By word; meaningless for sparse memories.
  uint32_t segment_count_ = 0;
};

}  // namespace interlock
