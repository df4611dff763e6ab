// The table of segments against an ordered map, also where all hashes collide, and the filter of
// what was forgotten.

#include "encoder/sync/segment_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "encoder/program/hash.h"
#include "encoder/sync/ghost_filter.h"
#include "tests/encoder/sync/random_dispatches.h"
#include "tests/program_count.h"

namespace interlock::segment_table_test {
namespace {

// What times kGolden64 is 1, by Newton's iteration.
constexpr uint64_t inverse_of_golden() {
  uint64_t inverse = kGolden64;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kGolden64 * inverse;
  return inverse;
}
static_assert(inverse_of_golden() * kGolden64 == 1);

// Inserts, finds and erases at random, with begins as `begin_of` numbers them.
template <typename BeginOf>
void expect_agreement_with_a_map(const BeginOf& begin_of, size_t min_size) {
  TestRandom random(5);
  SegmentTable table;
  table.rebuild(0);
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> ends;
  size_t most = 0;
  for (uint64_t i = 0; i < 60'000; ++i) {
    const auto memory = static_cast<uint32_t>(random.below(3));
    const uint64_t begin = begin_of(random.below(3'000));
    const auto known = ends.find({memory, begin});
    Segment* const found = table.find(memory, begin);
    ASSERT_EQ(found != nullptr, known != ends.end()) << i;
    if (found == nullptr) {
      ASSERT_EQ(table.insert(Segment::of(memory, {begin, i}))->end, i);
      ends[{memory, begin}] = i;
    } else {
      ASSERT_EQ(found->end, known->second) << i;
      if (random.below(3) == 0) {
        table.erase(found);
        ends.erase(known);
      }
    }
    most = std::max(most, ends.size());
    ASSERT_EQ(table.size(), ends.size());
  }
  EXPECT_GT(most, min_size);
  for (const auto& [key, end] : ends) ASSERT_EQ(table.find(key.first, key.second)->end, end);
}

TEST(SegmentTable, AgreesWithAnOrderedMap) {
  expect_agreement_with_a_map([](uint64_t i) { return 256 * i; }, 5'000);
}

// Of so many half of the slots are in use, and some segments find none.
TEST(SegmentTable, KeepsAllWhereHalfOfTheSlotsAreInUse) {
  constexpr uint64_t kCount = (uint64_t{1} << 18) - 1;
  SegmentTable table;
  table.rebuild(kCount);
  const auto insert = [&](uint64_t i) { table.insert(Segment::of(0, {scrambled(i), i})); };
  const auto expect_all = [&](uint64_t step, uint64_t missing) {
    for (uint64_t i = 0; i < kCount; ++i) {
      const Segment* const found = table.find(0, scrambled(i));
      ASSERT_EQ(found == nullptr, i % step == missing) << i;
      if (found != nullptr) {
        ASSERT_EQ(found->end, i);
      }
    }
  };
  for (uint64_t i = 0; i < kCount; ++i) insert(i);
  EXPECT_EQ(table.growth_count(), 0u);
  expect_all(1, 1);
  for (uint64_t i = 1; i < kCount; i += 3) table.erase(table.find(0, scrambled(i)));
  expect_all(3, 1);
  for (uint64_t i = 1; i < kCount; i += 3) insert(i);
  EXPECT_EQ(table.growth_count(), 0u);
  expect_all(1, 1);
  insert(kCount);
  EXPECT_EQ(table.growth_count(), 1u);
  expect_all(1, 1);
}

// Somebody who knows the hash makes thousands that start at one slot: no probe is longer for it
// than the window, and none is lost.
TEST(SegmentTable, AgreesWithAnOrderedMapWhereHashesCollide) {
  expect_agreement_with_a_map([](uint64_t i) { return i * inverse_of_golden(); }, 5'000);
}

// Places that rise with the addresses make one cluster of all: what is erased moves few of them.
TEST(SegmentTable, ErasesInALongClusterAtOnce) {
  constexpr uint64_t kStride = 4'870'847;  // Times kGolden64, a little less than a slot of 2^21.
  const uint64_t kCount = is_slow_build() ? 100'000 : 500'000;
  SegmentTable table;
  table.rebuild(0);
  for (uint64_t i = 0; i < kCount; ++i) {
    table.insert(Segment::of(0, {i * kStride, i * kStride + 1}));
  }
  for (uint64_t i = 0; i < kCount; i += 2) table.erase(table.find(0, i * kStride));
  for (uint64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(table.find(0, i * kStride) != nullptr, i % 2 == 1) << i;
  }
}

// In several chunks of the array that holds segments.
TEST(SegmentTable, IsCopiedWithAllThatItHas) {
  constexpr uint64_t kCount = 150'000;
  SegmentTable table;
  table.rebuild(0);
  for (uint64_t i = 0; i < kCount; ++i) table.insert(Segment::of(0, {64 * i, 64 * i + 1}));
  SegmentTable copy = table;
  for (uint64_t i = 0; i < kCount; i += 2) table.erase(table.find(0, 64 * i));
  for (uint64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(copy.find(0, 64 * i)->end, 64 * i + 1) << i;
    ASSERT_EQ(table.find(0, 64 * i) != nullptr, i % 2 == 1) << i;
  }
  copy = table;
  table.rebuild(0);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.find(0, 64), nullptr);
  EXPECT_EQ(copy.size(), kCount / 2);
  EXPECT_EQ(copy.find(0, 64)->end, 65u);
}

TEST(SegmentTable, SaysWhenSegmentsHaveMoved) {
  SegmentTable table;
  table.rebuild(0);
  Segment segment = Segment::of(0, {0, 64});
  const Segment* const first = table.insert(segment);
  while (table.growth_count() == 0) {
    ASSERT_EQ(table.find(0, 0), first);
    segment.begin += 64;
    table.insert(segment);
    ASSERT_LT(table.size(), 1'000u);
  }
  EXPECT_NE(table.find(0, 0), nullptr);
}

TEST(GhostFilter, KnowsWhatCameLastThroughGrowth) {
  GhostFilter ghosts;
  EXPECT_FALSE(ghosts.contains(scrambled(1)));
  ghosts.reserve(1);
  for (uint64_t i = 1; i <= 1'000; ++i) ghosts.add(scrambled(i));
  uint64_t known_before = 0;
  for (uint64_t i = 1; i <= 1'000; ++i) known_before += ghosts.contains(scrambled(i));
  EXPECT_GT(known_before, 980u);  // Few share one of 65,536 places.
  for (const size_t count : {100'000, 1'000'000}) {
    ghosts.reserve(count);
    uint64_t known = 0;
    for (uint64_t i = 1; i <= 1'000; ++i) known += ghosts.contains(scrambled(i));
    EXPECT_EQ(known, known_before) << count;
  }
}

TEST(GhostFilter, SeldomTakesAKeyForAnotherThoughAllPlacesAreFull) {
  for (const int bits : {16, 18, 20}) {
    GhostFilter ghosts;
    ghosts.reserve(size_t{1} << bits);
    const uint64_t added = uint64_t{4} << bits;
    for (uint64_t i = 1; i <= added; ++i) ghosts.add(scrambled(i));
    uint64_t mistaken = 0;
    for (uint64_t i = 1; i <= 100'000; ++i) mistaken += ghosts.contains(scrambled(added + i));
    EXPECT_LE(mistaken, 5 + (150'000 >> (32 - bits))) << bits;
  }
}

}  // namespace
}  // namespace interlock::segment_table_test
