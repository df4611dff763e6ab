// HazardTracker: says, one dispatch at a time, whether it conflicts with the dispatches since the
// last barrier. A runtime can use it as it is. It sees memories as small numbers and byte ranges;
// ranges that a runtime keeps are registered once and named by a handle from then on:
//
//     HazardTracker tracker;
//     const BufferId weights = tracker.register_buffer(heap, {0, 4096});  // At allocation.
//     const BufferId output = tracker.register_buffer(heap, {4096, 8192});
//
//     const BufferAccess accesses[] = {{weights, AccessMode::kRead}, {output, AccessMode::kWrite}};
//     if (tracker.add(accesses)) issue_barrier();  // At each dispatch.
//     issue_dispatch();
//
//     tracker.unregister_buffer(output);  // At deallocation.
//
// One tracker serves one queue. It is not synchronized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/sync/segment_map.h"

namespace interlock {

// A registered buffer. A handle that was unregistered is never valid again, though its index is
// reused.
struct BufferId {
  uint32_t index = UINT32_MAX;
  uint32_t generation = 0;

  bool operator==(const BufferId&) const = default;
};

// One operand of a dispatch: all bytes of a registered buffer.
struct BufferAccess {
  BufferId buffer;
  AccessMode mode = AccessMode::kRead;
};

class HazardTracker {
 public:
  // Returns true iff a dispatch with these accesses conflicts with the current epoch, on any shared
  // byte: RAW, WAR or WAW. Then a new epoch begins, that is, the caller issues a full barrier
  // first. Either way the dispatch is now part of the current epoch. Two atomics of the same
  // operation do not conflict; otherwise an atomic is a read and a write. An empty range conflicts
  // with nothing. `ranges` and `buffers` may share bytes, and so may any two buffers.
  // Requires: every buffer is registered. Memory indices are small: each costs a few bytes, whether
  // it is used or not.
  // Cost per access: constant for a registered buffer, and a probe for a range seen before, while
  // nobody else cuts their bytes; O(log s) amortized for a new range, for s segments. Bytes that
  // others cut cost a step per piece; cuts that no registered buffer needs go away in time. Once
  // segment_count() reaches its bound, raw ranges of past epochs are forgotten, and are new again.
  bool add(std::span<const Access> ranges, std::span<const BufferAccess> buffers,
           AtomicOp atomic_op = AtomicOp::kNone);
  bool add(std::span<const Access> ranges, AtomicOp atomic_op = AtomicOp::kNone);
  bool add(std::span<const BufferAccess> buffers, AtomicOp atomic_op = AtomicOp::kNone);

  // Forgets all accesses: the caller has issued a full barrier of its own. Cost: constant.
  void begin_epoch() { epoch_ += kCodeCount; }

  // Returns a handle of these bytes. They may overlap those of other buffers: the pieces are told
  // apart here, once. What the current epoch has done to the bytes stays known.
  // Cost: O(log s), and two cuts that stay until the buffer is unregistered.
  BufferId register_buffer(MemoryId memory, ByteRange range);

  // The same for a memory from its first byte to its last, whatever its size.
  BufferId register_buffer(MemoryId memory) { return register_buffer(memory, {0, UINT64_MAX}); }

  // Ends the life of a handle. Accesses to its bytes stay known: an allocator may hand them out
  // again before the next barrier. Requires: the buffer is registered. Cost: constant.
  void unregister_buffer(BufferId buffer);

  // How many pieces of memory are told apart right now. At most 2^14, or twice the pieces that
  // the current epoch and the registered buffers tell apart, or the greatest memory index used.
  size_t segment_count() const { return segments_.segment_count(); }

  // The bytes of memory that the tracker holds. Grows with the maximum that segment_count() has
  // had, with the buffers registered at one time and with the greatest memory index.
  size_t size_bytes() const;

 private:
  // A segment's stamp is the epoch of its last use, plus a code of what that epoch has done to it:
  // 0 where it has read, an AtomicOp, or kWriteCode. Epochs are multiples of kCodeCount, so that a
  // stamp below the current epoch means: not used since the last barrier.
  //
  // Any mixture is a write: an epoch that does not conflict with itself mixes accesses only within
  // one dispatch, and whatever comes later conflicts with one part of the mixture or the other.
  static constexpr uint64_t kWriteCode = 15;
  static constexpr uint64_t kCodeCount = 16;

  // The segments from `first` up to, and without, `behind`. Both begin at pinned cuts, so the ids
  // last as long as the buffer.
  struct alignas(16) Buffer {
    uint32_t first = SegmentMap::kNone;
    uint32_t behind = SegmentMap::kNone;  // kNone: the buffer has the memory's last segment.
    uint32_t generation = 0;
  };

  // What the modes of one dispatch do to a stamp.
  class Codes;

  // Bytes to merge once the dispatch at hand is recorded.
  struct Walk {
    MemoryId memory;
    ByteRange range;
  };

  template <typename... Spans>
  bool add_all(AtomicOp atomic_op, Spans... accesses);
  const Buffer& buffer(BufferId id) const;
  bool find_conflict(std::span<const Access> ranges, Codes codes);
  bool find_conflict(std::span<const BufferAccess> buffers, Codes codes) const;
  void record(std::span<const Access> ranges, Codes codes);
  void record(std::span<const BufferAccess> buffers, Codes codes);
  void record_rest(const Segment& first, const Access& access, Codes codes);
  void note_long_walk(const Buffer& bytes);
  void merge_long_walks();

  SegmentMap segments_;
  std::vector<Buffer> buffers_;
  std::vector<uint32_t> free_buffers_;
  std::vector<uint32_t> first_segments_;  // By range of the dispatch at hand.
  std::vector<Walk> long_walks_;          // Of the dispatch at hand.
  uint64_t epoch_ = kCodeCount;           // Segments start with the stamp 0: not used.
};

}  // namespace interlock
