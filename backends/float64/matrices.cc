// A sum is off by at most gamma_d sum|terms|, whatever its order; d, its depth, comes from the
// shape of the sum alone. What is no sum is an element of an input, unchanged. Bound: 0.
#include "backends/float64/oracles.h"

namespace interlock {
namespace {

// y = a beside b.
std::vector<OracleTensor> concat_oracle(const OracleCase& c) {
  return matrix_of(c.shape.rows, c.shape.inner + c.shape.cols, [&](uint64_t row, uint64_t col) {
    return col < c.shape.inner ? c.load(0, row * c.shape.inner + col)
                               : c.load(1, row * c.shape.cols + col - c.shape.inner);
  });
}

// ga beside gb = g.
std::vector<OracleTensor> split_oracle(const OracleCase& c) {
  OracleTensor ga;
  OracleTensor gb;
  const uint64_t cols = c.shape.inner + c.shape.cols;
  for (uint64_t i = 0; i < c.shape.rows * cols; ++i) {
    (i % cols < c.shape.inner ? ga : gb).push_back(c.load(0, i));
  }
  return {ga, gb};
}

// y[col, row] = x[row, col].
std::vector<OracleTensor> transpose_oracle(const OracleCase& c) {
  return matrix_of(c.shape.cols, c.shape.rows,
                   [&](uint64_t col, uint64_t row) { return c.load(0, row * c.shape.cols + col); });
}

// Bound: gamma_{rows - 1} sum|x|.
std::vector<OracleTensor> col_sum_oracle(const OracleCase& c) {
  return matrix_of(1, c.shape.cols, [&](uint64_t /*row*/, uint64_t col) {
    return sum_of(c, c.shape.rows, chain_depth(c.shape.rows),
                  [&](uint64_t row) { return c.load(0, row * c.shape.cols + col); });
  });
}

std::vector<OracleTensor> col_sum_vjp_oracle(const OracleCase& c) {
  return matrix_of(c.shape.rows, c.shape.cols,
                   [&](uint64_t /*row*/, uint64_t col) { return c.load(0, col); });
}

// Bound: gamma_d sum|x|, d = ceil(cols / 32) + 4.
std::vector<OracleTensor> row_sum_oracle(const OracleCase& c) {
  return matrix_of(c.shape.rows, 1, [&](uint64_t row, uint64_t /*col*/) {
    return sum_of(c, c.shape.cols, row_depth(c.shape.cols),
                  [&](uint64_t col) { return c.load(0, row * c.shape.cols + col); });
  });
}

std::vector<OracleTensor> row_sum_vjp_oracle(const OracleCase& c) {
  return matrix_of(c.shape.rows, c.shape.cols,
                   [&](uint64_t row, uint64_t /*col*/) { return c.load(0, row); });
}

// Bound: gamma_{inner - 1} sum|a b|, and u |a b| of every product.
template <bool kTransposesA, bool kTransposesB>
std::vector<OracleTensor> matmul_oracle(const OracleCase& c) {
  const OracleShape& s = c.shape;
  return matrix_of(s.rows, s.cols, [&](uint64_t row, uint64_t col) {
    return sum_of(c, s.inner, chain_depth(s.inner), [&](uint64_t k) {
      const Rounded a = c.load(0, kTransposesA ? k * s.rows + row : row * s.inner + k);
      const Rounded b = c.load(1, kTransposesB ? col * s.inner + k : k * s.cols + col);
      return c.arithmetic.multiply(a, b);
    });
  });
}

// The row of a table of `count` that id `i` chooses: ids are exact.
uint64_t entry_of(const OracleCase& c, uint64_t i, uint64_t count) {
  return static_cast<uint64_t>(c.inputs[0][i]) % count;
}

std::vector<OracleTensor> embedding_oracle(const OracleCase& c) {
  return matrix_of(c.shape.rows, c.shape.cols, [&](uint64_t row, uint64_t col) {
    return c.load(1, entry_of(c, row, c.shape.inner) * c.shape.cols + col);
  });
}

// Bound: gamma_d sum|g| over the rows of g that have the id, d one less than these.
std::vector<OracleTensor> embedding_vjp_oracle(const OracleCase& c) {
  return matrix_of(c.shape.rows, c.shape.cols, [&](uint64_t row, uint64_t col) {
    RoundedSum sum(c.arithmetic);
    uint64_t count = 0;
    for (uint64_t r = 0; r < c.shape.inner; ++r) {
      if (entry_of(c, r, c.shape.rows) != row) continue;
      sum.add(c.load(1, r * c.shape.cols + col));
      ++count;
    }
    return sum.total(chain_depth(count));
  });
}

}  // namespace

std::span<const NamedOracle> matrix_oracles() {
  static constexpr NamedOracle kOracles[] = {
      {"concat", concat_oracle},
      {"split", split_oracle},
      {"transpose", transpose_oracle},
      {"col_sum", col_sum_oracle},
      {"col_sum_vjp", col_sum_vjp_oracle},
      {"row_sum", row_sum_oracle},
      {"row_sum_vjp", row_sum_vjp_oracle},
      {"matmul_nn", matmul_oracle<false, false>},
      {"matmul_nt", matmul_oracle<false, true>},
      {"matmul_tn", matmul_oracle<true, false>},
      {"embedding", embedding_oracle},
      {"embedding_vjp", embedding_vjp_oracle},
  };
  return kOracles;
}

}  // namespace interlock
