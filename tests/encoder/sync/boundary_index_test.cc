// The ordered index under the tracker, against a sorted list.

#include "encoder/sync/boundary_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/encoder/sync/random_dispatches.h"
#include "tests/program_count.h"

namespace interlock::boundary_index_test {
namespace {

// A tree and the list it must agree with.
class CheckedIndex {
 public:
  explicit CheckedIndex(BoundaryIndex& index) : index_(index) { index_.insert(tree_, 0); }

  void insert(uint64_t begin) {
    const auto place = std::lower_bound(begins_.begin(), begins_.end(), begin);
    if (place != begins_.end() && *place == begin) return;
    begins_.insert(place, begin);
    index_.insert(tree_, begin);
  }

  void erase(uint64_t first, uint64_t last) {
    index_.erase(tree_, first, last);
    const auto begin = std::lower_bound(begins_.begin(), begins_.end(), first);
    begins_.erase(begin, std::max(begin, std::lower_bound(begins_.begin(), begins_.end(), last)));
  }

  bool agrees_at(uint64_t offset) const {
    return index_.find(tree_, offset) ==
           *(std::upper_bound(begins_.begin(), begins_.end(), offset) - 1);
  }

  size_t size() const { return begins_.size(); }

 private:
  BoundaryIndex& index_;
  BoundaryIndex::Tree tree_;
  std::vector<uint64_t> begins_ = {0};
};

TEST(BoundaryIndex, AgreesWithSortedListsForSeveralMemories) {
  TestRandom random(3);
  BoundaryIndex index;
  std::vector<CheckedIndex> memories;
  for (int i = 0; i < 3; ++i) memories.emplace_back(index);
  size_t greatest_size = 0;
  for (int i = 0; i < program_count(60'000, 5); ++i) {
    CheckedIndex& memory = memories[random.below(3)];
    memory.insert(random.below(1u << 20));
    if (random.below(100) == 0) {
      const uint64_t first = 1 + random.below(1u << 20);
      // Mostly a few entries, sometimes most of them.
      memory.erase(first, first + random.below(random.below(20) == 0 ? 1u << 20 : 1u << 13));
    }
    ASSERT_TRUE(memory.agrees_at(random.below(1u << 20))) << i;
    greatest_size = std::max(greatest_size, memory.size());
  }
  EXPECT_GT(greatest_size, 1'000u);  // Three levels.
}

TEST(BoundaryIndex, FindsAllOfAnAppendedSequenceAndOfOneThatGoesDown) {
  for (const bool is_ascending : {true, false}) {
    BoundaryIndex index;
    CheckedIndex memory(index);
    for (uint64_t i = 1; i < 5'000; ++i) memory.insert(10 * (is_ascending ? i : 5'000 - i));
    for (uint64_t i = 0; i < 5'000; ++i) {
      ASSERT_TRUE(memory.agrees_at(10 * i)) << i;
      ASSERT_TRUE(memory.agrees_at(10 * i + 9)) << i;
    }
  }
}

TEST(BoundaryIndex, ErasesHalfOpenRangesOfEveryPlaceAndLength) {
  for (uint64_t first = 1; first < 200; first += 3) {
    for (uint64_t last = first; last < 200; last += 7) {
      BoundaryIndex index;
      CheckedIndex memory(index);
      for (uint64_t i = 1; i < 200; ++i) memory.insert(i);
      memory.erase(first, last);
      for (uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(memory.agrees_at(i)) << first << " " << last;
      memory.insert(first);
      for (uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(memory.agrees_at(i)) << first << " " << last;
    }
  }
}

}  // namespace
}  // namespace interlock::boundary_index_test
