// `interlock` against the obvious second method: no hazard, and never a barrier more than needed.

#include "encoder/sync/interlock_encoder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/encoder/sync/obvious_checks.h"
#include "tests/encoder/sync/random_dispatches.h"
#include "tests/program_count.h"

namespace interlock::interlock_encoder_test {
namespace {

// Counted by hand, so that millions of programs need no gtest bookkeeping each.
bool is_exact(const std::vector<TestDispatch>& dispatches) {
  InterlockEncoder encoder;
  const std::vector<Command> commands = encode_all(dispatches, encoder);
  const std::string hazard = obvious_hazard(dispatches, commands);
  EXPECT_EQ(hazard, "") << text_of(dispatches);
  const int fewest = fewest_barriers_by_search(dispatches);
  EXPECT_EQ(barrier_count_of(commands), fewest) << text_of(dispatches);
  return hazard.empty() && barrier_count_of(commands) == fewest;
}

// Every list of `count` dispatches out of `choices`; in a slow build one in 16.
void expect_exact_for_all_lists(const std::vector<TestDispatch>& choices, size_t count) {
  std::vector<size_t> digits(count, 0);
  std::vector<TestDispatch> dispatches(count, choices[0]);
  for (uint64_t number = 0;; ++number) {
    const bool is_left_out = is_slow_build() && number % 16 != 0;
    if (!is_left_out && !is_exact(dispatches)) return;
    size_t i = 0;
    while (i < count && ++digits[i] == choices.size()) digits[i++] = 0;
    if (i == count) return;
    for (size_t k = 0; k <= i; ++k) dispatches[k] = choices[digits[k]];
  }
}

Access access_of(AccessMode mode, ByteRange range) {
  Access access;
  access.memory = MemoryId(0);
  access.mode = mode;
  access.range = range;
  return access;
}

struct Modifier {
  AccessMode mode;
  AtomicOp atomic_op;
};

// Dispatches of at most one read and one other access of `memory_bytes` bytes, in every way.
std::vector<TestDispatch> all_dispatches(uint64_t memory_bytes,
                                         const std::vector<Modifier>& modifiers) {
  std::vector<ByteRange> ranges;
  for (uint64_t begin = 0; begin < memory_bytes; ++begin) {
    for (uint64_t end = begin + 1; end <= memory_bytes; ++end) ranges.push_back({begin, end});
  }
  std::vector<TestDispatch> reads(1);
  for (const ByteRange range : ranges) reads.push_back({{access_of(AccessMode::kRead, range)}});
  std::vector<TestDispatch> result = reads;
  for (const TestDispatch& read : reads) {
    for (const Modifier& modifier : modifiers) {
      for (const ByteRange range : ranges) {
        result.push_back(read);
        result.back().accesses.push_back(access_of(modifier.mode, range));
        result.back().atomic_op = modifier.atomic_op;
      }
    }
  }
  return result;
}

const std::vector<Modifier>& every_modifier() {
  static const std::vector<Modifier> kModifiers = {{AccessMode::kWrite, AtomicOp::kNone},
                                                   {AccessMode::kUpdate, AtomicOp::kNone},
                                                   {AccessMode::kAtomic, AtomicOp::kAdd},
                                                   {AccessMode::kAtomic, AtomicOp::kMax}};
  return kModifiers;
}

TEST(InterlockEncoder, IsExactOnEveryPairOfDispatchesOnFourBytes) {
  expect_exact_for_all_lists(all_dispatches(4, every_modifier()), 2);
}

TEST(InterlockEncoder, IsExactOnEveryThreeDispatchesOnTwoBytes) {
  expect_exact_for_all_lists(all_dispatches(2, every_modifier()), 3);
}

TEST(InterlockEncoder, IsExactOnEveryFourPlainDispatchesOnTwoBytes) {
  expect_exact_for_all_lists(all_dispatches(2, {{AccessMode::kWrite, AtomicOp::kNone}}), 4);
}

TEST(InterlockEncoder, IsExactOnRandomDispatches) {
  TestRandom random(1);
  for (int i = 0; i < program_count(20'000); ++i) {
    ASSERT_TRUE(is_exact(random_dispatches(random))) << "program " << i;
  }
}

// Many reads and few writes: long epochs, in which ranges are cut, met again and merged.
TEST(InterlockEncoder, IsExactOnRandomDispatchesWithManyRanges) {
  RandomDispatchesOptions options;
  options.max_dispatches = 12;
  options.max_accesses = 12;
  options.memories = 3;
  options.memory_bytes = 64;
  TestRandom random(2);
  for (int i = 0; i < program_count(2'000, 10); ++i) {
    ASSERT_TRUE(is_exact(random_dispatches(random, options))) << "program " << i;
  }
}

// MLX #1561: two hazards before one dispatch are one barrier.
TEST(InterlockEncoder, NeedsOneBarrierForTwoHazardsOfOneDispatch) {
  const std::vector<TestDispatch> dispatches = {
      {{access_of(AccessMode::kWrite, {0, 4})}},
      {{access_of(AccessMode::kWrite, {4, 8})}},
      {{access_of(AccessMode::kRead, {0, 4}), access_of(AccessMode::kRead, {4, 8})}}};
  InterlockEncoder encoder;
  EXPECT_EQ(barrier_count_of(encode_all(dispatches, encoder)), 1);
}

TEST(InterlockEncoder, OverlapsAtomicsOfOneOperationOnly) {
  const TestDispatch add = {{access_of(AccessMode::kAtomic, {0, 4})}, AtomicOp::kAdd};
  const TestDispatch max = {{access_of(AccessMode::kAtomic, {0, 4})}, AtomicOp::kMax};
  InterlockEncoder one_operation;
  EXPECT_EQ(barrier_count_of(encode_all({add, add}, one_operation)), 0);
  InterlockEncoder two_operations;
  EXPECT_EQ(barrier_count_of(encode_all({add, max}, two_operations)), 1);
}

}  // namespace
}  // namespace interlock::interlock_encoder_test
