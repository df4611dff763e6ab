// Ordered fit: values get their bytes in an order that does not follow time, each at the lowest
// offset that is free for its whole life. Large values first packs tighter than best fit, which
// must take values as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/plan/placement_problem.h"

namespace interlock {

// Values that share their bytes in place, one after the other: they are placed as one.
struct ValueChain {
  std::vector<uint32_t> values;
  ValueLife life;  // Of all of them.
};

// Chains of the used values: `choices` says, for each output, which input it replaces. Of two
// choices about the same value the first counts.
std::vector<ValueChain> chains_of(const PlacementProblem& problem,
                                  std::span<const InPlaceChoice> choices);

enum class FitOrder : uint8_t {
  kLargestFirst,
  kLongestFirst,      // Longest life.
  kLargestAreaFirst,  // Size times life.
  kEarliestFirst,
};
inline constexpr size_t kFitOrderCount = 4;

// Returns a valid placement. Cost: quadratic in the chains, a step being one comparison.
ValuePlacement place_ordered(const PlacementProblem& problem, std::span<const ValueChain> chains,
                             FitOrder order);

// The smallest placement of all. For tiny problems: exponential in the values.
// A smallest placement stays one if every value is pushed down until something stops it, and is
// then found by ordered fit in the order of offsets; so it tries all orders, for all ways to be in
// place. It stops early at the lower bound.
ValuePlacement place_exactly(const PlacementProblem& problem);
inline constexpr size_t kExactValueCountMax = 6;

}  // namespace interlock
