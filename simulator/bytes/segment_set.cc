// A bit per number, and above it bits that say which words are not empty: the lower levels of a van
// Emde Boas tree with a fixed fan-out of 64.
#include "simulator/bytes/segment_set.h"

#include <bit>
#include <cstddef>

namespace interlock {

SegmentSet::SegmentSet(uint32_t bound) {
  size_t count = bound;
  do {
    count = (count + 63) / 64;
    levels_.emplace_back(count, 0);
  } while (count > 1);
}

void SegmentSet::insert(uint32_t segment) {
  for (std::vector<uint64_t>& level : levels_) {
    uint64_t& word = level[segment / 64];
    const bool was_empty = word == 0;
    word |= uint64_t{1} << (segment % 64);
    if (!was_empty) return;
    segment /= 64;
  }
}

void SegmentSet::erase(uint32_t segment) {
  for (std::vector<uint64_t>& level : levels_) {
    uint64_t& word = level[segment / 64];
    word &= ~(uint64_t{1} << (segment % 64));
    if (word != 0) return;
    segment /= 64;
  }
}

uint32_t SegmentSet::at_or_before(uint32_t segment) const {
  uint64_t last = segment;  // Up to this number, at the level.
  for (size_t level = 0; level < levels_.size(); ++level) {
    const uint64_t word_index = last / 64;
    const uint64_t bits = levels_[level][word_index] & (~uint64_t{0} >> (63 - last % 64));
    if (bits != 0) {
      uint64_t found = word_index * 64 + 63 - static_cast<unsigned>(std::countl_zero(bits));
      while (level-- > 0) {
        found = found * 64 + 63 - static_cast<unsigned>(std::countl_zero(levels_[level][found]));
      }
      return static_cast<uint32_t>(found);
    }
    if (word_index == 0) return kNone;
    last = word_index - 1;
  }
  return kNone;
}

uint32_t SegmentSet::after(uint32_t segment) const {
  uint64_t begin = uint64_t{segment} + 1;  // From this number on, at the level.
  for (size_t level = 0; level < levels_.size(); ++level) {
    const uint64_t word_index = begin / 64;
    if (word_index >= levels_[level].size()) return kNone;
    const uint64_t bits = levels_[level][word_index] & (~uint64_t{0} << (begin % 64));
    if (bits != 0) {
      uint64_t found = word_index * 64 + static_cast<unsigned>(std::countr_zero(bits));
      while (level-- > 0) {
        found = found * 64 + static_cast<unsigned>(std::countr_zero(levels_[level][found]));
      }
      return static_cast<uint32_t>(found);
    }
    begin = word_index + 1;
  }
  return kNone;
}

}  // namespace interlock
