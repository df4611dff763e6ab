// The basic idea is a segment tree over the pieces of bytes that all statements treat alike: each
// statement is in the lists of the few nodes that make up its bytes, and, as one of something
// smaller, in those of all nodes above them. A query takes whole lists, cut by binary search.
#include "simulator/lifetimes/lifetimes_by_bytes.h"

#include <algorithm>
#include <bit>

#include "simulator/lifetimes/held_value.h"

namespace interlock {

LifetimesByBytes::LifetimesByBytes(const Program& program, std::span<const LifetimeId> ids) {
  const auto bytes_of = [&](LifetimeId id) {
    return affected_by(program, program.lifetimes[id.index]);
  };
  for (const LifetimeId id : ids) {
    const ByteRange bytes = bytes_of(id);
    if (bytes.is_empty()) continue;
    const MemoryId memory = program.lifetimes[id.index].memory;
    edges_.emplace_back(memory, bytes.begin);
    edges_.emplace_back(memory, bytes.end);
  }
  std::ranges::sort(edges_);
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  if (edges_.empty()) return;
  leaf_count_ = std::bit_ceil(edges_.size());
  nodes_.resize(2 * leaf_count_);
  for (const LifetimeId id : ids) {
    const ByteRange bytes = bytes_of(id);
    const MemoryId memory = program.lifetimes[id.index].memory;
    if (!bytes.is_empty()) add(id, piece_at(memory, bytes.begin), piece_at(memory, bytes.end));
  }
}

size_t LifetimesByBytes::piece_at(MemoryId memory, uint64_t byte) const {
  const auto edge = std::ranges::lower_bound(edges_, std::pair(memory, byte));
  return static_cast<size_t>(edge - edges_.begin());
}

void LifetimesByBytes::add(LifetimeId id, size_t begin, size_t end) {
  const auto add_to = [&](size_t node) {
    nodes_[node].all.push_back(id);
    for (size_t above = node / 2; above > 0; above /= 2) {
      std::vector<LifetimeId>& within = nodes_[above].within;
      if (!within.empty() && within.back() == id) break;  // So do those above it.
      within.push_back(id);
    }
  };
  begin += leaf_count_;
  end += leaf_count_;
  for (; begin < end; begin /= 2, end /= 2) {
    if (begin % 2 == 1) add_to(begin++);
    if (end % 2 == 1) add_to(--end);
  }
}

// `node` is of the pieces from `first` on and before `last`.
template <typename Visit>
void LifetimesByBytes::visit_lists(size_t node, size_t first, size_t last, size_t begin, size_t end,
                                   const Visit& visit) const {
  if (last <= begin || end <= first) return;
  visit(nodes_[node].all);
  if (nodes_[node].within.empty()) return;
  if (begin <= first && last <= end) {
    visit(nodes_[node].within);
    return;
  }
  const size_t middle = first + (last - first) / 2;
  visit_lists(2 * node, first, middle, begin, end, visit);
  visit_lists(2 * node + 1, middle, last, begin, end, visit);
}

template <typename Visit>
void LifetimesByBytes::visit_lists(MemoryId memory, ByteRange bytes, const Visit& visit) const {
  if (edges_.empty() || bytes.is_empty()) return;
  const size_t after = piece_at(memory, bytes.begin + 1);  // The one before it has the first byte.
  visit_lists(1, 0, leaf_count_, after > 0 ? after - 1 : 0, piece_at(memory, bytes.end), visit);
}

void LifetimesByBytes::find(MemoryId memory, ByteRange bytes, LifetimeId begin, LifetimeId end,
                            std::vector<std::span<const LifetimeId>>& lists) const {
  if (begin >= end) return;
  visit_lists(memory, bytes, [&](const std::vector<LifetimeId>& list) {
    const auto first = std::ranges::lower_bound(list, begin);
    const auto last = std::lower_bound(first, list.end(), end);
    if (first != last) lists.emplace_back(first, last);
  });
}

LifetimeId LifetimesByBytes::last_before(LifetimeId end, MemoryId memory, ByteRange bytes) const {
  LifetimeId last;
  visit_lists(memory, bytes, [&](const std::vector<LifetimeId>& list) {
    const auto after = std::ranges::lower_bound(list, end);
    if (after == list.begin()) return;
    const LifetimeId found = *(after - 1);
    if (!last.is_some() || found > last) last = found;
  });
  return last;
}

}  // namespace interlock
