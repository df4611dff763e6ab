// What QueueTracker says of a few dispatches, and what it holds after many.
#include "encoder/sync/queue_tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/program_count.h"

namespace interlock::queue_tracker_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Access access_of(AccessMode mode, uint64_t begin, uint64_t end, size_t memory = 0) {
  Access access;
  access.memory = MemoryId(memory);
  access.range = {begin, end};
  access.mode = mode;
  return access;
}

Access reads(uint64_t begin, uint64_t end) { return access_of(AccessMode::kRead, begin, end); }
Access writes(uint64_t begin, uint64_t end) { return access_of(AccessMode::kWrite, begin, end); }
Access adds(uint64_t begin, uint64_t end) { return access_of(AccessMode::kAtomic, begin, end); }

std::vector<QueuePoint> waits_of(QueueTracker& tracker, uint32_t queue,
                                 const std::vector<Access>& accesses,
                                 AtomicOp op = AtomicOp::kNone) {
  const auto waits = tracker.add(queue, accesses, op);
  return {waits.begin(), waits.end()};
}

QueuePoint point(uint32_t queue, uint64_t number) { return {queue, number}; }

TEST(QueueTracker, WaitsForTheLastWriteAndForReadsSince) {
  QueueTracker tracker(3);
  EXPECT_THAT(waits_of(tracker, 0, {writes(0, 8)}), IsEmpty());
  EXPECT_THAT(waits_of(tracker, 0, {reads(0, 8)}), IsEmpty());
  EXPECT_THAT(waits_of(tracker, 1, {reads(4, 5)}), ElementsAre(point(0, 1)));
  EXPECT_THAT(waits_of(tracker, 2, {writes(0, 4)}), ElementsAre(point(0, 2)));
  EXPECT_THAT(waits_of(tracker, 2, {writes(4, 8)}), ElementsAre(point(1, 1)));
  EXPECT_THAT(waits_of(tracker, 1, {reads(8, 16)}), IsEmpty());
}

TEST(QueueTracker, LeavesOutWhatEarlierWaitsCarry) {
  QueueTracker tracker(3);
  waits_of(tracker, 0, {writes(0, 4), writes(8, 12)});
  EXPECT_THAT(waits_of(tracker, 1, {reads(0, 4), writes(4, 8)}), ElementsAre(point(0, 1)));
  EXPECT_THAT(waits_of(tracker, 2, {reads(4, 8)}), ElementsAre(point(1, 1)));
  // The wait above came with the first dispatch of queue 0.
  EXPECT_THAT(waits_of(tracker, 2, {writes(8, 12)}), IsEmpty());
}

TEST(QueueTracker, LeavesOutWhatAnotherWaitOfTheDispatchCarries) {
  QueueTracker tracker(4);
  waits_of(tracker, 0, {writes(0, 4)});
  waits_of(tracker, 1, {reads(0, 4), writes(4, 8)});
  waits_of(tracker, 3, {writes(8, 12)});
  EXPECT_THAT(waits_of(tracker, 2, {writes(0, 12)}), ElementsAre(point(1, 1), point(3, 1)));
}

// What a dispatch carries is what it has waited for, and not what its queue waits for later.
TEST(QueueTracker, TakesTheClockOfTheDispatchThatIsWaitedFor) {
  QueueTracker tracker(3);
  waits_of(tracker, 0, {writes(0, 4)});
  waits_of(tracker, 1, {writes(4, 8)});
  waits_of(tracker, 1, {reads(0, 4)});
  EXPECT_THAT(waits_of(tracker, 2, {reads(4, 8)}), ElementsAre(point(1, 1)));
  EXPECT_THAT(waits_of(tracker, 2, {reads(0, 4)}), ElementsAre(point(0, 1)));
}

// However many there have been since: the clocks of the last ones are at hand, others looked up.
TEST(QueueTracker, TakesTheClockOfADispatchOfLongAgo) {
  for (const int later_count : {1, 255, 256, 511, 512, 513, 1024, 3000}) {
    QueueTracker tracker(3);
    waits_of(tracker, 0, {writes(0, 4)});
    waits_of(tracker, 1, {writes(4, 8)});
    for (int i = 1; i < later_count; ++i) waits_of(tracker, 1, {reads(8, 12)});
    waits_of(tracker, 1, {reads(0, 4)});
    EXPECT_THAT(waits_of(tracker, 2, {reads(4, 8)}), ElementsAre(point(1, 1))) << later_count;
    EXPECT_THAT(waits_of(tracker, 2, {reads(0, 4)}), ElementsAre(point(0, 1))) << later_count;
  }
}

