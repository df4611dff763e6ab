// The basic idea is to rank endpoints. Sorting does it for any memory; where a bitmap of all
// offsets is no larger than the list of endpoints, setting bits is the sort, and a rank is one
// population count.
#include "simulator/bytes/segment_index.h"

#include <algorithm>
#include <cstddef>

#include "encoder/program/check.h"

namespace interlock {

void SegmentIndex::allocate(std::span<const interlock::Memory> memories) {
  uint64_t word_count = 0;
  bool has_dense = false;
  for (uint32_t i = 0; i < memories_.size(); ++i) {
    Memory& memory = memories_[i];
    if (memory.endpoint_count == 0) continue;
    const uint64_t bitmap_words = memories[i].size_bytes / 64 + 1;  // The end is an offset too.
    memory.begin = word_count;
    memory.is_dense = bitmap_words <= memory.endpoint_count;
    word_count += memory.is_dense ? bitmap_words : memory.endpoint_count;
    if (memory.is_dense) memory.word_count = bitmap_words;
    has_dense |= memory.is_dense;
  }
  words_.assign(word_count, 0);
  if (has_dense) ranks_.resize(word_count);
}

void SegmentIndex::finish() {
  for (Memory& memory : memories_) {
    memory.segments = {segment_count_, segment_count_};
    if (memory.endpoint_count == 0) continue;
    const uint32_t distinct_count = memory.is_dense ? finish_dense(memory) : finish_sparse(memory);
    // One more than there are segments: the numbers of two memories never meet.
    INTERLOCK_CHECK(distinct_count <= UINT32_MAX - segment_count_);
    segment_count_ += distinct_count - 1;
    memory.segments.end = segment_count_;
  }
}

// Returns the number of distinct endpoints. So does finish_sparse.
uint32_t SegmentIndex::finish_dense(const Memory& memory) {
  uint32_t rank = 0;
  for (uint64_t word = memory.begin; word < memory.begin + memory.word_count; ++word) {
    ranks_[word] = rank;
    rank += count_of_ones(words_[word]);
  }
  return rank;
}

uint32_t SegmentIndex::finish_sparse(Memory& memory) {
  const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(memory.begin);
  const auto end = begin + static_cast<std::ptrdiff_t>(memory.word_count);
  std::sort(begin, end);
  memory.word_count = static_cast<uint64_t>(std::unique(begin, end) - begin);
  INTERLOCK_CHECK(memory.word_count <= UINT32_MAX);
  return static_cast<uint32_t>(memory.word_count);
}

uint32_t SegmentIndex::sparse_rank(const Memory& memory, uint64_t endpoint) const {
  const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(memory.begin);
  const auto end = begin + static_cast<std::ptrdiff_t>(memory.word_count);
  return static_cast<uint32_t>(std::lower_bound(begin, end, endpoint) - begin);
}

}  // namespace interlock
