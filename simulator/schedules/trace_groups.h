// TraceGroups: the parts of a program whose order can vary, and vary independently.
//
// A trace (Mazurkiewicz) is a class of schedules equal up to swapping neighbouring steps that do
// not conflict. It is given by the direction of each hazard, so the traces of a program are the
// orientations of its hazards that have no cycle together with happens-before (docs/theory.md, T2).
// A cycle stays within one group, so groups vary independently: the traces of the program are the
// product of those of its groups.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace interlock {

// Two units, by number; `first` is earlier in issue order.
struct UnitPair {
  uint32_t first = 0;
  uint32_t second = 0;

  auto operator<=>(const UnitPair&) const = default;
};

// A set of pairs (row, column) over `size` units.
class BitMatrix {
 public:
  explicit BitMatrix(size_t size = 0)
      : word_count_((size + 63) / 64), words_(size * word_count_, 0) {}

  bool has(size_t row, size_t column) const {
    return (words_[row * word_count_ + column / 64] >> (column % 64) & 1) != 0;
  }
  void set(size_t row, size_t column) {
    words_[row * word_count_ + column / 64] |= uint64_t{1} << (column % 64);
  }
  size_t word_count() const { return word_count_; }
  uint64_t* row(size_t row) { return words_.data() + row * word_count_; }
  const uint64_t* row(size_t row) const { return words_.data() + row * word_count_; }

 private:
  size_t word_count_;
  std::vector<uint64_t> words_;
};

struct TraceGroup {
  std::vector<uint32_t> units;    // With a hazard, ascending. Below, a unit is its position here.
  std::vector<UnitPair> hazards;  // By second, then first.
  BitMatrix before;               // (u, v): happens-before has v before u. Transitive.
};

// Whether the first unit is ordered before the second. A strict partial order.
using UnitOrder = std::function<bool(uint32_t, uint32_t)>;

// Splits the units that have hazards into groups, ordered by their first units. Each holds
// - every cycle of hazards and happens-before that reverses a hazard: it is a union of strongly
//   connected components, if hazards go both ways;
// - with a hazard, what its sink moves: the first unit's descendants before the second (T6).
// With global barriers both are the components of each epoch's hazard graph.
// Requires: no pair of `hazards` is ordered; first < second in each.
// Cost: O(u^2) questions for u units with hazards.
std::vector<TraceGroup> trace_groups(const std::vector<UnitPair>& hazards,
                                     const UnitOrder& precedes);

}  // namespace interlock
