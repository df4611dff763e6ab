// The basic idea is that a write hides all that was done to its bytes before: whoever conflicts
// with that conflicts with the write, which is later and of a higher level. So a write leaves one
// run where there were many, and the tree stays as small as what can still be seen, however many
// ranges the program has. Reads hide nothing, as their bytes may have been written by many; what
// they raise is kept as high in the tree as it covers all below, so that it is never pushed down:
// the stamps of a run are the greatest on its path.
//
// Nodes merge only by becoming empty, which costs less than keeping them half full (Johnson and
// Shasha, "B-trees with inserts and deletes: why free-at-empty is better than merge-at-half",
// 1993). The height is that of a tree to which all was added and nothing removed, at most.
#include "simulator/bytes/run_tree.h"

#include <cstring>

#include "encoder/program/check.h"

namespace interlock {

RunTree::RunTree() : root_(allocate(0)) {
  root_->count = 1;
  root_->begins[0] = 0;
  root_->stamps[0] = {};
}

size_t RunTree::size_bytes() const { return leaves_.size_bytes() + branches_.size_bytes(); }

// Of the run or child that holds `byte`. Without branches: which way is as good as random.
uint32_t RunTree::position_of(const Node& node, uint64_t byte) {
  const uint64_t* at = node.begins.data();
  for (uint32_t size = node.count; size > 1;) {
    const uint32_t half = size / 2;
    at += at[half] <= byte ? half : 0;
    size -= half;
  }
  return static_cast<uint32_t>(at - node.begins.data());
}

void RunTree::Node::move(uint32_t from, uint32_t until, uint32_t to) {
  if (from == until) return;
  std::memmove(begins.data() + to, begins.data() + from, (until - from) * sizeof(begins[0]));
  std::memmove(stamps.data() + to, stamps.data() + from, (until - from) * sizeof(stamps[0]));
}

RunStamps RunTree::greatest_of(const Node& node) {
  RunStamps greatest;
  for (uint32_t i = 0; i < node.count; ++i) greatest.raise(node.stamps[i]);
  return greatest;
}

// Of the runs from number `first` on that begin before `end`.
RunStamps RunTree::max_in_leaf(const Node& leaf, uint32_t first, uint64_t end) {
  RunStamps found = leaf.stamps[first];
  for (uint32_t i = first + 1; i < leaf.count && leaf.begins[i] < end; ++i) {
    found.raise(leaf.stamps[i]);
  }
  return found;
}

RunTree::Node& RunTree::descend(uint64_t byte, Place& place) const {
  place.end_ = UINT64_MAX;
  place.shape_ = shape_;
  Node* node = root_;
  for (uint32_t level = height_; level > 0; --level) {
    auto* const branch = static_cast<Branch*>(node);
    const uint32_t position = position_of(*branch, byte);
    if (position + 1 < branch->count) place.end_ = branch->begins[position + 1];
    place.steps_[level - 1] = {branch, position};
    node = branch->children[position];
  }
  place.leaf_ = node;
  place.position_ = position_of(*node, byte);
  return *node;
}

void RunTree::raise_path(const Place& place, const RunStamps& stamps) {
  for (uint32_t i = 0; i < height_; ++i) {
    place.steps_[i].branch->stamps[place.steps_[i].position].raise(stamps);
  }
}

RunStamps RunTree::max(ByteRange bytes, Place& place) const {
  const Node& leaf = descend(bytes.begin, place);
  if (place.end_ < bytes.end) return max_below(*root_, height_, bytes, UINT64_MAX);
  RunStamps found = max_in_leaf(leaf, place.position_, bytes.end);
  for (uint32_t i = 0; i < height_; ++i) {
    found.raise(place.steps_[i].branch->whole[place.steps_[i].position]);
  }
  return found;
}

// Returns the greatest of the runs below `node` that `bytes` meets. `node` ends at `end`.
RunStamps RunTree::max_below(const Node& node, uint32_t level, ByteRange bytes,
                             uint64_t end) const {
  if (level == 0) return max_in_leaf(node, position_of(node, bytes.begin), bytes.end);
  const auto& branch = static_cast<const Branch&>(node);
  RunStamps found;
  for (uint32_t i = position_of(node, bytes.begin); i < node.count && node.begins[i] < bytes.end;
       ++i) {
    const uint64_t child_end = i + 1 < node.count ? node.begins[i + 1] : end;
    if (bytes.begin <= node.begins[i] && child_end <= bytes.end) {
      found.raise(node.stamps[i]);
    } else {
      found.raise(branch.whole[i]);
      found.raise(max_below(*branch.children[i], level - 1, bytes, child_end));
    }
  }
  return found;
}

void RunTree::read(ByteRange bytes, Stamp stamp, Stamp level, Place& place) {
  record(bytes, {.any = stamp, .any_level = level}, false, place);
}

void RunTree::write(ByteRange bytes, Stamp stamp, Stamp level, Place& place) {
  record(bytes, {stamp, stamp, level, level}, true, place);
}

void RunTree::record(ByteRange bytes, const RunStamps& stamps, bool is_write, Place& place) {
  const bool holds_begin =
      place.shape_ == shape_ && place.leaf_->begins[0] <= bytes.begin && bytes.begin < place.end_;
  if (!holds_begin) descend(bytes.begin, place);
  if (bytes.end <= place.end_) {
    if (!record_in_leaf(place, bytes, stamps, is_write)) {
      make_room(bytes.begin);
      return record(bytes, stamps, is_write, place);
    }
    return raise_path(place, stamps);
  }
  cut(bytes.begin);
  cut(bytes.end);
  if (!is_write) return raise_below(*root_, height_, bytes, UINT64_MAX, stamps);
  hide_inside(*root_, height_, bytes, UINT64_MAX);
  ++shape_;
  Node& leaf = descend(bytes.begin, place);
  leaf.stamps[place.position_] = stamps;
  raise_path(place, stamps);
}

// Records an access of bytes that all lie in the leaf. Returns false if there is no room for two
// runs more.
bool RunTree::record_in_leaf(const Place& place, ByteRange bytes, const RunStamps& stamps,
                             bool is_write) {
  Node& leaf = *place.leaf_;
  uint32_t first = place.position_;
  // Others may have changed the leaf since the place was found.
  const bool is_at_begin = first < leaf.count && leaf.begins[first] == bytes.begin;
  if (!is_at_begin) first = position_of(leaf, bytes.begin);
  uint32_t last = first;
  while (last + 1 < leaf.count && leaf.begins[last + 1] < bytes.end) ++last;
  const uint64_t last_end = last + 1 < leaf.count ? leaf.begins[last + 1] : place.end_;
  // The parts of the first and of the last run that the access leaves out become runs.
  const uint32_t head = leaf.begins[first] < bytes.begin ? 1 : 0;
  const uint32_t tail = bytes.end < last_end ? 1 : 0;
  const uint32_t run_count = is_write ? 1 : last + 1 - first;
  const uint32_t behind = first + head + run_count + tail;
  if (head + tail != 0 || behind != last + 1) {
    if (leaf.count + behind > kFanOut + last + 1) return false;
    const RunStamps of_first = leaf.stamps[first];
    const RunStamps of_last = leaf.stamps[last];
    leaf.move(last + 1, leaf.count, behind);
    if (head != 0 && !is_write) leaf.move(first + 1, last + 1, first + 2);
    leaf.count = leaf.count + behind - (last + 1);
    if (head != 0) {
      leaf.begins[first + 1] = bytes.begin;
      leaf.stamps[first + 1] = of_first;
    }
    if (tail != 0) {
      leaf.begins[behind - 1] = bytes.end;
      leaf.stamps[behind - 1] = of_last;
    }
  }
  RunStamps* const runs = &leaf.stamps[first + head];
  if (is_write) {
    *runs = stamps;
  } else {
    for (uint32_t i = 0; i < run_count; ++i) runs[i].raise(stamps);
  }
  return true;
}

// Raises all runs of `bytes`. Requires: runs begin at both ends of it. `node` ends at `end`.
void RunTree::raise_below(Node& node, uint32_t level, ByteRange bytes, uint64_t end,
                          const RunStamps& stamps) {
  for (uint32_t i = position_of(node, bytes.begin); i < node.count && node.begins[i] < bytes.end;
       ++i) {
    node.stamps[i].raise(stamps);
    if (level == 0) continue;
    auto& branch = static_cast<Branch&>(node);
    const uint64_t child_end = i + 1 < node.count ? node.begins[i + 1] : end;
    if (bytes.begin <= node.begins[i] && child_end <= bytes.end) {
      branch.whole[i].raise(stamps);
    } else {
      raise_below(*branch.children[i], level - 1, bytes, child_end, stamps);
    }
  }
}

// Removes the runs that begin inside of `bytes`, so that the one at its begin takes their place;
// the `stamps` above that one are for the caller to raise. Requires: as raise_below().
void RunTree::hide_inside(Node& node, uint32_t level, ByteRange bytes, uint64_t end) {
  uint32_t first = position_of(node, bytes.begin);
  if (node.begins[first] <= bytes.begin) {
    if (level > 0) {
      const uint64_t child_end = first + 1 < node.count ? node.begins[first + 1] : end;
      hide_inside(*static_cast<Branch&>(node).children[first], level - 1, bytes, child_end);
    }
    ++first;
  }
  uint32_t last = first;
  while (last < node.count && node.begins[last] < bytes.end) ++last;
  const uint64_t last_end = last < node.count ? node.begins[last] : end;
  if (level > 0 && last > first && bytes.end < last_end) {
    auto& branch = static_cast<Branch&>(node);
    Node& child = *branch.children[--last];
    hide_inside(child, level - 1, bytes, last_end);
    branch.begins[last] = bytes.end;
    branch.stamps[last] = greatest_of(child);
    branch.stamps[last].raise(branch.whole[last]);
  }
  erase(node, level, first, last);
}

// Lets a run begin at `byte`.
void RunTree::cut(uint64_t byte) {
  Place place;
  Node* leaf = &descend(byte, place);
  if (leaf->begins[place.position_] == byte) return;
  if (leaf->count == kFanOut) {
    make_room(byte);
    leaf = &descend(byte, place);
  }
  const uint32_t at = place.position_;
  leaf->move(at, leaf->count++, at + 1);
  leaf->begins[at + 1] = byte;
}

// Splits what is full on the way to `byte`, from the root down, so that its leaf can take two runs
// more and no split has to go up again.
void RunTree::make_room(uint64_t byte) {
  ++shape_;
  const auto is_full = [](const Node& node, uint32_t level) {
    return node.count + (level == 0 ? 2 : 1) > kFanOut;
  };
  if (is_full(*root_, height_)) {
    INTERLOCK_CHECK(height_ < kHeightMax);
    auto* const root = static_cast<Branch*>(allocate(++height_));
    root->count = 1;
    root->begins[0] = 0;
    root->stamps[0] = greatest_of(*root_);
    root->children[0] = root_;
    root->whole[0] = {};
    root_ = root;
  }
  Node* node = root_;
  for (uint32_t level = height_; level > 0; --level) {
    auto& branch = static_cast<Branch&>(*node);
    if (const uint32_t at = position_of(branch, byte); is_full(*branch.children[at], level - 1)) {
      split_child(branch, at, level - 1);
    }
    node = branch.children[position_of(branch, byte)];
  }
}

// Moves the upper half of a child to a new one behind it. Requires: `parent` is not full.
void RunTree::split_child(Branch& parent, uint32_t position, uint32_t child_level) {
  Node& left = *parent.children[position];
  Node& right = *allocate(child_level);
  const uint32_t kept = left.count / 2;
  right.count = left.count - kept;
  std::copy_n(&left.begins[kept], right.count, right.begins.begin());
  std::copy_n(&left.stamps[kept], right.count, right.stamps.begin());
  if (child_level > 0) {
    const auto& from = static_cast<const Branch&>(left);
    auto& to = static_cast<Branch&>(right);
    std::copy_n(&from.children[kept], right.count, to.children.begin());
    std::copy_n(&from.whole[kept], right.count, to.whole.begin());
  }
  left.count = kept;
  parent.move(position, parent.count, position + 1);
  const auto shift = [&parent, position](auto& entries) {
    const auto begin = entries.begin();
    std::copy_backward(begin + position, begin + parent.count, begin + parent.count + 1);
  };
  shift(parent.children);
  shift(parent.whole);
  ++parent.count;
  parent.begins[position + 1] = right.begins[0];
  parent.children[position + 1] = &right;
  for (const uint32_t at : {position, position + 1}) {
    parent.stamps[at] = greatest_of(*parent.children[at]);
    parent.stamps[at].raise(parent.whole[at]);
  }
}

// Removes the entries [first, last) and what is below them.
void RunTree::erase(Node& node, uint32_t level, uint32_t first, uint32_t last) {
  if (first == last) return;
  if (level > 0) {
    auto& branch = static_cast<Branch&>(node);
    for (uint32_t i = first; i < last; ++i) release(branch.children[i], level - 1);
    const auto close = [&node, first, last](auto& entries) {
      const auto begin = entries.begin();
      std::copy(begin + last, begin + node.count, begin + first);
    };
    close(branch.children);
    close(branch.whole);
  }
  node.move(last, node.count, first);
  node.count -= last - first;
}

template <typename Kind>
Kind* RunTree::Pool<Kind>::take() {
  if (free_.empty()) {
    block_size_ = std::clamp<size_t>(2 * block_size_, 1, kBlockSizeMax);
    count_ += block_size_;
    blocks_.push_back(std::make_unique_for_overwrite<Kind[]>(block_size_));
    for (size_t i = block_size_; i-- > 0;) free_.push_back(&blocks_.back()[i]);
  }
  Kind* const node = free_.back();
  free_.pop_back();
  return node;
}

RunTree::Node* RunTree::allocate(uint32_t level) {
  return level == 0 ? leaves_.take() : branches_.take();
}

void RunTree::release(Node* node, uint32_t level) {
  if (level > 0) {
    for (uint32_t i = 0; i < node->count; ++i) {
      release(static_cast<Branch*>(node)->children[i], level - 1);
    }
  }
  if (level == 0) {
    leaves_.give_back(node);
  } else {
    branches_.give_back(node);
  }
}

}  // namespace interlock
