// OrderReduction: a partial order of operations, and the fewest pairs that it follows from.
// A. V. Aho, M. R. Garey, J. D. Ullman, "The Transitive Reduction of a Directed Graph", SIAM
// Journal on Computing 1(2), 1972: an acyclic graph has exactly one transitive reduction, the edges
// that no other path replaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace interlock {

// By operation: operations that come before it.
using Predecessors = std::vector<std::vector<uint32_t>>;

class OrderReduction {
 public:
  // One bit for each pair.
  static constexpr size_t kCountMax = 65'536;

  // The order that follows from `predecessors`, in any order and repeated or not. At a stop
  // (stop.h) it is empty for the operations that are left.
  // Requires: at most kCountMax operations; predecessors have lower indices.
  // Cost: n^2 / 16 bytes for n operations, and n / 64 steps for each pair that stays.
  explicit OrderReduction(const Predecessors& predecessors);

  size_t count() const { return kept_.size(); }

  // Those that no other path leads to, rising.
  std::span<const uint32_t> predecessors(size_t operation) const { return kept_[operation]; }
  const Predecessors& all_predecessors() const { return kept_; }

  // Cost: constant.
  bool is_ordered(uint32_t earlier, uint32_t later) const {
    return earlier < later && (row(later)[earlier / 64] >> (earlier % 64) & 1) != 0;
  }

 private:
  const uint64_t* row(size_t operation) const { return bits_.data() + first_word_[operation]; }

  Predecessors kept_;
  std::vector<uint64_t> bits_;  // By operation: all that come before it.
  std::vector<size_t> first_word_;
};

}  // namespace interlock
