// Bounds of the oracles: first-order rounding analysis with u = 2^-24, the relative error of one
// float32 operation, times 1.05 for the higher orders (all n u here are below 1e-4). A sum of n
// terms in any order of additions has an error of at most d u sum|terms|, d the most additions that
// one term passes through: n - 1 in a chain, ceil(n/32) + 5 with 32 partial sums and a tree. "e_v"
// in the oracles is the absolute error of the quantity v.
#pragma once

#include <cmath>
#include <cstdint>

#include "tests/backends/oracles.h"

namespace interlock {

inline constexpr double kU = 0x1p-24;
inline constexpr double kHigherOrders = 1.05;

inline double tree_depth(uint64_t n) { return std::ceil(static_cast<double>(n) / 32) + 5; }

inline OracleValue with_bound(double value, double bound) { return {value, bound * kHigherOrders}; }

}  // namespace interlock
