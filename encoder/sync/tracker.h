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
#include "encoder/sync/access_codes.h"
#include "encoder/sync/buffer_table.h"
#include "encoder/sync/epoch_keys.h"
#include "encoder/sync/listed_epoch.h"
#include "encoder/sync/segment_map.h"

namespace interlock {

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
  // Cost per access: while epochs are short, linear in the accesses of the epoch, which are at most
  // 320. Else constant for a registered buffer, and a probe for a range seen before, while nobody
  // else cuts their bytes, or for a new one of at most 16 KiB on granules of 256 bytes that nobody
  // used; O(log s) amortized for any other new range, for s segments. Bytes that others
  // cut cost a step per piece; cuts that no registered buffer needs go away in time. Once
  // segment_count() reaches its bound, raw ranges of past epochs are forgotten, and are new again;
  // where they keep coming back, the bound grows.
  bool add(std::span<const Access> ranges, std::span<const BufferAccess> buffers,
           AtomicOp atomic_op = AtomicOp::kNone);
  bool add(std::span<const Access> ranges, AtomicOp atomic_op = AtomicOp::kNone);
  bool add(std::span<const BufferAccess> buffers, AtomicOp atomic_op = AtomicOp::kNone);

  // Forgets all accesses: the caller has issued a full barrier of its own. Cost: constant.
  void begin_epoch();

  // Returns a handle of these bytes. They may overlap those of other buffers. What the current
  // epoch has done to the bytes stays known. Cost: O(log s) and the segments that the bytes cover.
  // A buffer that shares no bytes keeps its cuts until it is unregistered; those of others may go
  // and come.
  BufferId register_buffer(MemoryId memory, ByteRange range);

  // The same for a memory from its first byte to its last, whatever its size.
  BufferId register_buffer(MemoryId memory) { return register_buffer(memory, {0, UINT64_MAX}); }

  // Ends the life of a handle. Accesses to its bytes stay known: an allocator may hand them out
  // again before the next barrier. Requires: the buffer is registered. Cost: constant.
  void unregister_buffer(BufferId buffer);

  // How many pieces of memory are told apart right now. At most 2^14, or three times the pieces
  // that the current epoch and the registered buffers have named, or 16 times those that they tell
  // apart, or the greatest memory index used. Where one in 64 new pieces had been forgotten before,
  // the bound doubles, up to all pieces between two uses of one: a stream that goes back ever
  // further needs ever more.
  size_t segment_count() const { return segments_.segment_count(); }

  // The bytes of memory that the tracker holds. Grows with the maximum that segment_count() has
  // had, with the buffers registered at one time and with the greatest memory index.
  size_t size_bytes() const;

 private:
  // An access to the segments from `first` up to `end`.
  struct Located {
    Segment* first;
    MemoryId memory;
    ByteRange range;
    AccessMode mode;
  };

  // What there was of the segments of an access.
  struct Walked {
    bool is_whole = false;
    bool is_conflict = false;
  };

  // Bytes to merge once the dispatch at hand is recorded.
  struct Walk {
    MemoryId memory;
    ByteRange range;
  };

  // What lists ask of operands. Those of buffers check the handle.

  struct KeyOfRange {
    RangeKey operator()(const Access& access) const {
      return RangeKey::of(access.memory, access.range);
    }
  };

  class KeyOfBuffer {
   public:
    explicit KeyOfBuffer(const BufferTable& table) : checker_(table) {}
    BufferKey operator()(const BufferAccess& access) const {
      checker_.check(access.buffer);
      return BufferKey::of(access.buffer.index);
    }

   private:
    BufferTable::Checker checker_;
  };

  struct RangeKeyOfBuffer {
    const BufferTable& table;

    RangeKey operator()(const BufferAccess& access) const {
      const BufferTable::Bytes bytes = table.bytes_of(access.buffer);
      return RangeKey::of(bytes.memory, bytes.range);
    }
  };

