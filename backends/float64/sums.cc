// A sum is off by at most gamma_d sum|terms|, whatever its order; d, its depth, comes from the
// shape of the sum alone.
#include "backends/float64/sums.h"

namespace interlock {
namespace {

// Bound: gamma_{inner - 1} sum|a b|, and u |a b| of every product.
template <class IndexOfA, class IndexOfB>
std::vector<OracleTensor> matmul(const OracleCase& c, const IndexOfA& index_of_a,
                                 const IndexOfB& index_of_b) {
  OracleTensor y;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    for (uint64_t col = 0; col < c.shape.cols; ++col) {
      RoundedSum sum(c.arithmetic);
      for (uint64_t k = 0; k < c.shape.inner; ++k) {
        sum.add(
            c.arithmetic.multiply(c.load(0, index_of_a(row, k)), c.load(1, index_of_b(k, col))));
      }
      y.push_back(sum.total(chain_depth(c.shape.inner)));
    }
  }
  return {y};
}

}  // namespace

// Bound: gamma_{rows - 1} sum|x|.
std::vector<OracleTensor> col_sum_oracle(const OracleCase& c) {
  OracleTensor y;
  for (uint64_t col = 0; col < c.shape.cols; ++col) {
    RoundedSum sum(c.arithmetic);
    for (uint64_t row = 0; row < c.shape.rows; ++row) sum.add(c.load(0, row * c.shape.cols + col));
    y.push_back(sum.total(chain_depth(c.shape.rows)));
  }
  return {y};
}

// Bound: gamma_d sum|x|, d = ceil(cols / 32) + 4.
std::vector<OracleTensor> row_sum_oracle(const OracleCase& c) {
  OracleTensor y;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    RoundedSum sum(c.arithmetic);
    for (uint64_t col = 0; col < c.shape.cols; ++col) sum.add(c.load(0, row * c.shape.cols + col));
    y.push_back(sum.total(row_depth(c.shape.cols)));
  }
  return {y};
}

std::vector<OracleTensor> matmul_nn_oracle(const OracleCase& c) {
  return matmul(
      c, [&](uint64_t row, uint64_t k) { return row * c.shape.inner + k; },
      [&](uint64_t k, uint64_t col) { return k * c.shape.cols + col; });
}

std::vector<OracleTensor> matmul_nt_oracle(const OracleCase& c) {
  return matmul(
      c, [&](uint64_t row, uint64_t k) { return row * c.shape.inner + k; },
      [&](uint64_t k, uint64_t col) { return col * c.shape.inner + k; });
}

std::vector<OracleTensor> matmul_tn_oracle(const OracleCase& c) {
  return matmul(
      c, [&](uint64_t row, uint64_t k) { return k * c.shape.rows + row; },
      [&](uint64_t k, uint64_t col) { return k * c.shape.cols + col; });
}

}  // namespace interlock
