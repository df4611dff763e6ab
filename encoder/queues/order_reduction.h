// OrderReduction: a partial order of operations, and the fewest pairs that it follows from.
// A. V. Aho, M. R. Garey, J. D. Ullman, "The Transitive Reduction of a Directed Graph", SIAM
// Journal on Computing 1(2), 1972: an acyclic graph has exactly one transitive reduction, the edges
// that no other path replaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/plan/predecessors.h"

namespace interlock {

class OrderReduction {
 public:
  // Up to one bit for each pair.
  static constexpr size_t kCountMax = 65'536;

  // The order that follows from `predecessors`, in any order and repeated or not. At a stop
  // (stop.h) it is empty for the operations that are left.
  // Requires: at most kCountMax operations; predecessors have lower indices.
  // Cost: for each pair that stays, and each operation, d / 64 steps, where d operations before are
  // the farthest that anything from there on names; d^2 / 8 bytes at once.
  explicit OrderReduction(const Predecessors& predecessors);

  size_t count() const { return kept_.size(); }

  // Those that no other path leads to, rising.
  std::span<const uint32_t> predecessors(size_t operation) const { return kept_[operation]; }
  const Predecessors& all_predecessors() const { return kept_; }

 private:
  Predecessors kept_;
};

// All pairs of the order.
class OrderClosure {
 public:
  // Cost: n^2 / 16 bytes for n operations, and n / 64 steps for each pair of `order`. A stop ends
  // it early.
  explicit OrderClosure(const OrderReduction& order);

  // Cost: constant.
  bool is_ordered(uint32_t earlier, uint32_t later) const {
    return earlier < later && (row(later)[earlier / 64] >> (earlier % 64) & 1) != 0;
  }

 private:
  const uint64_t* row(size_t operation) const { return bits_.data() + first_word_[operation]; }

  std::vector<uint64_t> bits_;  // By operation: all that come before it.
  std::vector<size_t> first_word_;
};

}  // namespace interlock