  struct PlaceKeyOfBuffer {
    const BufferTable& table;

    PlaceKey operator()(const BufferAccess& access) const {
      return PlaceKey::of(table.place_of(access.buffer));
    }
  };

  bool count_listed(bool is_conflict) {
    listed_epochs_ += is_conflict;
    return is_conflict;
  }
  bool add_slowly(std::span<const Access> ranges, AtomicOp atomic_op);
  bool add_slowly(std::span<const BufferAccess> buffers, AtomicOp atomic_op);

  // In tracker_lists.cc.
  bool list(std::span<const Access> ranges, AtomicOp atomic_op);
  bool list(std::span<const BufferAccess> buffers, AtomicOp atomic_op);
  bool list(std::span<const Access> ranges, std::span<const BufferAccess> buffers,
            AtomicOp atomic_op);
  bool list_by_handle(std::span<const BufferAccess> buffers, AtomicOp atomic_op);
  bool list_by_place(std::span<const BufferAccess> buffers, AtomicOp atomic_op);
  bool list_by_range(std::span<const BufferAccess> buffers, AtomicOp atomic_op);
  bool end_listing(bool is_conflict, size_t listed_count, bool is_of_buffers);
  void list_buffers_as_ranges() {
    if (listed_buffers_.is_in_use() || listed_places_.is_open()) move_buffers_to_ranges();
  }
  void move_buffers_to_ranges();
  bool outgrow_list(std::span<const Access> ranges, std::span<const BufferAccess> buffers,
                    AtomicOp atomic_op);
  void try_to_leave_lists(size_t listed_count, bool is_of_buffers);
  void leave_lists();

  // In tracker_segments.cc.
  bool look_up(std::span<const Access> ranges, AtomicOp atomic_op);
  bool look_up(std::span<const BufferAccess> buffers, AtomicOp atomic_op);
  bool look_up(std::span<const Access> ranges, std::span<const BufferAccess> buffers,
               AtomicOp atomic_op);
  // What comes of a dispatch whose operands are all known to the segments, or the buffers.
  enum class Known : uint8_t { kNot, kIsFree, kConflicts, kBeginsList };
  template <typename Codes>
  Known add_near(std::span<const Access> ranges, const Codes& codes);
  uint32_t* find_stamp(const Access& access);
  template <typename Codes>
  Known add_known(std::span<const BufferAccess> buffers, const Codes& codes);
  void note_first_uses(std::span<const BufferAccess> buffers);
  bool begins_list();
  bool add_indexed(std::span<const Access> ranges, std::span<const BufferAccess> buffers,
                   AtomicOp atomic_op);
  void append_ranges_of(std::span<const BufferAccess> buffers, std::vector<Access>& ranges) const;
  bool find(std::span<const Access> ranges, std::span<const BufferAccess> buffers,
            AccessCodes codes);
  bool find_by_range(std::span<const BufferAccess> buffers, AccessCodes codes, bool is_first);
  Walked walk(Segment* first, const Access& access, AccessCodes codes);
  bool locate(std::span<const Access> ranges, AccessCodes codes);
  void record_found(std::span<const BufferAccess> buffers, AccessCodes codes);
  void find_located_again();
  Segment* const* record_walked(const Located& access, Segment* const* walked, uint32_t code);
  void record_rest(const Located& access, AccessCodes codes);
  int stamp_until(uint64_t end, Segment* segment, uint32_t code);
  void merge_long_walks();

  // In tracker_far.cc.
  [[gnu::noinline]] bool look_up_far(std::span<const Access> ranges, AtomicOp atomic_op);
  [[gnu::noinline]] bool look_up_far_atomics(std::span<const Access> ranges, AtomicOp atomic_op);
  bool end_far(Known known, std::span<const Access> ranges, AtomicOp atomic_op);
  [[gnu::noinline]] bool add_otherwise(Known known, std::span<const Access> ranges,
                                       AtomicOp atomic_op);
  template <typename Codes>
  Known add_far(std::span<const Access> ranges, const Codes& codes);

