// LifetimesByBytes: which lifetime statements change some bytes, of those between two.
//
// For example, `free x` of bytes 0 to 16, `free y` of 16 to 32 and `reset m` of all: of bytes 20 to
// 24 these are the second and the third, and no look at the first is needed to know it. A program
// with a free for each of its temporaries asks so for its weights at each step.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

class LifetimesByBytes {
 public:
  // None.
  LifetimesByBytes() = default;

  // Of the statements `ids`, which ascend. Cost: O(n log n) time and memory for n statements.
  LifetimesByBytes(const Program& program, std::span<const LifetimeId> ids);

  // Adds to `lists` those from `begin` on and before `end` that change some of `bytes`, as lists
  // that ascend and are not empty; one may be in several. They live as long as this.
  // Cost: O(log^2 n).
  void find(MemoryId memory, ByteRange bytes, LifetimeId begin, LifetimeId end,
            std::vector<std::span<const LifetimeId>>& lists) const;

  // The last one before `end` that changes some of `bytes`, or none. Cost: O(log^2 n).
  LifetimeId last_before(LifetimeId end, MemoryId memory, ByteRange bytes) const;

 private:
  // Of a run of pieces, which is a node of a binary tree.
  struct Node {
    std::vector<LifetimeId> all;     // What changes all of them, and not all of a larger one.
    std::vector<LifetimeId> within;  // What is in `all` of a smaller one.
  };

  // The first piece that begins at the byte or after it.
  size_t piece_at(MemoryId memory, uint64_t byte) const;
  void add(LifetimeId id, size_t begin, size_t end);
  template <typename Visit>
  void visit_lists(size_t node, size_t first, size_t last, size_t begin, size_t end,
                   const Visit& visit) const;
  template <typename Visit>
  void visit_lists(MemoryId memory, ByteRange bytes, const Visit& visit) const;

  // Where a statement begins or ends to change bytes. A piece reaches from each to the next.
  std::vector<std::pair<MemoryId, uint64_t>> edges_;
  std::vector<Node> nodes_;  // 1 is the root, 2n and 2n+1 are the halves of n.
  size_t leaf_count_ = 0;
};

}  // namespace interlock
