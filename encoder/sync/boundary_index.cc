#include "encoder/sync/boundary_index.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {

// The last entry whose key is <= offset, or the first entry. A binary search of a fixed number of
// steps without a branch to mispredict: keys beyond `count` are greater than any offset.
uint32_t BoundaryIndex::position_of(const Node& node, uint64_t offset) {
  uint32_t position = 0;
  for (uint32_t step = kFanout / 2; step > 0; step /= 2) {
    position += node.keys[position + step] <= offset ? step : 0;
  }
  return position;
}

// `child` counts in inner nodes only.
void BoundaryIndex::insert_at(Node& node, uint32_t position, uint64_t key, uint32_t child) {
  std::copy_backward(node.keys.begin() + position, node.keys.begin() + node.count,
                     node.keys.begin() + node.count + 1);
  node.keys[position] = key;
  if (node.children != kNone) {
    Children& children = children_[node.children];
    std::copy_backward(children.begin() + position, children.begin() + node.count,
                       children.begin() + node.count + 1);
    children[position] = child;
  }
  ++node.count;
}

// Removes the entries [first, last).
void BoundaryIndex::remove(Node& node, uint32_t first, uint32_t last) {
  std::copy(node.keys.begin() + last, node.keys.begin() + node.count, node.keys.begin() + first);
  if (node.children != kNone) {
    Children& children = children_[node.children];
    std::copy(children.begin() + last, children.begin() + node.count, children.begin() + first);
  }
  const uint32_t old_count = node.count;
  node.count -= last - first;
  std::fill(node.keys.begin() + node.count, node.keys.begin() + old_count, UINT64_MAX);
}

// A search reads a node here and there, each place in need of the one before.
inline void BoundaryIndex::prefetch(const Node& node) {
  constexpr size_t kLineBytes = 64;
  for (size_t at = 0; at < sizeof(Node); at += kLineBytes) {
    __builtin_prefetch(reinterpret_cast<const char*>(&node) + at);
  }
}

// Moves the finger to the last entry that begins at or before `offset`. Cuts of one range follow
// each other closely, so the finger is often there already.
void BoundaryIndex::reach(const Tree& tree, uint64_t offset) {
  if (finger_.root == tree.root && finger_.low <= offset && offset < finger_.high) {
    const Node& leaf = nodes_[finger_.nodes[0]];
    const uint32_t position = finger_.positions[0];
    const bool is_before_next = position + 1 == kFanout || offset < leaf.keys[position + 1];
    if (leaf.keys[position] <= offset && is_before_next) return;
  } else {
    descend(tree, offset);
  }
  finger_.positions[0] = position_of(nodes_[finger_.nodes[0]], offset);
}

void BoundaryIndex::descend(const Tree& tree, uint64_t offset) {
  finger_.root = tree.root;
  finger_.low = 0;
  finger_.high = UINT64_MAX;
  uint32_t current = tree.root;
  for (uint32_t level = tree.height; level > 0; --level) {
    const Node& node = nodes_[current];
    const uint32_t position = position_of(node, offset);
    finger_.nodes[level] = current;
    finger_.positions[level] = position;
    if (position > 0) finger_.low = node.keys[position];
    if (position + 1 < node.count) finger_.high = node.keys[position + 1];
    current = child(node, position);
    prefetch(nodes_[current]);
  }
  finger_.nodes[0] = current;
}

uint64_t BoundaryIndex::find(const Tree& tree, uint64_t offset) {
  INTERLOCK_CHECK(tree.root != kNone);
  reach(tree, offset);
  const uint64_t begin = nodes_[finger_.nodes[0]].keys[finger_.positions[0]];
  INTERLOCK_CHECK(begin <= offset);
  return begin;
}

uint64_t BoundaryIndex::find_after(const Tree& tree, uint64_t offset) {
  INTERLOCK_CHECK(tree.root != kNone);
  reach(tree, offset);
  const Node& leaf = nodes_[finger_.nodes[0]];
  const uint32_t position = finger_.positions[0] + 1;
  return position < leaf.count ? leaf.keys[position] : finger_.high;
}

uint32_t BoundaryIndex::new_node(bool is_leaf) {
  const auto take = [](auto& pool, std::vector<uint32_t>& free) {
    if (free.empty()) {
      pool.emplace_back();
      return static_cast<uint32_t>(pool.size() - 1);
    }
    const uint32_t id = free.back();
    free.pop_back();
    return id;
  };
  const uint32_t id = take(nodes_, free_nodes_);
  nodes_[id].count = 0;
  nodes_[id].children = is_leaf ? kNone : take(children_, free_children_);
  nodes_[id].keys.fill(UINT64_MAX);
  return id;
}