  size_t list_limit(bool is_of_buffers) const;
  void next_epoch();

  // See list_limit().
  static constexpr size_t kShortList = 16;  // Accesses of an epoch.
  static constexpr uint32_t kManyCostlyEpochs = 128;
  // Does not fit into the caches of a core. What is looked up is then fetched ahead.
  static constexpr size_t kFarBytes = size_t{1} << 20;
  // Ranges of a dispatch that the fast ways take.
  static constexpr size_t kMostKnown = 16;

  SegmentMap segments_;
  uint32_t epoch_ = AccessCodes::kCodeCount;  // Segments start with the stamp 0: not used.

  // While epochs are short, what they do is in one of the lists, and the segments know nothing of
  // the current one. Buffers that share bytes are listed by their places while they are few and
  // alone, and else as ranges.
  // At most one of the lists is in use, and has all of the epoch then.
  bool is_listing_ = true;
  ListedEpoch<RangeKey> listed_ranges_;
  ListedEpoch<BufferKey> listed_buffers_;
  ShortEpoch<PlaceKey> listed_places_;
  size_t listed_epochs_ = 0;      // Since listing began.
  size_t trial_epochs_ = 16;      // After so many, segments that were costly are tried again.
  size_t access_count_ = 0;       // Of the current epoch, while it is not listed.
  size_t walk_count_ = 0;         // The same: pieces walked.
  size_t make_step_count_ = 0;    // The same: pieces made, each of which counts as many walked.
  size_t trial_left_ = 0;         // Epochs of the trial at hand, which are not listed.
  bool is_index_costly_ = false;  // The last epoch took many steps an access.
  uint32_t costly_epochs_ = 0;    // In a row, that took more than one.
  bool looks_up_ranges_ = false;  // The last dispatch that was not listed did, not only buffers.
  uint32_t short_epochs_ = 0;     // In a row, none of them listed.
  uint32_t patience_ = 1;         // As many make it worth while to list.

  // Of the dispatch at hand.
  std::vector<Located> located_;
  size_t located_count_ = 0;
  // The segments after the first one of each, in one row, as long as none was made since.
  std::vector<Segment*> walked_;
  bool has_walked_all_ = true;
  bool is_by_stamp_ = true;       // Its buffers are exclusive, and not among what was located.
  std::vector<Access> resolved_;  // Its buffers as ranges.
  std::vector<Walk> long_walks_;
};

// Few accesses and no atomics: that is most of what most streams are, and takes no call. Buffers
// are compared by their handles, or where some share bytes by their places.

[[gnu::always_inline]] inline bool HazardTracker::add(std::span<const Access> ranges,
                                                      AtomicOp atomic_op) {
  if (atomic_op == AtomicOp::kNone) [[likely]] {
    const ShortEpochAdded added = listed_ranges_.add_to_few(ranges, PlainCodes(), KeyOfRange());
    if (added != ShortEpochAdded::kNot) [[likely]] {
      return count_listed(added == ShortEpochAdded::kConflicts);
    }
  }
  return add_slowly(ranges, atomic_op);
}

[[gnu::always_inline]] inline bool HazardTracker::add(std::span<const BufferAccess> buffers,
                                                      AtomicOp atomic_op) {
  if (atomic_op == AtomicOp::kNone) [[likely]] {
    const BufferTable& table = segments_.buffers;
    const ShortEpochAdded added =
        table.shared_count() > 0
            ? listed_places_.add(buffers, PlainCodes(), PlaceKeyOfBuffer{table})
            : listed_buffers_.add_to_few(buffers, PlainCodes(), KeyOfBuffer(table));
    if (added != ShortEpochAdded::kNot) [[likely]] {
      return count_listed(added == ShortEpochAdded::kConflicts);
    }
  }
  return add_slowly(buffers, atomic_op);
}

}  // namespace interlock