TEST(QueueTracker, LetsAtomicsOfOneOperationOverlap) {
  QueueTracker tracker(3);
  waits_of(tracker, 0, {writes(0, 4)});
  EXPECT_THAT(waits_of(tracker, 1, {adds(0, 4)}, AtomicOp::kAdd), ElementsAre(point(0, 1)));
  EXPECT_THAT(waits_of(tracker, 2, {adds(0, 4)}, AtomicOp::kAdd), ElementsAre(point(0, 1)));
  EXPECT_THAT(waits_of(tracker, 0, {adds(0, 4)}, AtomicOp::kMax),
              ElementsAre(point(1, 1), point(2, 1)));
  EXPECT_THAT(waits_of(tracker, 1, {reads(0, 4)}), ElementsAre(point(0, 2)));
  EXPECT_THAT(waits_of(tracker, 2, {adds(0, 4)}, AtomicOp::kMax), ElementsAre(point(1, 2)));
}

TEST(QueueTracker, KnowsWhatTheCallerHasWaitedFor) {
  QueueTracker tracker(3);
  waits_of(tracker, 0, {writes(0, 4)});
  waits_of(tracker, 1, {writes(4, 8)});
  tracker.join(1, 0);
  EXPECT_THAT(waits_of(tracker, 1, {reads(0, 4)}), IsEmpty());
  EXPECT_THAT(waits_of(tracker, 2, {reads(4, 8)}), ElementsAre(point(1, 1)));
  tracker.join_all();
  EXPECT_THAT(waits_of(tracker, 2, {writes(0, 8)}), IsEmpty());
  EXPECT_THAT(waits_of(tracker, 0, {reads(0, 8)}), ElementsAre(point(2, 2)));
}

// The next dispatch of the queue that is joined waits as before.
TEST(QueueTracker, JoinsOneWay) {
  QueueTracker tracker(2);
  waits_of(tracker, 0, {writes(0, 4)});
  waits_of(tracker, 1, {writes(4, 8)});
  tracker.join(1, 0);
  EXPECT_THAT(waits_of(tracker, 0, {reads(4, 8)}), ElementsAre(point(1, 1)));
}

TEST(QueueTracker, CountsTheDispatchesOfEachQueue) {
  QueueTracker tracker(2);
  EXPECT_EQ(tracker.dispatch_count(1), 0u);
  for (int i = 0; i < 3; ++i) waits_of(tracker, 1, {});
  EXPECT_EQ(tracker.dispatch_count(0), 0u);
  EXPECT_EQ(tracker.dispatch_count(1), 3u);
}

// The work of a stage of a pipeline: ranges that never come again, and a token that all hand on.
void hand_on(QueueTracker& tracker, uint64_t step, uint32_t queue_count) {
  const uint64_t at = 1024 + step * 256;
  tracker.add(static_cast<uint32_t>(step % queue_count),
              std::vector<Access>{writes(at, at + 256), writes(0, 4)});
}

TEST(QueueTracker, HoldsBoundedMemoryOnRangesThatNeverComeAgain) {
  for (const uint32_t queue_count : {1u, 3u, 6u}) {
    QueueTracker tracker(queue_count);
    const auto step_count = static_cast<uint64_t>(program_count(200'000, 4));
    size_t most_segments = 0;
    size_t most_clocks = 0;
    size_t most_bytes_at_half = 0;
    size_t most_bytes = 0;
    for (uint64_t step = 0; step < step_count; ++step) {
      hand_on(tracker, step, queue_count);
      most_segments = std::max(most_segments, tracker.segment_count());
      most_clocks = std::max(most_clocks, tracker.clock_count());
      most_bytes = std::max(most_bytes, tracker.size_bytes());
      if (2 * step < step_count) most_bytes_at_half = most_bytes;
    }
    EXPECT_LE(most_segments, (size_t{1} << 14) + 2);
    EXPECT_LE(most_clocks, 257u);
    EXPECT_EQ(most_bytes, most_bytes_at_half) << queue_count;
    EXPECT_LT(most_bytes, size_t{5} << 20) << queue_count;
  }
}

// Two queues wait for each other all the time, and the third, which never waits, may still ask for
// any of it.
TEST(QueueTracker, HoldsBoundedMemoryWhereOneQueueNeverWaits) {
  for (const uint32_t queue_count : {3u, 5u}) {
    QueueTracker tracker(queue_count);
    const auto step_count = static_cast<uint64_t>(program_count(100'000, 4));
    size_t most_clocks = 0;
    for (uint64_t step = 0; step < step_count; ++step) {
      const uint64_t at = step / 2 % 100 * 16;
      tracker.add(static_cast<uint32_t>(step % 2), std::vector<Access>{writes(at, at + 16)});
      most_clocks = std::max(most_clocks, tracker.clock_count());
    }
    EXPECT_EQ(tracker.segment_count(), 100u);
    EXPECT_LE(most_clocks, 400u);
    EXPECT_EQ(waits_of(tracker, 2, {reads(0, 16)}).size(), 1u);
  }
}

}  // namespace
}  // namespace interlock::queue_tracker_test
