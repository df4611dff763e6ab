// RunTree: what the accesses so far did to the bytes of a program, as runs of bytes in a B+ tree.
// It takes what is written or read now, and answers what a new access conflicts with.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/stamp_tree.h"

namespace interlock {

// The greatest stamps and levels of accesses to some bytes; zero: there was none.
struct RunStamps {
  Stamp write = 0;
  Stamp any = 0;  // Of writes, and of reads that no later write hides.
  Stamp write_level = 0;
  Stamp any_level = 0;

  void raise(const RunStamps& other) {
    write = std::max(write, other.write);
    any = std::max(any, other.any);
    write_level = std::max(write_level, other.write_level);
    any_level = std::max(any_level, other.any_level);
  }

  bool operator==(const RunStamps&) const = default;
};

// Beside a stamp, which never decreases from call to call, an access has a level. A write must have
// a level no lower than what max() says of its bytes. So it hides all that came before, and the
// tree forgets that: it is as large as what is left, not as what was recorded.
class RunTree {
 public:
  RunTree();

  // Where a range was found, for recording there; a hint, so that none is wrong.
  class Place;

  // Returns the greatest stamps and levels in `bytes`. Requires: not empty. So below.
  // Cost: O(log runs).
  RunStamps max(ByteRange bytes, Place& place) const;

  // Cost: O(log runs), and for write() a constant for each run that it hides.
  void read(ByteRange bytes, Stamp stamp, Stamp level, Place& place);
  void write(ByteRange bytes, Stamp stamp, Stamp level, Place& place);

  // What the nodes take. Cost: constant.
  size_t size_bytes() const;

 private:
  static constexpr uint32_t kFanOut = 64;
  static constexpr uint32_t kHeightMax = 12;

  // A leaf: where each run begins, and its stamps. A run ends where the next one begins, be it in
  // another leaf. In a branch the same of its children, `stamps` being the greatest below.
  struct Node {
    uint32_t count = 0;
    std::array<uint64_t, kFanOut> begins;
    std::array<RunStamps, kFanOut> stamps;

    // Moves the entries [from, until) to `to`.
    void move(uint32_t from, uint32_t until, uint32_t to);
  };

  // `whole`: raised for all runs below a child at once, and not in its nodes.
  struct Branch : Node {
    std::array<Node*, kFanOut> children;
    std::array<RunStamps, kFanOut> whole;
  };

  // Nodes in blocks, each of twice as many as the one before: a small program has few, and a large
  // one leaves no small holes in the heap.
  template <typename Kind>
  class Pool {
   public:
    Kind* take();
    void give_back(Node* node) { free_.push_back(static_cast<Kind*>(node)); }
    size_t size_bytes() const { return count_ * sizeof(Kind); }

   private:
    static constexpr size_t kBlockSizeMax = 128;

    std::vector<std::unique_ptr<Kind[]>> blocks_;
    std::vector<Kind*> free_;
    size_t count_ = 0;       // In all blocks.
    size_t block_size_ = 0;  // Of the last block.
  };

  static uint32_t position_of(const Node& node, uint64_t byte);
  static RunStamps greatest_of(const Node& node);
  static RunStamps max_in_leaf(const Node& leaf, uint32_t first, uint64_t end);
  Node& descend(uint64_t byte, Place& place) const;
  void raise_path(const Place& place, const RunStamps& stamps);
  RunStamps max_below(const Node& node, uint32_t level, ByteRange bytes, uint64_t end) const;
  void raise_below(Node& node, uint32_t level, ByteRange bytes, uint64_t end,
                   const RunStamps& stamps);
  void hide_inside(Node& node, uint32_t level, ByteRange bytes, uint64_t end);
  bool record_in_leaf(const Place& place, ByteRange bytes, const RunStamps& stamps, bool is_write);
  void record(ByteRange bytes, const RunStamps& stamps, bool is_write, Place& place);

  void cut(uint64_t byte);
  void make_room(uint64_t byte);
  void split_child(Branch& parent, uint32_t position, uint32_t child_level);
  void erase(Node& node, uint32_t level, uint32_t first, uint32_t last);
  Node* allocate(uint32_t level);
  void release(Node* node, uint32_t level);

  Pool<Node> leaves_;
  Pool<Branch> branches_;
  Node* root_;
  uint32_t height_ = 0;  // Levels of branches.
  uint64_t shape_ = 1;   // Counts what changed in branches.
};

// The way from the root to the leaf that holds the begin of a range.
class RunTree::Place {
 private:
  friend class RunTree;
  struct Step {
    Branch* branch;
    uint32_t position;
  };
  std::array<Step, kHeightMax> steps_;
  Node* leaf_ = nullptr;
  uint32_t position_ = 0;  // In the leaf.
  uint64_t end_ = 0;       // Of the leaf.
  uint64_t shape_ = 0;     // Of the tree, when it was found.
};

}  // namespace interlock
