// What the order of segments knows before it is sorted and after, against sorted lists.

#include "encoder/sync/segment_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "encoder/program/hash.h"
#include "encoder/sync/granule_set.h"
#include "tests/encoder/sync/random_dispatches.h"
#include "tests/program_count.h"

namespace interlock::segment_order_test {
namespace {

constexpr uint64_t kGranuleBytes = 256;

TEST(GranuleSet, SaysOfEveryShortRangeWhetherAGranuleOfItWasMarked) {
  TestRandom random(7);
  GranuleSet marks;
  std::set<std::pair<uint32_t, uint64_t>> obvious;
  int marked_count = 0;
  const int count = share_count(20'000, 2, 5);
  for (int i = 0; i < count; ++i) {
    const auto memory = static_cast<uint32_t>(random.below(3));
    const uint64_t size = 1 + random.below(1 + random.below(64 * kGranuleBytes));
    const uint64_t begin = random.below(uint64_t{1} << 28);
    if (!GranuleSet::takes({begin, begin + size})) continue;
    bool expected = false;
    for (uint64_t at = begin / kGranuleBytes; at <= (begin + size - 1) / kGranuleBytes; ++at) {
      expected |= !obvious.emplace(memory, at).second;
    }
    ASSERT_EQ(marks.mark(memory, {begin, begin + size}), expected) << i;
    marked_count += expected;
  }
  EXPECT_GT(marked_count, is_slow_build() ? 50 : 150);
  EXPECT_LT(marked_count, count - count / 20);
}

TEST(GranuleSet, TakesRangesOfSixtyFourGranulesAtMostAtEveryOffset) {
  for (const uint64_t begin :
       {uint64_t{0}, uint64_t{1} << 63, UINT64_MAX - 64 * kGranuleBytes + 1}) {
    EXPECT_TRUE(GranuleSet::takes({begin, begin + 64 * kGranuleBytes - 1})) << begin;
    EXPECT_FALSE(GranuleSet::takes({begin + 255, begin + 255 + 64 * kGranuleBytes})) << begin;
  }
  EXPECT_FALSE(GranuleSet::takes({0, UINT64_MAX}));
}

// Somebody who knows the hash makes words that start at one place: what cannot be kept is taken
// for marked, in bounded memory.
TEST(GranuleSet, TakesAllForMarkedWhereHashesWereMadeToCollide) {
  uint64_t inverse = kGolden64;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kGolden64 * inverse;
  // Words below 2^50 whose keys are small numbers, and so begin at the first place.
  std::vector<ByteRange> ranges;
  for (uint64_t key = 1; ranges.size() < 100; ++key) {
    const uint64_t word = key * inverse;
    if (word >> 50 == 0) ranges.push_back({word << 14, (word << 14) + 1});
  }
  GranuleSet marks;
  bool is_lost = false;
  for (const ByteRange range : ranges) is_lost |= marks.mark(0, range);
  EXPECT_TRUE(is_lost);
  EXPECT_LE(marks.size_bytes(), ranges.size() * 512);
  for (const ByteRange range : ranges) ASSERT_TRUE(marks.mark(0, range));
}

// Segments of three memories in an order, and in sorted lists: most apart from the others.
class CheckedOrder {
 public:
  // Enters a segment unless it shares bytes with one; says whether it was seen at once.
  bool enter(uint32_t memory, ByteRange range) {
    auto& ends = ends_[memory];
    const auto after = ends.lower_bound(range.end);
    if (after != ends.begin() && std::prev(after)->second > range.begin) return false;
    const bool is_apart = order_.enter_if_apart(MemoryId(memory), range);
    if (!is_apart) {
      order_.last_until(MemoryId(memory), range.begin);
      order_.enter(MemoryId(memory), range.begin);
    }
    ends[range.begin] = range.end;
    return is_apart;
  }

  bool agrees_at(uint32_t memory, uint64_t offset) {
    const auto& ends = ends_[memory];
    const auto after = ends.upper_bound(offset);
    const uint64_t next = after == ends.end() ? SegmentOrder::kNowhere : after->first;
    const uint64_t last = after == ends.begin() ? SegmentOrder::kNowhere : std::prev(after)->first;
    const uint64_t found = order_.last_until(MemoryId(memory), offset);
    const bool is_none = found == SegmentOrder::kNowhere || ends.count(found) == 0;
    return (last == SegmentOrder::kNowhere ? is_none : found == last) &&
           order_.first_after(MemoryId(memory), offset) == next;
  }

  // Forgets one in three.
  void restart(TestRandom& random) {
    SegmentTable table;
    table.rebuild(0);
    std::vector<Segment> kept;
    for (auto& [memory, ends] : ends_) {
      for (auto segment = ends.begin(); segment != ends.end();) {
        if (random.below(3) == 0) {
          segment = ends.erase(segment);
          continue;
        }
        kept.push_back(Segment::of(memory, {segment->first, segment->second}));
        ++segment;
      }
    }
    for (size_t i = kept.size(); i > 1; --i) std::swap(kept[i - 1], kept[random.below(i)]);
    for (const Segment& segment : kept) table.insert(segment);
    order_.restart(kept, table);
  }

 private:
  SegmentOrder order_;
  std::map<uint32_t, std::map<uint64_t, uint64_t>> ends_;
};

// Questions are rare or frequent, so that much waits or little; long segments come late.
TEST(SegmentOrder, AgreesWithSortedListsHoweverOftenItIsAsked) {
  for (const uint64_t question_in : {2, 50, 2'000}) {
    TestRandom random(question_in);
    CheckedOrder order;
    int apart_count = 0;
    for (int i = 0; i < 30'000; ++i) {
      const auto memory = static_cast<uint32_t>(random.below(3));
      const uint64_t begin = 128 * random.below(1u << 17);
      const uint64_t size =
          i > 20'000 && random.below(1'000) == 0 ? 40'000 : 64 + random.below(800);
      apart_count += order.enter(memory, {begin, begin + size});
      if (random.below(question_in) == 0) {
        ASSERT_TRUE(order.agrees_at(memory, random.below(1u << 24))) << i;
      }
      if (i % 7'000 == 6'999) order.restart(random);
    }
    EXPECT_GT(apart_count, 5'000);
    for (uint64_t at = 0; at < 1u << 24; at += 9'973) {
      for (uint32_t memory = 0; memory < 3; ++memory) ASSERT_TRUE(order.agrees_at(memory, at));
    }
  }
}

}  // namespace
}  // namespace interlock::segment_order_test
