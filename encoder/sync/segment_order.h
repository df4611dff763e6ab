// SegmentOrder: where the segments of each memory begin, in ascending order, but sorted only once
// somebody asks: most ranges share no byte with another, and then nobody ever does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/ids.h"
#include "encoder/program/range.h"
#include "encoder/sync/boundary_index.h"
#include "encoder/sync/chunked_array.h"
#include "encoder/sync/granule_set.h"
#include "encoder/sync/segment_table.h"

namespace interlock {

class SegmentOrder {
 public:
  static constexpr uint64_t kNowhere = UINT64_MAX;

  // Enters a segment that is `range` and returns true, if it is seen at once that no segment shares
  // a byte with it. Else returns false, and the range is taken to be of segments from now on.
  // Requires: `range` is not empty. Cost: amortized constant.
  bool enter_if_apart(MemoryId memory, ByteRange range);

  // Enters one that begins at `begin`. Requires: enter_if_apart() has said false of its bytes.
  // Cost: O(log n), constant where the last question has been.
  void enter(MemoryId memory, uint64_t begin);

  // The greatest begin <= offset, or kNowhere. It may be 0 where no segment begins there.
  // Cost: amortized O(log n), as each segment is sorted once.
  uint64_t last_until(MemoryId memory, uint64_t offset);

  // The least begin > offset, or kNowhere; it may be one that was erased. Costs as last_until().
  uint64_t first_after(MemoryId memory, uint64_t offset);

  // Removes all begins in [first, last), which are `count`. Requires: one before `first`.
  // Cost: amortized O(log n) and the removed ones.
  void erase(MemoryId memory, uint64_t first, uint64_t last, size_t count);

  // Starts anew with the segments of the table, which are `segments`, in any order. Requires: all
  // of them were entered before, or begin where one did.
  // Cost: linear in what there was. Where nobody has asked since the last time, nothing is sorted.
  template <typename Segment>
  void restart(const std::vector<Segment>& segments, BasicSegmentTable<Segment>& table);

  size_t memory_count() const { return memories_.size(); }
  size_t size_bytes() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Memory {
    uint64_t only = 0;         // The first that was entered.
    BoundaryIndex::Tree tree;  // Once there was an order; it has 0 even if none begins there.
    uint32_t count = 0;
    uint32_t only_bytes = 0;        // Of the first, unless it is marked, or is too long to be.
    uint32_t last_waiting = kNone;  // In waiting_: what the tree does not have.
    bool is_marked_in_full = true;  // No segment is too long to be marked.
    bool was_asked = false;         // Since the last restart().

    bool has_only() const { return tree.root == BoundaryIndex::kNone && last_waiting == kNone; }
  };

  // One that is to be sorted.
  struct Waiting {
    uint64_t begin;
    uint32_t next;  // Of the same memory, or kNone. Free places are one list, too.
  };

  Memory& memory_at(MemoryId memory);
  void enter_first(Memory& memory, ByteRange range);
  void mark_first(MemoryId memory);
  void wait(Memory& memory, uint64_t begin);
  void append_waiting(Memory& memory, uint64_t begin);
  void sort(Memory& memory);
  template <typename Segment>
  static void keep_those_of(BasicSegmentTable<Segment>& table, uint32_t memory,
                            std::vector<uint64_t>& begins, size_t first);
  void append_sorted(Memory& memory, std::span<const uint64_t> begins);
  void enter_again(MemoryId id, ByteRange range);

  std::vector<Memory> memories_;  // By memory index.
  GranuleSet marks_;
  BoundaryIndex index_;
  ChunkedArray<Waiting> waiting_;
  uint32_t free_waiting_ = kNone;
  std::vector<uint64_t> sorted_;
};

}  // namespace interlock
