// The tracker over long streams: the same answers as a map of single bytes, in bounded memory.

#include "encoder/tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "encoder/boundary_index.h"
#include "tests/encoder/random_dispatches.h"

namespace interlock {
namespace {

Access access_of(size_t memory, AccessMode mode, ByteRange range) {
  Access access;
  access.memory = MemoryId(memory);
  access.mode = mode;
  access.range = range;
  return access;
}

// Per byte: the last write, read and atomic of the epoch. Slow and obvious.
class ByteTracker {
 public:
  explicit ByteTracker(size_t bytes) : bytes_(bytes) {}

  bool add(const std::vector<Access>& accesses, AtomicOp atomic_op) {
    bool is_conflict = false;
    for (const Access& access : accesses) {
      for (uint64_t b = access.range.begin; b < access.range.end; ++b) {
        const Byte& byte = bytes_[b];
        if (access.mode == AccessMode::kRead) {
          is_conflict |= byte.is_written || byte.atomic_op != AtomicOp::kNone;
        } else if (access.is_atomic()) {
          is_conflict |= byte.is_written || byte.is_read ||
                         (byte.atomic_op != AtomicOp::kNone && byte.atomic_op != atomic_op);
        } else {
          is_conflict |= byte.is_written || byte.is_read || byte.atomic_op != AtomicOp::kNone;
        }
      }
    }
    if (is_conflict) std::fill(bytes_.begin(), bytes_.end(), Byte());
    for (const Access& access : accesses) {
      for (uint64_t b = access.range.begin; b < access.range.end; ++b) {
        bytes_[b].is_read |= access.mode == AccessMode::kRead;
        bytes_[b].is_written |= access.writes();
        if (access.is_atomic()) bytes_[b].atomic_op = atomic_op;
      }
    }
    return is_conflict;
  }

