// The lists of an epoch against an obvious one, through more conflicts than they have places.

#include "encoder/sync/epoch_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "encoder/sync/listed_epoch.h"
#include "tests/encoder/sync/random_dispatches.h"
#include "tests/program_count.h"

namespace interlock::epoch_list_test {
namespace {

constexpr AtomicOp kOps[] = {AtomicOp::kNone, AtomicOp::kAdd, AtomicOp::kMin};

struct Operand {
  RangeKey key;
  AccessMode mode = AccessMode::kRead;
};

// All accesses of the epoch, and what is said of two of them in the words of HazardTracker::add().
class ObviousList {
 public:
  bool add(const std::vector<Operand>& operands, AtomicOp op) {
    bool is_conflict = false;
    for (const Operand& operand : operands) {
      for (const auto& [earlier, earlier_op] : accesses_) {
        is_conflict |= share_bytes(operand.key, earlier.key) &&
                       !commute(operand.mode, op, earlier.mode, earlier_op);
      }
    }
    if (is_conflict) accesses_.clear();
    for (const Operand& operand : operands) accesses_.push_back({operand, op});
    return is_conflict;
  }

  void clear() { accesses_.clear(); }
  size_t size() const { return accesses_.size(); }

  size_t read_count() const {
    size_t count = 0;
    for (const auto& [access, op] : accesses_) count += access.mode <= AccessMode::kRead;
    return count;
  }

 private:
  static bool share_bytes(const RangeKey& a, const RangeKey& b) {
    for (uint64_t at = a.begin; at < a.end; ++at) {
      if (a.memory == b.memory && b.begin <= at && at < b.end) return true;
    }
    return false;
  }

  static bool commute(AccessMode a, AtomicOp a_op, AccessMode b, AtomicOp b_op) {
    if (a <= AccessMode::kRead && b <= AccessMode::kRead) return true;
    const bool are_atomics = a == AccessMode::kAtomic && b == AccessMode::kAtomic;
    return are_atomics && a_op == b_op && a_op != AtomicOp::kNone;
  }

  std::vector<std::pair<Operand, AtomicOp>> accesses_;
};

std::vector<Operand> random_operands(TestRandom& random, uint64_t memory_bytes, uint64_t most) {
  std::vector<Operand> operands(random.below(most + 1));
  for (Operand& operand : operands) {
    const uint64_t begin = random.below(memory_bytes);
    operand.key = RangeKey::of(MemoryId(random.below(2)), {begin, begin + random.below(6)});
    const bool is_read = random.below(3) > 0;
    operand.mode = static_cast<AccessMode>(is_read ? random.below(3) : 3 + random.below(3));
  }
  return operands;
}

RangeKey key_of(const Operand& operand) { return operand.key; }

template <typename List>
bool add(List& list, std::span<const Operand> operands, AtomicOp op) {
  return with_codes_of(op, [&](const auto& codes) { return list.add(operands, codes, key_of); });
}

template <typename List>
class EpochLists : public testing::Test {};
using Lists = testing::Types<EpochList<RangeKey>, ListedEpoch<RangeKey>>;
TYPED_TEST_SUITE(EpochLists, Lists);

// Small memories make conflicts at each dispatch, large ones epochs that fill the list.
TYPED_TEST(EpochLists, AgreeWithAnObviousListHoweverLongEpochsAre) {
  for (const uint64_t memory_bytes : {4, 60, 4'000, 400'000}) {
    for (const uint64_t most : {uint64_t{3}, uint64_t{TypeParam::kMaxOperands}}) {
      TestRandom random(memory_bytes + most);
      TypeParam list;
      ObviousList obvious;
      size_t longest = 0;
      for (int i = 0; i < share_count(2'000, 2, 4); ++i) {
        if (random.below(400) == 0 || list.size() > TypeParam::kMaxListed) {
          list.clear();
          obvious.clear();
        }
        const std::vector<Operand> operands = random_operands(random, memory_bytes, most);
        const AtomicOp op = kOps[random.below(3)];
        ASSERT_EQ(add(list, operands, op), obvious.add(operands, op)) << i;
        ASSERT_EQ(list.size(), obvious.size()) << i;
        longest = std::max(longest, list.size());
        size_t read_count = 0;
        list.for_each([&](const RangeKey& /*key*/, uint16_t use) {
          read_count += AccessCodes::code_of_use(use) == AccessCodes::kReadCode;
        });
        ASSERT_EQ(read_count, obvious.read_count()) << i;
      }
      EXPECT_GT(longest, memory_bytes == 400'000 ? TypeParam::kMaxListed : 3u);
    }
  }
}

// Epochs of atomics that commute, each ended by one of another operation: what a list remembers of
// them is their operation, wherever they have moved.
TYPED_TEST(EpochLists, TellAtomicsOfOneOperationFromThoseOfAnother) {
  TestRandom random(3);
  TypeParam list;
  ObviousList obvious;
  AtomicOp op = AtomicOp::kAdd;
  int conflict_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random.below(16) == 0) op = kOps[1 + random.below(2)];
    if (list.size() > TypeParam::kMaxListed) {
      list.clear();
      obvious.clear();
    }
    std::vector<Operand> operands = random_operands(random, 8, 3);
    for (Operand& operand : operands) operand.mode = AccessMode::kAtomic;
    const bool is_conflict = add(list, operands, op);
    ASSERT_EQ(is_conflict, obvious.add(operands, op)) << i;
    conflict_count += is_conflict;
  }
  EXPECT_GT(conflict_count, 200);
  EXPECT_LT(conflict_count, 5'000);
}

// What a closed list of few does not take it must not have changed, and what it takes is the same.
TEST(ShortEpoch, TakesAllOfADispatchOrNothing) {
  TestRandom random(5);
  ShortEpoch<RangeKey> few;
  ObviousList obvious;
  size_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random.below(8) == 0) {
      few.close();
      obvious.clear();
    }
    const std::vector<Operand> operands = random_operands(random, 200, 5);
    const bool has_room = few.is_open() && few.size() + operands.size() <= few.kMost;
    const ShortEpochAdded added = few.add(std::span<const Operand>(operands), PlainCodes(), key_of);
    if (!has_room && !operands.empty()) {
      ASSERT_EQ(added, ShortEpochAdded::kNot) << i;
      ++refused;
      few.close();
      few.open();
      obvious.clear();
      continue;
    }
    const bool is_conflict = obvious.add(operands, AtomicOp::kNone);
    ASSERT_EQ(added, is_conflict ? ShortEpochAdded::kConflicts : ShortEpochAdded::kIsFree) << i;
    ASSERT_EQ(few.size(), obvious.size()) << i;
  }
  EXPECT_GT(refused, 1'000u);
}

}  // namespace
}  // namespace interlock::epoch_list_test
