// Ranges that are known, and so many that their segments are fetched ahead.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/sync/tracker.h"
#include "tests/encoder/sync/byte_tracker.h"
#include "tests/encoder/sync/random_dispatches.h"
#include "tests/program_count.h"

namespace interlock::tracker_far_test {
namespace {

// So many memories that cells of equal begins come upon the same slot.
constexpr uint64_t kMemories = 400;
constexpr uint64_t kCells = 200;  // Of each memory.
constexpr uint64_t kOwned = 10;   // The last ones of them.
constexpr uint64_t kCellBytes = 256;
constexpr uint64_t kGapBytes = 64;  // So that cells are never merged.

// The bytes that the tracker is told: a cell for a byte.
Access scaled(Access access) {
  access.range.begin *= kCellBytes + kGapBytes;
  access.range.end = access.range.end * (kCellBytes + kGapBytes) - kGapBytes;
  return access;
}

Access cells(uint64_t memory, uint64_t first, uint64_t count, AccessMode mode) {
  Access access;
  access.memory = MemoryId(static_cast<uint32_t>(memory));
  access.range = {first, first + count};
  access.mode = mode;
  return access;
}

// Most operands are a cell that is a segment; a few are two of them, or are told by a handle.
// Writes are rare, so that epochs are long and are looked up. `write_in`: of so many operands one
// writes.
class FarStream {
 public:
  FarStream(uint64_t seed, uint64_t write_in)
      : random_(seed), write_in_(write_in), obvious_(kMemories, kCells) {
    for (uint64_t i = 0; i < kMemories * kOwned; ++i) {
      const Access owned = cells(i / kOwned, kCells - 1 - i % kOwned, 1, AccessMode::kRead);
      const Access bytes = scaled(owned);
      buffers_.push_back({tracker_.register_buffer(bytes.memory, bytes.range), owned});
    }
    // One epoch of all: what is there afterwards is known.
    for (uint64_t i = 0; i < kMemories * kCells; ++i) {
      const Access access = cells(i % kMemories, i / kMemories, 1, AccessMode::kRead);
      add({access}, AtomicOp::kNone);
    }
    tracker_.begin_epoch();
    obvious_.begin_epoch();
  }

  // Returns the number of the first dispatch that the trackers disagree about, or -1.
  int64_t first_disagreement(int64_t dispatches) {
    for (int64_t i = 0; i < dispatches; ++i) {
      const AtomicOp op = std::array{AtomicOp::kNone, AtomicOp::kNone, AtomicOp::kAdd,
                                     AtomicOp::kMin}[random_.below(4)];
      std::vector<Access> accesses;
      if (random_.below(8) == 0) {
        if (!add_of_buffer()) return i;
        continue;
      }
      const uint64_t most = random_.below(64) == 0 ? 24 : 5;
      for (uint64_t k = 1 + random_.below(most); k > 0; --k) accesses.push_back(random_access(op));
      if (!add(accesses, op)) return i;
    }
    return -1;
  }

  int64_t conflict_count() const { return conflict_count_; }
  size_t segment_count() const { return tracker_.segment_count(); }

 private:
  Access random_access(AtomicOp op) {
    const uint64_t count = random_.below(200) == 0 ? 2 : 1;
    const uint64_t first = random_.below(kCells - 1);
    AccessMode mode = AccessMode::kRead;
    if (random_.below(write_in_) == 0) {
      mode = random_.below(2) == 0 ? AccessMode::kWrite : AccessMode::kUpdate;
    } else if (op != AtomicOp::kNone && random_.below(2) == 0) {
      mode = AccessMode::kAtomic;
    }
    return cells(random_.below(kMemories), first, count, mode);
  }

  // The stamp of a buffer's segment is the buffer's.
  bool add_of_buffer() {
    const Buffer& buffer = buffers_[random_.below(buffers_.size())];
    Access access = buffer.cell;
    if (random_.below(write_in_) == 0) access.mode = AccessMode::kWrite;
    const bool expected = obvious_.add({&access, 1}, AtomicOp::kNone);
    conflict_count_ += expected;
    const BufferAccess by_handle{buffer.id, access.mode};
    return tracker_.add(std::span(&by_handle, 1)) == expected;
  }

  bool add(const std::vector<Access>& accesses, AtomicOp op) {
    const bool expected = obvious_.add(accesses, op);
    conflict_count_ += expected;
    std::vector<Access> ranges;
    for (const Access& access : accesses) ranges.push_back(scaled(access));
    return tracker_.add(ranges, op) == expected;
  }

  struct Buffer {
    BufferId id;
    Access cell;
  };

  TestRandom random_;
  uint64_t write_in_;
  HazardTracker tracker_;
  ByteTracker obvious_;
  std::vector<Buffer> buffers_;
  int64_t conflict_count_ = 0;
};

TEST(HazardTrackerProperty, AgreesOnManyRangesThatAreKnown) {
  for (const uint64_t write_in : {50, 400}) {
    FarStream stream(write_in, write_in);
    ASSERT_EQ(stream.first_disagreement(is_slow_build() ? 20'000 : 100'000), -1) << write_in;
    EXPECT_GT(stream.conflict_count(), is_slow_build() ? 20 : 100);
    EXPECT_GT(stream.segment_count(),
              kMemories * kCells * 9 / 10);  // 36 bytes each: over a megabyte.
  }
}

}  // namespace
}  // namespace interlock::tracker_far_test
