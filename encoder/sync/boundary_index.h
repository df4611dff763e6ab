// BoundaryIndex: finds where the segment of a memory begins that holds a byte. A B+ tree (Bayer and
// McCreight, "Organization and Maintenance of Large Ordered Indexes", 1972; leaves hold all
// entries) of where segments begin, for many memories at once: each has a tree of its own, and all
// trees take their nodes from one pool.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace interlock {

class BoundaryIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The tree of one memory, kept by whoever owns the memory.
  struct Tree {
    uint32_t root = kNone;  // kNone: the tree has no entries.
    uint32_t height = 0;    // Levels above the leaves.
  };

  // Returns the greatest begin <= offset. Requires: there is one. Cost: O(log n).
  uint64_t find(const Tree& tree, uint64_t offset);

  // Returns the least begin > offset that may be there, or UINT64_MAX: it may be one that was
  // erased. Requires and costs as find().
  uint64_t find_after(const Tree& tree, uint64_t offset);

  // Requires: no segment begins at `begin`; begin != UINT64_MAX; unless the tree is empty, one
  // begins before. Cost: O(log n), constant where the last find() or insert() has been.
  void insert(Tree& tree, uint64_t begin);

  // Removes all begins in [first, last). Requires: there is one before `first`.
  // Cost: O(log n) and the removed ones.
  void erase(Tree& tree, uint64_t first, uint64_t last);

  // Appends the begins of a tree to `result`, in ascending order. Cost: linear in them.
  void append_all(const Tree& tree, std::vector<uint64_t>& result) const {
    if (tree.root != kNone) append_below(tree.root, result);
  }

  // Empties the trees of all memories; their owner forgets the roots.
  void clear();

  size_t size_bytes() const {
    return nodes_.capacity() * sizeof(Node) + children_.capacity() * sizeof(Children);
  }

 private:
  static constexpr uint32_t kFanout = 32;    // A power of two: see position_of().
  static constexpr uint32_t kMaxLevels = 8;  // 16^8 entries: more than fit in memory.

  // Entry i of an inner node leads to the begins from keys[i] up to keys[i + 1]; keys[i] is the
  // least of them, but for the leftmost path of a tree, where it may be anything up to that.
  struct Node {
    uint32_t count = 0;
    uint32_t children = kNone;           // In children_; kNone: a leaf.
    std::array<uint64_t, kFanout> keys;  // Ascending; UINT64_MAX from `count` on.
  };
  using Children = std::array<uint32_t, kFanout>;

  // The way to the entry that was needed last, and the offsets that belong in its leaf.
  struct Finger {
    uint32_t root = kNone;  // kNone: there is none.
    uint64_t low = 0;
    uint64_t high = 0;
    std::array<uint32_t, kMaxLevels> nodes;  // By level; the leaf is level 0.
    std::array<uint32_t, kMaxLevels> positions;
  };

  static void prefetch(const Node& node);
  static uint32_t position_of(const Node& node, uint64_t offset);
  uint32_t child(const Node& node, uint32_t position) const {
    return children_[node.children][position];
  }
  void insert_at(Node& node, uint32_t position, uint64_t key, uint32_t child);
  void remove(Node& node, uint32_t first, uint32_t last);

  void reach(const Tree& tree, uint64_t offset);
  void descend(const Tree& tree, uint64_t offset);
  uint32_t new_node(bool is_leaf);
  void free_node(uint32_t id);
  uint32_t split(uint32_t node, bool is_append);
  void insert_on(Tree& tree, uint32_t level, uint64_t key, uint32_t child);
  void append_below(uint32_t node, std::vector<uint64_t>& result) const;
  bool erase_below(uint32_t node, uint32_t height, uint64_t first, uint64_t last);

  std::vector<Node> nodes_;
  std::vector<uint32_t> free_nodes_;
  std::vector<Children> children_;
  std::vector<uint32_t> free_children_;
  Finger finger_;
};

}  // namespace interlock
