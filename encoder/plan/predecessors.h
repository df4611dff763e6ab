// Predecessors: by operation, operations that come before it, in two vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace interlock {

// The same as lists of their own, for whoever does not find them operation by operation.
using PredecessorLists = std::vector<std::vector<uint32_t>>;

class Predecessors {
 public:
  Predecessors() = default;
  Predecessors(const PredecessorLists& lists) {  // NOLINT: lists are predecessors.
    for (const std::vector<uint32_t>& list : lists) append(list);
  }

  size_t size() const { return ends_.size(); }
  size_t pair_count() const { return earlier_.size(); }

  std::span<const uint32_t> operator[](size_t operation) const {
    const size_t first = operation == 0 ? 0 : ends_[operation - 1];
    return {earlier_.data() + first, ends_[operation] - first};
  }

  void reserve(size_t operation_count, size_t pair_count) {
    ends_.reserve(operation_count);
    earlier_.reserve(pair_count);
  }

  // Those of the next operation, mostly few.
  template <typename Operations>
  void append(const Operations& earlier) {
    for (const uint32_t operation : earlier) earlier_.push_back(operation);
    ends_.push_back(earlier_.size());
  }

  // Likewise, piece by piece.
  void push_back(uint32_t earlier) { earlier_.push_back(earlier); }
  void end_operation() { ends_.push_back(earlier_.size()); }

  // Those that were appended since the last operation ended.
  std::span<uint32_t> unended() {
    const size_t first = ends_.empty() ? 0 : ends_.back();
    return {earlier_.data() + first, earlier_.size() - first};
  }

  bool operator==(const Predecessors&) const = default;

 private:
  std::vector<uint32_t> earlier_;
  std::vector<size_t> ends_;  // By operation: where its own end in `earlier_`.
};

}  // namespace interlock
