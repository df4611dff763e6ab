// The tracker in single situations, and in bounded memory over streams without end.
// tracker_property_test.cc compares it with an obvious tracker.

#include "encoder/sync/tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/program_count.h"

namespace interlock::tracker_test {
namespace {

constexpr MemoryId kHeap(0);

Access access_of(AccessMode mode, ByteRange range) {
  Access access;
  access.memory = kHeap;
  access.mode = mode;
  access.range = range;
  return access;
}

bool add(HazardTracker& tracker, const Access& access) { return tracker.add({&access, 1}); }

bool add(HazardTracker& tracker, BufferId buffer, AccessMode mode) {
  const BufferAccess access{buffer, mode};
  return tracker.add({&access, 1});
}

// As in the header.
TEST(HazardTracker, TakesTheDispatchesOfARuntime) {
  HazardTracker tracker;
  const BufferId weights = tracker.register_buffer(kHeap, {0, 4096});
  const BufferId output = tracker.register_buffer(kHeap, {4096, 8192});
  const BufferAccess accesses[] = {{weights, AccessMode::kRead}, {output, AccessMode::kWrite}};
  EXPECT_FALSE(tracker.add(accesses));
  EXPECT_TRUE(tracker.add(accesses));
  tracker.unregister_buffer(output);
}

TEST(HazardTracker, TakesTouchingRangesForDisjoint) {
  HazardTracker tracker;
  EXPECT_FALSE(add(tracker, access_of(AccessMode::kWrite, {0, 4})));
  EXPECT_FALSE(add(tracker, access_of(AccessMode::kWrite, {4, 8})));
  EXPECT_TRUE(add(tracker, access_of(AccessMode::kRead, {3, 4})));
}

TEST(HazardTracker, ForgetsAtABarrierOfTheCaller) {
  HazardTracker tracker;
  const Access write = access_of(AccessMode::kWrite, {0, 4});
  EXPECT_FALSE(add(tracker, write));
  tracker.begin_epoch();
  EXPECT_FALSE(add(tracker, write));
  EXPECT_TRUE(add(tracker, write));
}

// An atomic and a read of the same bytes by one dispatch: later atomics must wait for the read.
TEST(HazardTracker, RemembersBothSidesOfADispatchThatMixesAccesses) {
  HazardTracker tracker;
  const std::vector<Access> mixed = {access_of(AccessMode::kRead, {0, 4}),
                                     access_of(AccessMode::kAtomic, {0, 4})};
  EXPECT_FALSE(tracker.add(mixed, AtomicOp::kAdd));
  EXPECT_TRUE(tracker.add({&mixed[1], 1}, AtomicOp::kAdd));
}

TEST(HazardTracker, FindsConflictsOfRegisteredBuffersThatOverlap) {
  HazardTracker tracker;
  const BufferId low = tracker.register_buffer(kHeap, {0, 8});
  const BufferId high = tracker.register_buffer(kHeap, {4, 12});
  const BufferId apart = tracker.register_buffer(kHeap, {8, 12});
  EXPECT_FALSE(add(tracker, low, AccessMode::kWrite));
  EXPECT_FALSE(add(tracker, apart, AccessMode::kWrite));
  EXPECT_TRUE(add(tracker, high, AccessMode::kRead));
}

TEST(HazardTracker, FindsConflictsBetweenRegisteredBuffersAndRawRanges) {
  HazardTracker tracker;
  const BufferId buffer = tracker.register_buffer(kHeap, {16, 32});
  EXPECT_FALSE(add(tracker, buffer, AccessMode::kWrite));
  EXPECT_FALSE(add(tracker, access_of(AccessMode::kRead, {8, 16})));
  EXPECT_FALSE(add(tracker, access_of(AccessMode::kRead, {32, 40})));
  EXPECT_TRUE(add(tracker, access_of(AccessMode::kRead, {31, 40})));
  EXPECT_TRUE(add(tracker, buffer, AccessMode::kWrite));
}

TEST(HazardTracker, CountsBuffersAndRangesOfOneDispatchTogether) {
  HazardTracker tracker;
  const BufferAccess source{tracker.register_buffer(kHeap, {0, 8}), AccessMode::kRead};
  const Access target = access_of(AccessMode::kWrite, {4, 12});
  EXPECT_FALSE(tracker.add({&target, 1}, {&source, 1}));
  EXPECT_TRUE(tracker.add({&target, 1}, {&source, 1}));
}

// What the current epoch did is in the bytes, not in the handles.
TEST(HazardTracker, RemembersTheEpochThroughRegistrationAndBack) {
  HazardTracker tracker;
  EXPECT_FALSE(add(tracker, access_of(AccessMode::kWrite, {0, 64})));
  const BufferId first = tracker.register_buffer(kHeap, {60, 80});
  EXPECT_TRUE(add(tracker, first, AccessMode::kWrite));
  tracker.unregister_buffer(first);
  const BufferId second = tracker.register_buffer(kHeap, {79, 90});
  EXPECT_TRUE(add(tracker, second, AccessMode::kRead));
}

TEST(HazardTracker, RegistersWholeMemoriesAndEmptyBuffers) {
  HazardTracker tracker;
  const BufferId whole = tracker.register_buffer(kHeap);
  const BufferId empty = tracker.register_buffer(kHeap, {8, 8});
  EXPECT_FALSE(add(tracker, whole, AccessMode::kWrite));
  EXPECT_FALSE(add(tracker, empty, AccessMode::kWrite));
  EXPECT_TRUE(add(tracker, access_of(AccessMode::kRead, {1'000'000, 1'000'001})));
  tracker.unregister_buffer(empty);
  tracker.unregister_buffer(whole);
  EXPECT_TRUE(add(tracker, access_of(AccessMode::kWrite, {0, UINT64_MAX})));
}

// Their handles are equal; their bytes are none.
TEST(HazardTracker, TakesEmptyBuffersForApartFromThemselves) {
  HazardTracker tracker;
  const BufferId empty = tracker.register_buffer(kHeap, {8, 8});
  const BufferId other = tracker.register_buffer(kHeap, {16, 24});
  EXPECT_FALSE(add(tracker, empty, AccessMode::kWrite));
  EXPECT_FALSE(add(tracker, empty, AccessMode::kWrite));
  EXPECT_FALSE(add(tracker, other, AccessMode::kWrite));
  EXPECT_TRUE(add(tracker, other, AccessMode::kWrite));
  tracker.unregister_buffer(empty);
  EXPECT_TRUE(add(tracker, other, AccessMode::kRead));
  EXPECT_FALSE(add(tracker, other, AccessMode::kRead));
}

TEST(HazardTrackerDeathTest, RejectsAHandleThatWasUnregisteredThoughItsIndexIsInUse) {
  HazardTracker tracker;
  const BufferId stale = tracker.register_buffer(kHeap, {0, 8});
  tracker.unregister_buffer(stale);
  const BufferId current = tracker.register_buffer(kHeap, {0, 8});
  ASSERT_EQ(current.index, stale.index);
  EXPECT_FALSE(add(tracker, current, AccessMode::kRead));
  EXPECT_DEATH(add(tracker, stale, AccessMode::kRead), "generation");
  EXPECT_DEATH(tracker.unregister_buffer(stale), "generation");
  EXPECT_DEATH(add(tracker, BufferId(), AccessMode::kRead), "size");
}

// The bytes of a handle are read where lists compare ranges, too.
TEST(HazardTrackerDeathTest, RejectsAStaleHandleOfABufferThatOverlapsOthers) {
  HazardTracker tracker;
  const BufferId low = tracker.register_buffer(kHeap, {0, 8});
  const BufferId stale = tracker.register_buffer(kHeap, {4, 12});
  tracker.unregister_buffer(stale);
  const BufferId current = tracker.register_buffer(kHeap, {2, 6});
  ASSERT_EQ(current.index, stale.index);
  EXPECT_FALSE(add(tracker, current, AccessMode::kRead));
  EXPECT_FALSE(add(tracker, low, AccessMode::kRead));
  EXPECT_DEATH(add(tracker, stale, AccessMode::kRead), "is_registered");
  EXPECT_DEATH(add(tracker, BufferId(), AccessMode::kRead), "is_registered");
}

// A stream of short epochs is compared with itself: it leaves nothing behind.
TEST(HazardTracker, KeepsNoSegmentsOfShortEpochs) {
  HazardTracker tracker;
  for (uint64_t i = 0; i < 1'000; ++i) {
    EXPECT_EQ(add(tracker, access_of(AccessMode::kWrite, {64 * (i % 3), 256})), i > 0);
  }
  EXPECT_EQ(tracker.segment_count(), 0u);
}

// Epochs of 100 accesses are known to segments, unless ranges are new and stay so.
TEST(HazardTracker, KeepsNoSegmentsOfEpochsThatStayNew) {
  HazardTracker tracker;
  const auto use_all = [&](uint64_t first, uint64_t end) {
    for (uint64_t i = 100 * first; i < 100 * end; ++i) {
      if (i % 100 == 0) tracker.begin_epoch();
      EXPECT_FALSE(add(tracker, access_of(AccessMode::kWrite, {64 * i, 64 * i + 40})));
    }
  };
  use_all(0, 200);
  const size_t known = tracker.segment_count();
  EXPECT_GT(known, 10'000u);
  use_all(200, 1'000);
  EXPECT_LE(tracker.segment_count(), known + 2'000);  // It was tried again now and then.
  EXPECT_TRUE(add(tracker, access_of(AccessMode::kRead, {64 * 99'901 + 39, 64 * 99'901 + 41})));
}

// Epochs that outgrow a list and those that do not by turns, with buffers, ranges, and both.
TEST(HazardTracker, GoesFromListsToSegmentsAndBackWithoutLoss) {
  HazardTracker tracker;
  std::vector<BufferId> buffers;
  for (uint64_t i = 0; i < 200; ++i) {
    buffers.push_back(tracker.register_buffer(kHeap, {64 * i, 64 * i + 64}));
  }
  for (uint64_t round = 0; round < 300; ++round) {
    const uint64_t length = round % 3 == 0 ? 150 : 1 + round % 5;
    for (uint64_t i = 0; i < length; ++i) {
      const uint64_t at = (7 * round + i) % 200;
      const bool is_range = (round + i) % 4 == 0;
      const Access range = access_of(AccessMode::kWrite, {64 * at, 64 * at + 64});
      const bool conflicts =
          is_range ? add(tracker, range) : add(tracker, buffers[at], AccessMode::kWrite);
      ASSERT_EQ(conflicts, i == 0 && round > 0) << round << " " << i;
    }
    // The last write of the epoch, by the other name.
    const uint64_t last = (7 * round + length - 1) % 200;
    ASSERT_TRUE(add(tracker, access_of(AccessMode::kRead, {64 * last + 63, 64 * last + 64})));
    // So that the next round begins with a conflict.
    const uint64_t next = 7 * (round + 1) % 200;
    add(tracker, access_of(AccessMode::kRead, {64 * next, 64 * next + 1}));
  }
}

// The segments of one dispatch move while those of its later operands are made.
TEST(HazardTracker, RemembersAllOfADispatchThatMakesTheTableGrow) {
  constexpr uint64_t kRanges = 5'000;
  std::vector<Access> writes;
  for (uint64_t i = 0; i < kRanges; ++i) {
    writes.push_back(access_of(AccessMode::kWrite, {64 * i, 64 * i + 40}));
  }
  HazardTracker tracker;
  EXPECT_FALSE(tracker.add(writes));
  for (uint64_t i = 0; i < kRanges; i += 100) {
    HazardTracker copy = tracker;
    EXPECT_TRUE(add(copy, access_of(AccessMode::kRead, {64 * i + 39, 64 * i + 40}))) << i;
  }
}

// Epochs have numbers of 28 bits: what a number meant before is forgotten when it comes again.
TEST(HazardTracker, ForgetsTheEpochsThatHadTheNumbersOfLaterOnes) {
  if (is_slow_build()) GTEST_SKIP() << "takes 2^28 epochs";
  constexpr uint64_t kEpochs = 64;    // Tried, around the one that has the number again.
  constexpr uint64_t kOperands = 65;  // More than a list takes, so that segments answer.
  const auto operands = [](uint64_t first, uint64_t count, AccessMode mode) {
    std::vector<Access> accesses;
    for (uint64_t i = first; i < first + count; ++i) {
      accesses.push_back(access_of(mode, {64 * i, 64 * i + 64}));
    }
    return accesses;
  };
  HazardTracker tracker;
  EXPECT_FALSE(tracker.add(operands(0, kEpochs * kOperands, AccessMode::kWrite)));
  for (uint64_t i = 0; i + kEpochs / 2 < uint64_t{1} << 28; ++i) tracker.begin_epoch();
  for (uint64_t i = 0; i < kEpochs; ++i) {
    EXPECT_FALSE(tracker.add(operands(i * kOperands, kOperands, AccessMode::kRead))) << i;
    tracker.begin_epoch();
  }
  EXPECT_FALSE(tracker.add(operands(0, kOperands, AccessMode::kWrite)));
  EXPECT_TRUE(add(tracker, access_of(AccessMode::kRead, {63, 64})));
}

// --- Bounded memory
// -------------------------------------------------------------------------------

// What the tracker may hold when nothing needs to be told apart for long.
constexpr size_t kFewSegments = 20'000;
constexpr size_t kFewBytes = size_t{4} << 20;

TEST(HazardTracker, StaysBoundedOnMillionsOfNewRangesWithBarriers) {
  HazardTracker tracker;
  size_t most_segments = 0;
  for (uint64_t i = 0; i < (is_slow_build() ? 200'000 : 2'000'000); ++i) {
    ASSERT_FALSE(add(tracker, access_of(AccessMode::kWrite, {16 * i, 16 * i + 8})));
    if (i % 1'000 == 0) tracker.begin_epoch();  // More than a list takes.
    most_segments = std::max(most_segments, tracker.segment_count());
  }
  EXPECT_LE(most_segments, kFewSegments);
  EXPECT_LE(tracker.size_bytes(), kFewBytes);
}

// Ranges that come twice are also kept by the memo.
TEST(HazardTracker, StaysBoundedOnRangesThatComeTwiceAndNeverAgain) {
  HazardTracker tracker;
  size_t most_segments = 0;
  for (uint64_t i = 0; i < (is_slow_build() ? 100'000 : 500'000); ++i) {
    ASSERT_FALSE(add(tracker, access_of(AccessMode::kRead, {16 * i, 16 * i + 8})));
    ASSERT_FALSE(add(tracker, access_of(AccessMode::kRead, {16 * i, 16 * i + 8})));
    if (i % 1'000 == 0) tracker.begin_epoch();
    most_segments = std::max(most_segments, tracker.segment_count());
  }
  EXPECT_LE(most_segments, kFewSegments);
  EXPECT_LE(tracker.size_bytes(), kFewBytes);
}

TEST(HazardTracker, StaysBoundedOnAnEpochThatFillsMemoryPieceByPiece) {
  HazardTracker tracker;
  for (uint64_t i = 0; i < (is_slow_build() ? 160'000 : 400'000); ++i) {
    ASSERT_FALSE(add(tracker, access_of(AccessMode::kWrite, {8 * i, 8 * i + 8})));
  }
  EXPECT_LE(tracker.segment_count(), kFewSegments);
  EXPECT_LE(tracker.size_bytes(), kFewBytes);
  EXPECT_TRUE(add(tracker, access_of(AccessMode::kRead, {1'234'567, 1'234'568})));
}

// Five times as many ranges as the bound: those that keep coming back are kept, in time.
TEST(HazardTracker, KeepsManyRangesThatKeepComingBack) {
  constexpr uint64_t kRanges = 80'000;
  HazardTracker tracker;
  const auto read_all = [&] {
    for (uint64_t i = 0; i < kRanges; ++i) {
      const uint64_t at = i * 7'919 % kRanges;
      ASSERT_FALSE(add(tracker, access_of(AccessMode::kRead, {64 * at, 64 * at + 40})));
      if (i % 1'000 == 0) tracker.begin_epoch();
    }
  };
  for (int pass = 0; pass < 8; ++pass) read_all();
  const size_t kept = tracker.segment_count();
  EXPECT_EQ(kept, kRanges);
  read_all();
  EXPECT_EQ(tracker.segment_count(), kept);
}

// An allocator that never comes back to an address; each buffer is used, some by raw ranges too.
TEST(HazardTracker, StaysBoundedOnBuffersThatComeAndGo) {
  HazardTracker tracker;
  std::vector<BufferId> alive;
  size_t most_segments = 0;
  for (uint64_t i = 0; i < (is_slow_build() ? 50'000 : 500'000); ++i) {
    alive.push_back(tracker.register_buffer(kHeap, {64 * i, 64 * i + 40}));
    ASSERT_FALSE(add(tracker, alive.back(), AccessMode::kWrite));
    if (i % 4 == 0) tracker.begin_epoch();
    add(tracker, access_of(AccessMode::kRead, {64 * i + 8, 64 * i + 16}));
    if (alive.size() < 100) continue;
    for (const BufferId buffer : alive) tracker.unregister_buffer(buffer);
    alive.clear();
    most_segments = std::max(most_segments, tracker.segment_count());
  }
  EXPECT_LE(most_segments, kFewSegments);
  EXPECT_LE(tracker.size_bytes(), kFewBytes);
}

// Registration alone, without a dispatch ever, is a stream too.
TEST(HazardTracker, StaysBoundedOnBuffersThatNobodyUses) {
  HazardTracker tracker;
  for (uint64_t i = 0; i < (is_slow_build() ? 100'000 : 500'000); ++i) {
    tracker.unregister_buffer(tracker.register_buffer(kHeap, {64 * i, 64 * i + 40}));
  }
  EXPECT_LE(tracker.segment_count(), kFewSegments);
  EXPECT_LE(tracker.size_bytes(), kFewBytes);
}

// Sweeps forget memories in which nothing is told apart, but not those with a handle to them.
TEST(HazardTracker, KeepsTheHandleOfAWholeMemoryThroughSweeps) {
  HazardTracker tracker;
  const MemoryId registered(1);
  const BufferId whole = tracker.register_buffer(registered);
  for (uint64_t i = 0; i < 50'000; ++i) {
    ASSERT_FALSE(add(tracker, access_of(AccessMode::kWrite, {16 * i, 16 * i + 8})));
    tracker.begin_epoch();
  }
  EXPECT_FALSE(add(tracker, whole, AccessMode::kWrite));
  Access read = access_of(AccessMode::kRead, {100, 101});
  EXPECT_FALSE(add(tracker, read));
  read.memory = registered;
  EXPECT_TRUE(add(tracker, read));
}

TEST(HazardTracker, RemembersAMemoryUsedWholeThroughSweeps) {
  for (const AccessMode mode : {AccessMode::kWrite, AccessMode::kRead}) {
    HazardTracker tracker;
    Access whole = access_of(mode, {0, UINT64_MAX});
    whole.memory = MemoryId(1);
    EXPECT_FALSE(add(tracker, whole));
    for (uint64_t i = 0; i < 50'000; ++i) {
      ASSERT_FALSE(add(tracker, access_of(AccessMode::kWrite, {16 * i, 16 * i + 8})));
    }
    whole.mode = AccessMode::kWrite;
    whole.range = {5, 6};
    EXPECT_TRUE(add(tracker, whole));
  }
}

TEST(HazardTracker, TellsEverythingApartThatAnEpochNeeds) {
  HazardTracker tracker;
  constexpr uint64_t kPieces = is_slow_build() ? 80'000 : 100'000;
  for (uint64_t i = 0; i < kPieces; ++i) {
    ASSERT_FALSE(add(tracker, access_of(AccessMode::kWrite, {16 * i, 16 * i + 8})));
  }
  for (uint64_t i = 0; i < kPieces; ++i) {
    ASSERT_FALSE(add(tracker, access_of(AccessMode::kRead, {16 * i + 8, 16 * i + 16}))) << i;
  }
  EXPECT_TRUE(add(tracker, access_of(AccessMode::kRead, {16 * 77'777, 16 * 77'777 + 1})));
}

// A whole memory against its parts: the cuts that only the past needed go, so a walk stays short.
TEST(HazardTracker, MergesWhatALongAccessLeavesAlikeButNoRegisteredBuffer) {
  HazardTracker tracker;
  const BufferId buffer = tracker.register_buffer(kHeap, {1'000, 1'016});
  for (uint64_t i = 0; i < 1'000; ++i)
    add(tracker, access_of(AccessMode::kRead, {8 * i, 8 * i + 4}));
  EXPECT_GE(tracker.segment_count(), 1'000u);
  add(tracker, access_of(AccessMode::kWrite, {0, 8'000}));
  EXPECT_LE(tracker.segment_count(), 5u);
  EXPECT_TRUE(add(tracker, buffer, AccessMode::kRead));
  EXPECT_FALSE(add(tracker, access_of(AccessMode::kWrite, {992, 1'000})));
}

}  // namespace
}  // namespace interlock::tracker_test