void BoundaryIndex::free_node(uint32_t id) {
  if (nodes_[id].children != kNone) free_children_.push_back(nodes_[id].children);
  free_nodes_.push_back(id);
}

// Moves the upper half of a full node to a new one, which it returns. A node that is appended to
// keeps all but one: bump allocation fills nodes to the brim.
uint32_t BoundaryIndex::split(uint32_t node, bool is_append) {
  const uint32_t upper_id = new_node(nodes_[node].children == kNone);
  Node& lower = nodes_[node];
  Node& upper = nodes_[upper_id];
  const uint32_t kept_count = is_append ? kFanout - 1 : kFanout / 2;
  upper.count = kFanout - kept_count;
  std::copy(lower.keys.begin() + kept_count, lower.keys.end(), upper.keys.begin());
  if (lower.children != kNone) {
    const Children& children = children_[lower.children];
    std::copy(children.begin() + kept_count, children.end(), children_[upper.children].begin());
  }
  remove(lower, kept_count, kFanout);
  return upper_id;
}

// Enters what begins at `key`, a segment or a node, after the finger's entry on `level`.
void BoundaryIndex::insert_on(Tree& tree, uint32_t level, uint64_t key, uint32_t child) {
  if (level > tree.height) {
    INTERLOCK_CHECK(level < kMaxLevels);
    const uint32_t root = new_node(false);
    insert_at(nodes_[root], 0, 0, tree.root);
    insert_at(nodes_[root], 1, key, child);
    tree = {root, level};
    return;
  }
  uint32_t node = finger_.nodes[level];
  uint32_t position = finger_.positions[level] + 1;
  if (nodes_[node].count == kFanout) {
    const uint32_t upper = split(node, position == kFanout);
    const uint64_t upper_key = nodes_[upper].keys[0];
    insert_on(tree, level + 1, upper_key, upper);
    finger_.root = kNone;
    if (key > upper_key) {
      position -= nodes_[node].count;
      node = upper;
    }
  }
  insert_at(nodes_[node], position, key, child);
  finger_.positions[level] = position;
}

void BoundaryIndex::insert(Tree& tree, uint64_t begin) {
  if (tree.root == kNone) {
    tree = {new_node(true), 0};
    insert_at(nodes_[tree.root], 0, begin, kNone);
    return;
  }
  reach(tree, begin);
  INTERLOCK_CHECK(nodes_[finger_.nodes[0]].keys[finger_.positions[0]] < begin);
  insert_on(tree, 0, begin, kNone);
}

// Erases below one node; true iff nothing is left there. Nodes may be left nearly empty: whoever
// owns the segments rebuilds the trees now and then.
bool BoundaryIndex::erase_below(uint32_t id, uint32_t height, uint64_t first, uint64_t last) {
  uint32_t begin = position_of(nodes_[id], first);
  if (nodes_[id].keys[begin] < first) ++begin;
  uint32_t end = begin;
  if (height == 0) {
    while (end < nodes_[id].count && nodes_[id].keys[end] < last) ++end;
    remove(nodes_[id], begin, end);
    return nodes_[id].count == 0;
  }
  // The child before may hold some of them; so may the last that begins before `last`.
  if (begin > 0) begin -= 1;
  for (end = begin; end < nodes_[id].count && nodes_[id].keys[end] < last; ++end) {
  }
  uint32_t kept = begin;
  for (uint32_t i = begin; i < end; ++i) {
    const uint32_t below = child(nodes_[id], i);
    if (erase_below(below, height - 1, first, last)) {
      free_node(below);
      continue;
    }
    nodes_[id].keys[kept] = nodes_[below].keys[0];
    children_[nodes_[id].children][kept++] = below;
  }
  remove(nodes_[id], kept, end);
  return nodes_[id].count == 0;
}

void BoundaryIndex::erase(Tree& tree, uint64_t first, uint64_t last) {
  if (tree.root == kNone || first >= last) return;
  finger_.root = kNone;
  const bool is_empty = erase_below(tree.root, tree.height, first, last);
  INTERLOCK_CHECK(!is_empty);
}

void BoundaryIndex::append_below(uint32_t id, std::vector<uint64_t>& result) const {
  const Node& node = nodes_[id];
  if (node.children == kNone) {
    result.insert(result.end(), node.keys.begin(), node.keys.begin() + node.count);
    return;
  }
  for (uint32_t i = 0; i < node.count; ++i) append_below(child(node, i), result);
}

void BoundaryIndex::clear() {
  nodes_.clear();
  free_nodes_.clear();
  children_.clear();
  free_children_.clear();
  finger_.root = kNone;
}

}  // namespace interlock
