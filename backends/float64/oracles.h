// The oracles by subject, and what they share: sums, and outputs element by element.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "backends/float64/kernel_oracles.h"

namespace interlock {

struct NamedOracle {
  std::string_view kernel;
  KernelOracle oracle;
};

// Defined in elementwise.cc.
std::span<const NamedOracle> elementwise_oracles();
// Defined in matrices.cc.
std::span<const NamedOracle> matrix_oracles();
// Defined in norms.cc.
std::span<const NamedOracle> norm_oracles();
// Defined in transformer.cc.
std::span<const NamedOracle> transformer_oracles();

// Returns the sum of term(0), …, term(count - 1), of this depth (arithmetic.h).
template <class Term>
Rounded sum_of(const OracleCase& c, uint64_t count, uint64_t depth, const Term& term) {
  RoundedSum sum(c.arithmetic);
  for (uint64_t i = 0; i < count; ++i) sum.add(term(i));
  return sum.total(depth);
}

// Returns one output of [rows, cols], which has value_at(row, col).
template <class ValueAt>
std::vector<OracleTensor> matrix_of(uint64_t rows, uint64_t cols, const ValueAt& value_at) {
  OracleTensor y;
  y.reserve(rows * cols);
  for (uint64_t row = 0; row < rows; ++row) {
    for (uint64_t col = 0; col < cols; ++col) y.push_back(value_at(row, col));
  }
  return {y};
}

}  // namespace interlock
