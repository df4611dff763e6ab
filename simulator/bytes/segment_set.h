// SegmentSet: a set of segment numbers that answers for the nearest member on either side.
#pragma once

#include <cstdint>
#include <vector>

namespace interlock {

// Of the numbers below a fixed bound. Each operation costs O(log64 of the bound).
class SegmentSet {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit SegmentSet(uint32_t bound);

  // Requires: segment < bound. Whether it is a member already does not matter.
  void insert(uint32_t segment);
  void erase(uint32_t segment);

  bool contains(uint32_t segment) const {
    return (levels_[0][segment / 64] >> (segment % 64) & 1) != 0;
  }

  // The greatest member up to `segment`, and the smallest above it; kNone if there is none.
  uint32_t at_or_before(uint32_t segment) const;
  uint32_t after(uint32_t segment) const;

 private:
  // Bit i of level 0 is number i; of level k + 1: word i of level k is not zero.
  std::vector<std::vector<uint64_t>> levels_;
};

}  // namespace interlock
