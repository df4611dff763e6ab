// What the tracker gets to know of ranges by trials, while epochs are short.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "encoder/sync/tracker.h"

namespace interlock::tracker_trials_test {
namespace {

// Epochs of 32 accesses, which are listed while their ranges are new: of `count` epochs each range
// comes again after `period`.
size_t segments_after_epochs(uint64_t count, uint64_t period) {
  constexpr uint64_t kAccesses = 32;
  HazardTracker tracker;
  for (uint64_t epoch = 0; epoch < count; ++epoch) {
    tracker.begin_epoch();
    for (uint64_t i = 0; i < kAccesses; ++i) {
      const uint64_t at = kAccesses * (epoch % period) + i;
      Access access;
      access.memory = MemoryId(0);
      access.mode = AccessMode::kWrite;
      access.range = {64 * at, 64 * at + 40};
      EXPECT_FALSE(tracker.add({&access, 1}));
    }
  }
  return tracker.segment_count();
}

// No two epochs in a row have a range in common: one epoch tells nothing of the next one.
TEST(HazardTracker, GetsToKnowRangesThatComeBackAfterManyEpochs) {
  EXPECT_EQ(segments_after_epochs(10'000, 100), 3'200u);
}

TEST(HazardTracker, GetsToKnowFewRangesThatNeverComeBack) {
  const size_t known = segments_after_epochs(10'000, 10'000);
  EXPECT_GT(known, 3'200u);   // The same trials.
  EXPECT_LT(known, 20'000u);  // Of 320,000 ranges.
}

}  // namespace
}  // namespace interlock::tracker_trials_test
