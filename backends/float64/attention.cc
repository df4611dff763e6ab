// The maximum that softmax subtracts is one of its inputs, and exact. So x - max(x) is off by one
// rounding, its exponential relatively by that error and by 4 u, and the sum, whose terms are
// positive and include a 1, by no more than its terms and its depth.
#include "backends/float64/attention.h"

#include <algorithm>
#include <cmath>

namespace interlock {

Rounded largest_of(const OracleCase& c, uint64_t first) {
  Rounded largest = c.load(0, first);
  for (uint64_t col = 1; col < c.shape.cols; ++col) {
    const Rounded x = c.load(0, first + col);
    const bool is_nan = std::isnan(largest.value) || std::isnan(x.value);
    largest.value = is_nan ? std::nan("") : std::max(largest.value, x.value);
    largest.error = std::max(largest.error, x.error);
  }
  return largest;
}

namespace {

// gx[row, col] is element index_of(row, col) of g, unchanged.
template <class IndexOf>
std::vector<OracleTensor> spread(const OracleCase& c, const IndexOf& index_of) {
  OracleTensor gx;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    for (uint64_t col = 0; col < c.shape.cols; ++col) gx.push_back(c.load(0, index_of(row, col)));
  }
  return {gx};
}

}  // namespace

// y = exp(x - max(x)) / sum(exp(x - max(x))). Bound: ((max - x) + 4) u y, the same of the sum's
// terms, gamma_d and one division.
std::vector<OracleTensor> softmax_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  OracleTensor y;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    const uint64_t first = row * c.shape.cols;
    const Rounded largest = largest_of(c, first);
    const auto exponential = [&](uint64_t col) {
      return a.exponential(a.subtract(c.load(0, first + col), largest));
    };
    RoundedSum sum(a);
    for (uint64_t col = 0; col < c.shape.cols; ++col) sum.add(exponential(col));
    const Rounded total = sum.total(row_depth(c.shape.cols));
    for (uint64_t col = 0; col < c.shape.cols; ++col) {
      y.push_back(a.divide(exponential(col), total));
    }
  }
  return {y};
}

// gx = y (g - sum(y g)). Bound: |y| (gamma_d sum|y g| + u sum|y g| + 2 u |g - sum|).
std::vector<OracleTensor> softmax_vjp_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  OracleTensor gx;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    const uint64_t first = row * c.shape.cols;
    RoundedSum sum(a);
    for (uint64_t i = first; i < first + c.shape.cols; ++i) {
      sum.add(a.multiply(c.load(0, i), c.load(1, i)));
    }
    const Rounded dot = sum.total(row_depth(c.shape.cols));
    for (uint64_t i = first; i < first + c.shape.cols; ++i) {
      gx.push_back(a.multiply(c.load(0, i), a.subtract(c.load(1, i), dot)));
    }
  }
  return {gx};
}

// gx = g (s (1 + x (1 - s))), s = 1 / (1 + exp(-x)). Bound: with e_s = (4 s(-x) + 2) u s, the error
// of s, about |g| (s |x| (e_s + 2 u (1 - s)) + |q| e_s + 3 u |s q|), q = 1 + x (1 - s).
std::vector<OracleTensor> silu_vjp_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  OracleTensor gx;
  for (uint64_t i = 0; i < c.inputs[0].size(); ++i) {
    const Rounded x = c.load(0, i);
    const Rounded s = a.divide({1, 0}, a.add({1, 0}, a.exponential({-x.value, x.error})));
    const Rounded q = a.add({1, 0}, a.multiply(x, a.subtract({1, 0}, s)));
    gx.push_back(a.multiply(c.load(1, i), a.multiply(s, q)));
  }
  return {gx};
}

// Bound: 0.
std::vector<OracleTensor> row_sum_vjp_oracle(const OracleCase& c) {
  return spread(c, [](uint64_t row, uint64_t /*col*/) { return row; });
}

// Bound: 0.
std::vector<OracleTensor> col_sum_vjp_oracle(const OracleCase& c) {
  return spread(c, [](uint64_t /*row*/, uint64_t col) { return col; });
}

}  // namespace interlock
