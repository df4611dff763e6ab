// The tracker gives the answers of an obvious one: on everything tiny, and on random streams that
// mix raw ranges, registered buffers and atomics, through cuts, merges and sweeps.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "encoder/sync/tracker.h"
#include "tests/encoder/sync/byte_tracker.h"
#include "tests/encoder/sync/random_dispatches.h"
#include "tests/program_count.h"

namespace interlock::tracker_property_test {
namespace {

Access access_of(uint64_t memory, AccessMode mode, ByteRange range) {
  Access access;
  access.memory = MemoryId(memory);
  access.mode = mode;
  access.range = range;
  return access;
}

// --- Everything tiny

// A tracker, the obvious one beside it, and up to two buffers; small enough to be copied at every
// step.
class Pair {
 public:
  explicit Pair(uint64_t memory_bytes) : obvious_(1, memory_bytes) {}

  bool is_registered(size_t slot) const { return is_registered_[slot]; }

  void register_buffer(size_t slot, ByteRange range) {
    is_registered_[slot] = true;
    ranges_[slot] = range;
    buffers_[slot] = tracker_.register_buffer(MemoryId(0), range);
  }

  void unregister_buffer(size_t slot) {
    is_registered_[slot] = false;
    tracker_.unregister_buffer(buffers_[slot]);
  }

  void begin_epoch() {
    tracker_.begin_epoch();
    obvious_.begin_epoch();
  }

  // Return true iff both trackers say the same.
  bool add(AccessMode mode, ByteRange range) {
    const Access access = access_of(0, mode, range);
    return tracker_.add({&access, 1}, AtomicOp::kAdd) == obvious_.add({&access, 1}, AtomicOp::kAdd);
  }
  bool add(AccessMode mode, size_t slot) {
    const BufferAccess access{buffers_[slot], mode};
    const Access meaning = access_of(0, mode, ranges_[slot]);
    return tracker_.add({&access, 1}, AtomicOp::kAdd) ==
           obvious_.add({&meaning, 1}, AtomicOp::kAdd);
  }

