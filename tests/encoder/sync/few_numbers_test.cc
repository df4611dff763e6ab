// Numbers of queues that are computed with at once, beside each by itself.
#include "encoder/sync/few_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "tests/encoder/sync/random_dispatches.h"

namespace interlock::few_numbers_test {
namespace {

using Array = FewNumbers::Array;
constexpr uint32_t kCount = FewNumbers::kCount;

Array array_of(const FewNumbers& few) {
  Array array{};
  few.store(array.data());
  return array;
}

// Many of them are equal, or as far apart as they can be.
Array random_numbers(TestRandom& random) {
  constexpr uint32_t kEdges[] = {0, 1, 2, INT32_MAX - 1, INT32_MAX};
  Array numbers{};
  for (uint32_t& number : numbers) {
    number = random.below(3) > 0 ? kEdges[random.below(5)]
                                 : static_cast<uint32_t>(random.below(uint64_t{1} << 31));
  }
  return numbers;
}

TEST(FewNumbers, AreComputedWithAsEachByItself) {
  TestRandom random(1);
  int later_count = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Array a = random_numbers(random);
    const Array b = random_numbers(random);
    const FewNumbers few_a = FewNumbers::from(a.data());
    const FewNumbers few_b = FewNumbers::from(b.data());
    Array latest{};
    uint32_t are_later = 0;
    for (uint32_t queue = 0; queue < kCount; ++queue) {
      latest[queue] = std::max(a[queue], b[queue]);
      are_later |= static_cast<uint32_t>(a[queue] > b[queue]) << queue;
    }
    ASSERT_EQ(array_of(few_a), a);
    ASSERT_EQ(array_of(latest_of(few_a, few_b)), latest);
    ASSERT_EQ(queues_later(few_a, few_b), are_later);
    ASSERT_EQ(few_b.lead_over(few_a).top_bits() != 0, are_later != 0);
    later_count += are_later != 0;
  }
  EXPECT_GT(later_count, 1000);
}

TEST(FewNumbers, HaveOneOfEachQueue) {
  for (uint32_t queue = 0; queue < kCount; ++queue) {
    Array one{};
    one[queue] = INT32_MAX;
    EXPECT_EQ(array_of(FewNumbers::of(queue, INT32_MAX)), one);
    Array others{1, 2, 3, 4, 5, 6, 7, 8};
    const FewNumbers all = FewNumbers::from(others.data());
    others[queue] = 0;
    EXPECT_EQ(array_of(all.without(queue)), others);
  }
  EXPECT_EQ(array_of(FewNumbers()), Array{});
}

}  // namespace
}  // namespace interlock::few_numbers_test
