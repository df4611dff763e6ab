// Marks against what they stand for: vectors against arrays, and marks against bytes.

#include "encoder/sync/epoch_marks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/sync/access_codes.h"
#include "encoder/sync/epoch_list.h"
#include "encoder/sync/lanes.h"
#include "tests/encoder/sync/random_dispatches.h"

namespace interlock::epoch_marks_test {
namespace {

using Numbers = std::array<uint32_t, 4>;

// Many of them are equal, or at the ends of what numbers and signs there are.
Numbers random_numbers(TestRandom& random) {
  constexpr uint32_t kEdges[] = {0, 1, 0x7fffffff, 0x80000000, UINT32_MAX};
  Numbers numbers{};
  for (uint32_t& number : numbers) {
    number = random.below(3) > 0 ? kEdges[random.below(5)]
                                 : static_cast<uint32_t>(random.below(uint64_t{1} << 32));
  }
  return numbers;
}

template <typename L>
Numbers numbers_of(const L& lanes) {
  Numbers numbers{};
  lanes.store(numbers.data());
  return numbers;
}

TEST(Lanes, AreAnArray) {
  TestRandom random(1);
  std::array<int, 2> count_with_top_bit{};
  std::array<int, 2> count_with_any{};
  for (int i = 0; i < 10'000; ++i) {
    const Numbers a = random_numbers(random);
    const Numbers b = random_numbers(random);
    const Lanes lanes_a = Lanes::from(a.data());
    const Lanes lanes_b = Lanes::from(b.data());
    const ArrayLanes array_a = ArrayLanes::from(a.data());
    const ArrayLanes array_b = ArrayLanes::from(b.data());
    ASSERT_EQ(numbers_of(lanes_a), a);
    ASSERT_EQ(numbers_of(Lanes::all(a[0])), numbers_of(ArrayLanes::all(a[0])));
    ASSERT_EQ(numbers_of(lanes_a - lanes_b), numbers_of(array_a - array_b));
    ASSERT_EQ(numbers_of(lanes_a | lanes_b), numbers_of(array_a | array_b));
    ASSERT_EQ(numbers_of(lanes_a & lanes_b), numbers_of(array_a & array_b));
    ASSERT_EQ(numbers_of(Lanes::equal(lanes_a, lanes_b)),
              numbers_of(ArrayLanes::equal(array_a, array_b)));
    ASSERT_EQ(numbers_of(Lanes::greater(lanes_a, lanes_b)),
              numbers_of(ArrayLanes::greater(array_a, array_b)));
    ASSERT_EQ(numbers_of(greater_of(lanes_a, lanes_b)), numbers_of(greater_of(array_a, array_b)));
    ASSERT_EQ(numbers_of(~lanes_a), numbers_of(~array_a));
    ASSERT_EQ(lanes_a.top_bits(), array_a.top_bits());
    ASSERT_EQ(lanes_a.all_have_top_bit(), array_a.all_have_top_bit());
    ASSERT_EQ((lanes_a & lanes_b).any_has_top_bit(), (array_a & array_b).any_has_top_bit());
    ++count_with_top_bit[lanes_a.all_have_top_bit()];
    ++count_with_any[(lanes_a & lanes_b).any_has_top_bit()];
  }
  EXPECT_GT(*std::ranges::min_element(count_with_top_bit), 100);
  EXPECT_GT(*std::ranges::min_element(count_with_any), 100);
}

TEST(Lanes, SayOfEachWhetherAllOrAnyHaveTheTopBit) {
  for (size_t place = 0; place < 4; ++place) {
    Numbers numbers = {0x80000000, UINT32_MAX, 0x80000001, 0xc0000000};
    EXPECT_TRUE(Lanes::from(numbers.data()).all_have_top_bit());
    numbers[place] &= 0x7fffffff;
    EXPECT_FALSE(Lanes::from(numbers.data()).all_have_top_bit());
    Numbers others = {0x7fffffff, 0, 1, 0x40000000};
    EXPECT_FALSE(Lanes::from(others.data()).any_has_top_bit());
    others[place] |= 0x80000000;
    EXPECT_TRUE(Lanes::from(others.data()).any_has_top_bit());
  }
}

// Ranges of all lengths, at all ends: of a granule, of what has a mark, of the circle and of what
// there is. Those with a begin below are close to each other.
ByteRange random_range(TestRandom& random) {
  constexpr uint64_t kEdges[] = {0,
                                 64,
                                 uint64_t{1} << 35,
                                 uint64_t{1} << 37,
                                 uint64_t{1} << 38,
                                 uint64_t{1} << 63,
                                 UINT64_MAX - 4096};
  constexpr uint64_t kLengths[] = {200, 200, uint64_t{1} << 34, uint64_t{1} << 36, UINT64_MAX};
  const uint64_t begin = kEdges[random.below(7)] + random.below(random.below(2) == 0 ? 64 : 1000);
  const uint64_t length = random.below(4) == 0 ? (uint64_t{1} << 35) - 2 + random.below(5)
                                               : random.below(kLengths[random.below(5)]);
  return {begin, begin + std::min(length, UINT64_MAX - begin)};
}

// One of 1..70 ranges is put after another, first moved now and then; and each is asked for.
TEST(EpochMarks, TellNoTwoApartThatMeet) {
  constexpr size_t kPlaces = 70;
  TestRandom random(2);
  int meeting_count = 0;
  int apart_count = 0;
  for (int i = 0; i < 3'000; ++i) {
    EpochMarks<RangeKey, kPlaces> marks;
    std::vector<RangeKey> keys;
    size_t first = 0;
    const size_t count = 1 + random.below(kPlaces);
    while (keys.size() < count) {
      const RangeKey key =
          RangeKey::of(MemoryId(static_cast<uint32_t>(random.below(2))), random_range(random));
      const auto mark = EpochMarks<RangeKey, kPlaces>::Mark::of(key);
      if (mark.is_wide) continue;
      marks.put(keys.size(), mark);
      keys.push_back(key);
      if (random.below(60) == 0) {
        first = random.below(keys.size());
        marks.move_to_front(first, keys.size());
        keys.erase(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(first));
      }
    }
    first = random.below(count);
    const RangeKey other =
        RangeKey::of(MemoryId(static_cast<uint32_t>(random.below(2))), random_range(random));
    const auto mark = EpochMarks<RangeKey, kPlaces>::Mark::of(other);
    if (mark.is_wide) continue;
    const bool meets = std::any_of(keys.begin() + static_cast<std::ptrdiff_t>(first), keys.end(),
                                   [&](const RangeKey& key) { return key.meets(other); });
    const bool may_meet = marks.may_meet(mark, first, count);
    ASSERT_TRUE(may_meet || !meets) << i;
    meeting_count += meets;
    apart_count += !may_meet;
  }
  EXPECT_GT(meeting_count, 300);
  EXPECT_GT(apart_count, 300);
}

TEST(EpochMarks, FindBuffersByTheirIndices) {
  constexpr size_t kPlaces = 30;
  TestRandom random(3);
  std::array<int, 2> counts{};
  for (int i = 0; i < 5'000; ++i) {
    EpochMarks<BufferKey, kPlaces> marks;
    std::vector<uint32_t> indices;
    const size_t count = 1 + random.below(kPlaces);
    while (indices.size() < count) {
      indices.push_back(static_cast<uint32_t>(random.below(40)));
      marks.put(indices.size() - 1, {indices.back()});
    }
    const size_t first = random.below(count);
    const auto index = static_cast<uint32_t>(random.below(40));
    const bool expected =
        std::count(indices.begin() + static_cast<std::ptrdiff_t>(first), indices.end(), index) > 0;
    ASSERT_EQ(marks.may_meet({index}, first, count), expected) << i;
    ++counts[expected];
  }
  EXPECT_GT(*std::ranges::min_element(counts), 500);
}

// What is longer than marks can say, or has no byte, among what they can.
TEST(EpochList, AgreesWithComparisonsWhereverRangesLie) {
  struct Operand {
    RangeKey key;
    AccessMode mode;
  };
  TestRandom random(4);
  EpochList<RangeKey> list;
  std::vector<Operand> obvious;
  int conflict_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random.below(20) == 0 || list.size() > EpochList<RangeKey>::kMaxListed) {
      list.clear();
      obvious.clear();
    }
    std::vector<Operand> operands(random.below(4));
    const bool are_few_wide = random.below(8) > 0;
    bool expected = false;
    for (Operand& operand : operands) {
      ByteRange range = random_range(random);
      if (are_few_wide && range.end - range.begin > 4096) range.end = range.begin + 1;
      operand.key = RangeKey::of(MemoryId(static_cast<uint32_t>(random.below(4))), range);
      operand.mode = random.below(4) > 0 ? AccessMode::kRead : AccessMode::kWrite;
      for (const Operand& earlier : obvious) {
        expected |= earlier.key.meets(operand.key) &&
                    (earlier.mode == AccessMode::kWrite || operand.mode == AccessMode::kWrite);
      }
    }
    const auto key_of = [](const Operand& operand) { return operand.key; };
    ASSERT_EQ(list.add(std::span<const Operand>(operands), PlainCodes(), key_of), expected) << i;
    if (expected) obvious.clear();
    obvious.insert(obvious.end(), operands.begin(), operands.end());
    ASSERT_EQ(list.size(), obvious.size()) << i;
    conflict_count += expected;
  }
  EXPECT_GT(conflict_count, 1'000);
  EXPECT_LT(conflict_count, 15'000);
}

}  // namespace
}  // namespace interlock::epoch_marks_test