 private:
  struct Byte {
    bool is_read = false;
    bool is_written = false;
    AtomicOp atomic_op = AtomicOp::kNone;
  };
  std::vector<Byte> bytes_;
};

// Few writes to small ranges, many reads of ranges of all sizes: long walks, and thus merges.
TEST(HazardTracker, AgreesWithSingleBytesOverLongStreams) {
  constexpr uint64_t kBytes = 400;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    TestRandom random(seed);
    HazardTracker tracker;
    ByteTracker reference(kBytes);
    int conflict_count = 0;
    for (int i = 0; i < 2'000; ++i) {
      std::vector<Access> accesses;
      for (uint64_t k = random.below(4); k > 0; --k) {
        const bool is_read = random.below(8) != 0;
        const uint64_t size = random.below(is_read ? 1 + random.below(kBytes) : 4);
        const uint64_t begin = random.below(kBytes - size);
        const AccessMode mode = is_read                ? AccessMode::kRead
                                : random.below(3) != 0 ? AccessMode::kWrite
                                                       : AccessMode::kAtomic;
        accesses.push_back(access_of(0, mode, {begin, begin + size}));
      }
      const AtomicOp op = random.below(2) == 0 ? AtomicOp::kAdd : AtomicOp::kMin;
      const bool expected = reference.add(accesses, op);
      conflict_count += expected;
      ASSERT_EQ(tracker.add(accesses, op), expected) << "seed " << seed << ", dispatch " << i;
    }
    EXPECT_GT(conflict_count, 50) << seed;
    EXPECT_LT(conflict_count, 1'950) << seed;
  }
}

TEST(HazardTracker, TakesTouchingRangesForDisjoint) {
  HazardTracker tracker;
  const Access low = access_of(0, AccessMode::kWrite, {0, 4});
  const Access high = access_of(0, AccessMode::kWrite, {4, 8});
  const Access last_byte = access_of(0, AccessMode::kRead, {3, 4});
  EXPECT_FALSE(tracker.add({&low, 1}, AtomicOp::kNone));
  EXPECT_FALSE(tracker.add({&high, 1}, AtomicOp::kNone));
  EXPECT_TRUE(tracker.add({&last_byte, 1}, AtomicOp::kNone));
}

TEST(HazardTracker, ForgetsAtABarrierOfTheCaller) {
  HazardTracker tracker;
  const Access write = access_of(0, AccessMode::kWrite, {0, 4});
  EXPECT_FALSE(tracker.add({&write, 1}, AtomicOp::kNone));
  tracker.begin_epoch();
  EXPECT_FALSE(tracker.add({&write, 1}, AtomicOp::kNone));
  EXPECT_TRUE(tracker.add({&write, 1}, AtomicOp::kNone));
}

// An atomic and a read of the same bytes by one dispatch: later atomics must wait for the read.
TEST(HazardTracker, RemembersBothSidesOfADispatchThatMixesAccesses) {
  HazardTracker tracker;
  const std::vector<Access> mixed = {access_of(0, AccessMode::kRead, {0, 4}),
                                     access_of(0, AccessMode::kAtomic, {0, 4})};
  EXPECT_FALSE(tracker.add(mixed, AtomicOp::kAdd));
  EXPECT_TRUE(tracker.add({&mixed[1], 1}, AtomicOp::kAdd));
}

TEST(HazardTracker, StaysBoundedOnAStreamOfNewRangesWithBarriers) {
  HazardTracker tracker;
  uint64_t begin = 0;
  for (int i = 0; i < 400'000; ++i) {
    const Access access = access_of(0, AccessMode::kWrite, {begin, begin + 8});
    begin += 16;
    tracker.add({&access, 1}, AtomicOp::kNone);
    if (i % 100 == 0) tracker.begin_epoch();
  }
  EXPECT_LE(tracker.segment_count(), 40'000u);
}

TEST(HazardTracker, StaysBoundedOnAnEpochThatFillsMemoryPieceByPiece) {
  HazardTracker tracker;
  for (uint64_t i = 0; i < 400'000; ++i) {
    const Access access = access_of(0, AccessMode::kWrite, {8 * i, 8 * i + 8});
    ASSERT_FALSE(tracker.add({&access, 1}, AtomicOp::kNone));
  }
  EXPECT_LE(tracker.segment_count(), 40'000u);
  const Access any = access_of(0, AccessMode::kRead, {1'234'567, 1'234'568});
  EXPECT_TRUE(tracker.add({&any, 1}, AtomicOp::kNone));
}

TEST(HazardTracker, TellsEverythingApartThatAnEpochNeeds) {
  HazardTracker tracker;
  constexpr uint64_t kPieces = 100'000;
  for (uint64_t i = 0; i < kPieces; ++i) {
    const Access access = access_of(0, AccessMode::kWrite, {16 * i, 16 * i + 8});
    ASSERT_FALSE(tracker.add({&access, 1}, AtomicOp::kNone));
  }
  for (uint64_t i = 0; i < kPieces; ++i) {
    const Access gap = access_of(0, AccessMode::kRead, {16 * i + 8, 16 * i + 16});
    ASSERT_FALSE(tracker.add({&gap, 1}, AtomicOp::kNone)) << i;
  }
  const Access written = access_of(0, AccessMode::kRead, {16 * 77'777, 16 * 77'777 + 1});
  EXPECT_TRUE(tracker.add({&written, 1}, AtomicOp::kNone));
}

TEST(BoundaryIndex, AgreesWithASortedList) {
  TestRandom random(3);
  BoundaryIndex index;
  std::vector<uint64_t> begins = {0};
  index.insert(0, 0);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t begin = random.below(1u << 20);
    const auto place = std::lower_bound(begins.begin(), begins.end(), begin);
    if (place == begins.end() || *place != begin) {
      begins.insert(place, begin);
      index.insert(begin, static_cast<uint32_t>(begin));
    }
    if (i % 100 == 0) {
      const uint64_t first = 1 + random.below(1u << 20);
      const uint64_t last = first + random.below(1u << 14);
      index.erase(first, last);
      begins.erase(std::lower_bound(begins.begin(), begins.end(), first),
                   std::lower_bound(begins.begin(), begins.end(), last));
    }
    const uint64_t probe = random.below(1u << 20);
    const uint64_t expected = *(std::upper_bound(begins.begin(), begins.end(), probe) - 1);
    ASSERT_EQ(index.find(probe), expected) << i;
  }
  EXPECT_GT(begins.size(), 5'000u);
}

TEST(BoundaryIndex, FindsAllOfAnAppendedSequence) {
  BoundaryIndex index;
  for (uint32_t i = 0; i < 1'000; ++i) index.insert(10 * i, i);
  for (uint32_t i = 0; i < 1'000; ++i) ASSERT_EQ(index.find(10 * i + 9), i);
}

}  // namespace
}  // namespace interlock
