// SegmentSet against std::set, at bounds around the powers of its fan-out.
#include "simulator/bytes/segment_set.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <set>

#include "simulator/schedules/choice.h"

namespace interlock::segment_set_test {
namespace {

uint32_t at_or_before(const std::set<uint32_t>& members, uint32_t segment) {
  const auto above = members.upper_bound(segment);
  return above == members.begin() ? SegmentSet::kNone : *std::prev(above);
}

uint32_t after(const std::set<uint32_t>& members, uint32_t segment) {
  const auto above = members.upper_bound(segment);
  return above == members.end() ? SegmentSet::kNone : *above;
}

// The last number of a set whose bound fills its words.
TEST(SegmentSet, FindsWhatIsBeforeItsLastNumber) {
  for (const uint32_t bound : {1u, 2u, 63u, 64u, 65u, 128u, 4095u, 4096u, 4097u, 262144u}) {
    SegmentSet set(bound);
    EXPECT_EQ(set.at_or_before(bound - 1), SegmentSet::kNone) << bound;
    set.insert(0);
    EXPECT_EQ(set.at_or_before(bound - 1), 0u) << bound;
    EXPECT_EQ(set.after(bound - 1), SegmentSet::kNone) << bound;
    set.insert(bound - 1);
    EXPECT_EQ(set.at_or_before(bound - 1), bound - 1) << bound;
    if (bound > 1) {
      EXPECT_EQ(set.after(0), bound - 1) << bound;
    }
  }
}

TEST(SegmentSet, AgreesWithAnOrderedSet) {
  for (const uint32_t bound : {1u, 7u, 63u, 64u, 65u, 127u, 128u, 4095u, 4096u, 4097u, 5000u}) {
    SeededChoice choice(bound);
    SegmentSet set(bound);
    std::set<uint32_t> members;
    // Sparse and dense in turn.
    for (int round = 0; round < 2000; ++round) {
      const auto segment = static_cast<uint32_t>(choice.below(bound));
      if (choice.below(round / 500 % 2 == 0 ? 10 : 2) == 0) {
        set.insert(segment);
        members.insert(segment);
      } else if (members.count(segment) != 0 || choice.below(4) == 0) {
        set.erase(segment);
        members.erase(segment);
      }
      for (const uint32_t asked : {segment, bound - 1, uint32_t{0}}) {
        ASSERT_EQ(set.contains(asked), members.count(asked) != 0);
        ASSERT_EQ(set.at_or_before(asked), at_or_before(members, asked))
            << asked << " of " << bound;
        ASSERT_EQ(set.after(asked), after(members, asked)) << asked << " of " << bound;
      }
    }
  }
}

}  // namespace
}  // namespace interlock::segment_set_test