 private:
  HazardTracker tracker_;
  ByteTracker obvious_;
  std::array<bool, 2> is_registered_ = {};
  std::array<BufferId, 2> buffers_;
  std::array<ByteRange, 2> ranges_;
};

// Indirect arguments are reads as uniforms are: more of these would leave fewer conflicts.
constexpr std::array kModes = {AccessMode::kUniform, AccessMode::kRead, AccessMode::kWrite,
                               AccessMode::kUpdate, AccessMode::kAtomic};
static_assert(kModes.size() + 1 == kAccessModeCount);

// Continues in every way by up to `steps` steps, or by one in `stride` first steps; returns how
// many ways there are, or 0 once the trackers disagree.
uint64_t count_agreeing(const Pair& pair, const std::vector<ByteRange>& ranges, int steps,
                        size_t stride = 1) {
  uint64_t count = 1;
  if (steps == 0) return count;
  size_t way = 0;
  const auto go_on = [&](const auto& step) {
    if (count == 0 || way++ % stride != 0) return;
    Pair next = pair;
    const uint64_t continued = step(next) ? count_agreeing(next, ranges, steps - 1) : 0;
    count = continued == 0 ? 0 : count + continued;
  };
  for (const ByteRange range : ranges) {
    for (const AccessMode mode : kModes) go_on([&](Pair& next) { return next.add(mode, range); });
  }
  for (size_t slot = 0; slot < 2; ++slot) {
    if (pair.is_registered(slot)) {
      for (const AccessMode mode : kModes) go_on([&](Pair& next) { return next.add(mode, slot); });
      go_on([&](Pair& next) {
        next.unregister_buffer(slot);
        return true;
      });
    } else if (slot == 0 || pair.is_registered(0)) {  // The slots are alike.
      for (const ByteRange range : ranges) {
        go_on([&](Pair& next) {
          next.register_buffer(slot, range);
          return true;
        });
      }
    }
  }
  go_on([&](Pair& next) {
    next.begin_epoch();
    return true;
  });
  return count;
}

std::vector<ByteRange> all_ranges(uint64_t memory_bytes) {
  std::vector<ByteRange> ranges;
  for (uint64_t begin = 0; begin < memory_bytes; ++begin) {
    for (uint64_t end = begin + 1; end <= memory_bytes; ++end) ranges.push_back({begin, end});
  }
  return ranges;
}

// All first steps where tests try all; else one in so many, of each mode some.
size_t first_step_stride() { return tries_all() ? 1 : 4; }

TEST(HazardTrackerProperty, AgreesOnEveryFourStepsOnTwoBytes) {
  const int step_count = is_slow_build() ? 3 : 4;
  const size_t stride = first_step_stride();
  EXPECT_GT(count_agreeing(Pair(2), all_ranges(2), step_count, stride),
            (is_slow_build() ? 1'000u : 30'000u) / stride);
}

TEST(HazardTrackerProperty, AgreesOnEveryThreeStepsOnFourBytes) {
  const int step_count = is_slow_build() ? 2 : 3;
  const size_t stride = first_step_stride();
  EXPECT_GT(count_agreeing(Pair(4), all_ranges(4), step_count, stride),
            (is_slow_build() ? 1'000u : 30'000u) / stride);
}

// Two buffers that overlap in every way, and then every two dispatches.
TEST(HazardTrackerProperty, AgreesOnEveryTwoStepsOverEveryTwoBuffersOnFourBytes) {
  const std::vector<ByteRange> ranges = all_ranges(4);
  // All pairs where tests try all; else a share of them.
  const size_t stride = tries_all() ? 1 : is_slow_build() ? 19 : 13;
  size_t i = 0;
  for (const ByteRange first : ranges) {
    for (const ByteRange second : ranges) {
      if (i++ % stride != 0) continue;
      Pair pair(4);
      pair.register_buffer(0, first);
      pair.register_buffer(1, second);
      ASSERT_GT(count_agreeing(pair, ranges, 2), 1'000u);
    }
  }
}

// --- Random streams

struct StreamOptions {
  uint64_t memories = 1;
  uint64_t memory_bytes = 400;
  uint64_t max_read_bytes = 400;
  uint64_t max_write_bytes = 4;
  uint64_t buffers = 0;          // At most so many at a time; they come and go.
  uint64_t replace_in = 4;       // One of them is replaced before one in so many dispatches.
  bool are_all_buffers = false;  // No access is to a range, once there are buffers.
  uint64_t whole_buffer_in = 0;  // One in so many buffers is a whole memory.
  uint64_t whole_in = 0;  // One in so many accesses is to a memory from its first byte to its last.
  uint64_t grain_bytes = 1;  // Ranges are this times as large, and lie at multiples of it,
  uint64_t odd_in = 0;       // but for one in so many, which begins between.
  int dispatches = 2'000;
};

// One stream, dispatch by dispatch, into both trackers.
class RandomStream {
 public:
  RandomStream(uint64_t seed, const StreamOptions& options)
      : random_(seed), options_(options), obvious_(options.memories, options.memory_bytes) {}

  // Returns the number of the first dispatch on which the trackers disagree, or -1.
  int first_disagreement() {
    for (int i = 0; i < options_.dispatches; ++i) {
      if (options_.buffers > 0 && random_.below(options_.replace_in) == 0) replace_a_buffer();
      if (random_.below(100) == 0) {
        tracker_.begin_epoch();
        obvious_.begin_epoch();
      }
      if (!agree_on_a_dispatch()) return i;
      most_segments_ = std::max(most_segments_, tracker_.segment_count());
    }
    return -1;
  }

  int conflict_count() const { return conflict_count_; }
  size_t most_segments() const { return most_segments_; }

 private:
  Access random_access() {
    const bool is_read = random_.below(8) != 0;
    const uint64_t max_bytes = is_read ? options_.max_read_bytes : options_.max_write_bytes;
    const uint64_t grain = options_.grain_bytes;
    const uint64_t size = grain * random_.below(1 + random_.below(max_bytes / grain));
    uint64_t begin = grain * random_.below((options_.memory_bytes - size) / grain);
    if (is_one_in(options_.odd_in)) begin += random_.below(grain);
    const AccessMode mode = kModes[is_read ? random_.below(2) : 2 + random_.below(3)];
    return access_of(random_.below(options_.memories), mode, {begin, begin + size});
  }

  bool is_one_in(uint64_t many) { return many > 0 && random_.below(many) == 0; }

  void replace_a_buffer() {
    if (buffers_.size() == options_.buffers) {
      const size_t old = random_.below(buffers_.size());
      tracker_.unregister_buffer(buffers_[old].id);
      buffers_[old] = buffers_.back();
      buffers_.pop_back();
    }
    Access bytes = random_access();
    const bool is_whole = is_one_in(options_.whole_buffer_in);
    const ByteRange range = is_whole ? ByteRange{0, UINT64_MAX} : bytes.range;
    if (is_whole) bytes.range = {0, options_.memory_bytes};
    buffers_.push_back({tracker_.register_buffer(bytes.memory, range), bytes});
  }

  bool agree_on_a_dispatch() {
    std::vector<Access> ranges;
    std::vector<BufferAccess> buffers;
    std::vector<Access> meaning;
    const AtomicOp op =
        std::array{AtomicOp::kNone, AtomicOp::kAdd, AtomicOp::kMin}[random_.below(3)];
    for (uint64_t k = random_.below(4); k > 0; --k) {
      Access access = random_access();
      // Without an operation there is nothing that commutes.
      if (op == AtomicOp::kNone && access.is_atomic()) access.mode = AccessMode::kUpdate;
      if (!buffers_.empty() && (options_.are_all_buffers || random_.below(2) == 0)) {
        const Buffer& buffer = buffers_[random_.below(buffers_.size())];
        buffers.push_back({buffer.id, access.mode});
        access.memory = buffer.bytes.memory;
        access.range = buffer.bytes.range;
      } else if (is_one_in(options_.whole_in)) {
        ranges.push_back(access_of(access.memory.index, access.mode, {0, UINT64_MAX}));
        access.range = {0, options_.memory_bytes};
      } else {
        ranges.push_back(access);
      }
      meaning.push_back(access);
    }
    const bool expected = obvious_.add(meaning, op);
    conflict_count_ += expected;
    if (buffers.empty()) return tracker_.add(ranges, op) == expected;
    if (ranges.empty()) return tracker_.add(buffers, op) == expected;
    return tracker_.add(ranges, buffers, op) == expected;
  }

  struct Buffer {
    BufferId id;
    Access bytes;
  };

  TestRandom random_;
  StreamOptions options_;
  HazardTracker tracker_;
  ByteTracker obvious_;
  std::vector<Buffer> buffers_;
  int conflict_count_ = 0;
  size_t most_segments_ = 0;
};

void expect_agreement(const StreamOptions& options, uint64_t seeds, size_t min_segments) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    RandomStream stream(seed, options);
    ASSERT_EQ(stream.first_disagreement(), -1) << "seed " << seed;
    // Neither answer is so frequent that the other goes unseen.
    EXPECT_GT(stream.conflict_count(), options.dispatches / 200) << seed;
    EXPECT_LT(stream.conflict_count(), options.dispatches * 9 / 10) << seed;
    EXPECT_GT(stream.most_segments(), min_segments) << seed;
  }
}

// Few writes to small ranges, many reads of ranges of all sizes: long walks, and thus merges.
TEST(HazardTrackerProperty, AgreesOnStreamsOfRawRanges) {
  expect_agreement({}, is_slow_build() ? 4 : 20, 60);
}

TEST(HazardTrackerProperty, AgreesOnStreamsThatMixRawRangesAndBuffersThatComeAndGo) {
  StreamOptions options;
  options.memories = 3;
  options.memory_bytes = 120;
  options.max_read_bytes = 100;
  options.buffers = 12;
  expect_agreement(options, is_slow_build() ? 4 : 20, 60);
}

// Those that share bytes are listed by their places; where one has no place, as ranges.
TEST(HazardTrackerProperty, AgreesOnStreamsOfBuffersAlone) {
  StreamOptions options;
  options.memories = 3;
  options.max_read_bytes = 40;
  options.max_write_bytes = 30;
  options.buffers = 12;
  options.replace_in = 40;
  options.are_all_buffers = true;
  expect_agreement(options, 40, 1);
  options.whole_buffer_in = 8;
  expect_agreement(options, 40, 1);
}

TEST(HazardTrackerProperty, AgreesOnStreamsOfManyBuffers) {
  StreamOptions options;
  options.memory_bytes = 4'000;
  options.max_read_bytes = 300;
  options.max_write_bytes = 30;
  options.buffers = 200;
  expect_agreement(options, is_slow_build() ? 3 : 10, 300);
}

// Small ranges in a large memory: nearly all are new, so that sweeps and a deep index take part;
// conflicts come from many short writes.
TEST(HazardTrackerProperty, AgreesOnStreamsThatAreSwept) {
  StreamOptions options;
  options.memory_bytes = 200'000;
  options.max_read_bytes = 24;
  options.max_write_bytes = 200;
  options.buffers = 1'000;
  options.dispatches = 60'000;
  expect_agreement(options, tries_all() ? 3 : 1, 16'000);
}

// Ranges on granules of their own, as allocators give them, and seldom one that is not: most of
// them wait unsorted, through sweeps, until one asks what lies around it.
TEST(HazardTrackerProperty, AgreesOnStreamsOfRangesThatSeldomNeedAnOrder) {
  for (const uint64_t odd_in : {20, 500}) {
    StreamOptions options;
    options.memories = 2;
    options.memory_bytes = uint64_t{6} << 20;
    options.max_read_bytes = 1'024;
    options.max_write_bytes = 20'480;  // A few are too long to be marked.
    options.grain_bytes = 256;
    options.odd_in = odd_in;
    options.dispatches = is_slow_build() ? 6'000 : 30'000;
    expect_agreement(options, tries_all() ? 3 : 1, is_slow_build() ? 2'000 : 10'000);
  }
}

// Many memories, used whole as often as not: sweeps forget those in which nothing is told apart,
// and must not forget what the epoch has done to them.
TEST(HazardTrackerProperty, AgreesOnStreamsOverManyMemoriesThatAreSwept) {
  StreamOptions options;
  options.memories = 3'000;
  options.memory_bytes = 16;
  options.max_read_bytes = 16;
  options.max_write_bytes = 16;
  options.whole_in = 2;
  options.dispatches = 60'000;
  expect_agreement(options, tries_all() ? 3 : 1, 16'000);
}

// Blocks that are never cut, each named by its range or by its buffer: once all were seen, every
// dispatch is found at once. Now and then one names a block twice.
TEST(HazardTrackerProperty, AgreesOnStreamsOfBlocksThatComeAgain) {
  constexpr uint64_t kBlocks = 200;
  constexpr uint64_t kBlockBytes = 4;
  for (const uint64_t write_in : {6, 40, 400}) {
    TestRandom random(write_in);
    HazardTracker tracker;
    ByteTracker obvious(1, kBlocks * kBlockBytes);
    std::vector<BufferId> ids;
    for (uint64_t i = 0; i < kBlocks; ++i) {
      ids.push_back(tracker.register_buffer(MemoryId(0), {i * kBlockBytes, (i + 1) * kBlockBytes}));
    }
    int conflict_count = 0;
    const int count = program_count(30'000, 5);
    for (int i = 0; i < count; ++i) {
      const bool is_of_buffers = random.below(3) == 0;
      const AtomicOp op = std::array{AtomicOp::kNone, AtomicOp::kNone, AtomicOp::kAdd,
                                     AtomicOp::kMin}[random.below(4)];
      std::vector<Access> meaning;
      std::vector<BufferAccess> buffers;
      for (uint64_t k = 1 + random.below(4); k > 0; --k) {
        const bool repeats = !meaning.empty() && random.below(20) == 0;
        const uint64_t drawn = random.below(kBlocks);
        const uint64_t block = repeats ? meaning.back().range.begin / kBlockBytes : drawn;
        AccessMode mode = AccessMode::kRead;
        if (random.below(write_in) == 0) mode = kModes[2 + random.below(3)];
        if (op == AtomicOp::kNone && mode == AccessMode::kAtomic) mode = AccessMode::kWrite;
        meaning.push_back(access_of(0, mode, {block * kBlockBytes, (block + 1) * kBlockBytes}));
        buffers.push_back({ids[block], mode});
      }
      const bool expected = obvious.add(meaning, op);
      conflict_count += expected;
      ASSERT_EQ(is_of_buffers ? tracker.add(buffers, op) : tracker.add(meaning, op), expected) << i;
    }
    EXPECT_GT(conflict_count, count / 500);
    EXPECT_LT(conflict_count, count / 2);
  }
}

}  // namespace
}  // namespace interlock::tracker_property_test
