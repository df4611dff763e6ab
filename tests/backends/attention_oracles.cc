// Bounds: see oracle_bounds.h.
#include "tests/backends/attention_oracles.h"

#include <algorithm>
#include <cmath>

#include "tests/backends/oracle_bounds.h"

namespace interlock {
namespace {

// Below the normal numbers exp_f32() gives 0, and a device may flush: 2^-126 each, not relative.
constexpr double kFlushed = 0x1p-126;

}  // namespace

// With e = exp(-x), 4 u off, s = 1 / (1 + e) is off by 6 u: e / (1 + e) < 1, and two roundings.
// Then, each an absolute error: t = 1 - s by e_s and u t; q = 1 + x t by |x| e_t, u |x t| and
// u |q|; g (s q) by two more roundings. A flushed e moves s by less than 2^-126.
OracleTensor silu_vjp_oracle(const Doubles& x, const Doubles& g) {
  OracleTensor gx;
  for (size_t i = 0; i < x.size(); ++i) {
    const double s = 1 / (1 + std::exp(-x[i]));
    const double t = 1 / (1 + std::exp(x[i]));  // 1 - s without cancellation.
    const double q = 1 + x[i] * t;
    const double value = g[i] * s * q;
    const double e_s = 6 * kU * s + kFlushed;
    const double e_t = e_s + kU * t;
    const double e_q = std::fabs(x[i]) * (e_t + kU * t) + kU * std::fabs(q);
    const double bound = std::fabs(g[i]) * (s * e_q + std::fabs(q) * e_s + kFlushed) + kFlushed;
    gx.push_back(with_bound(value, bound + 2 * kU * std::fabs(value)));
  }
  return gx;
}

// The maximum m is exact, so x - m is off by u |x - m|, and its exponential relatively by that and
// 4 u. The sum has those errors of its terms, all positive, and d roundings; it is at least 1, so
// that flushed terms count 2^-126 each. The division adds u.
OracleTensor softmax_oracle(const Doubles& x, const OracleShape& s) {
  OracleTensor y;
  for (uint64_t row = 0; row < s.rows; ++row) {
    const double* values = &x[row * s.cols];
    const double largest = *std::max_element(values, values + s.cols);
    double sum = 0;
    double e_sum = 0;
    for (uint64_t c = 0; c < s.cols; ++c) {
      const double e = std::exp(values[c] - largest);
      sum += e;
      e_sum += e * (largest - values[c] + 4) * kU + kFlushed;
    }
    e_sum += tree_depth(s.cols) * kU * sum;
    for (uint64_t c = 0; c < s.cols; ++c) {
      const double value = std::exp(values[c] - largest) / sum;
      const double relative = (largest - values[c] + 4) * kU + e_sum / sum + kU;
      y.push_back(with_bound(value, relative * value + 2 * kFlushed));
    }
  }
  return y;
}

// The sum has d roundings and one for each product; the difference and the last product add one
// each.
OracleTensor softmax_vjp_oracle(const Doubles& y, const Doubles& g, const OracleShape& s) {
  OracleTensor gx;
  for (uint64_t row = 0; row < s.rows; ++row) {
    const uint64_t start = row * s.cols;
    double dot = 0;
    double magnitude = 0;
    for (uint64_t i = start; i < start + s.cols; ++i) {
      dot += y[i] * g[i];
      magnitude += std::fabs(y[i] * g[i]);
    }
    const double e_dot = (tree_depth(s.cols) + 1) * kU * magnitude;
    for (uint64_t i = start; i < start + s.cols; ++i) {
      const double difference = g[i] - dot;
      const double bound = std::fabs(y[i]) * (e_dot + 2 * kU * std::fabs(difference));
      gx.push_back(with_bound(y[i] * difference, bound + kFlushed));
    }
  }
  return gx;
}

// Copies, exact.
OracleTensor spread_oracle(const OracleShape& s,
                           const std::function<double(uint64_t, uint64_t)>& at) {
  OracleTensor gx;
  for (uint64_t row = 0; row < s.rows; ++row) {
    for (uint64_t col = 0; col < s.cols; ++col) {
      gx.push_back({at(row, col), 0});
    }
  }
  return gx;
}

}  // namespace interlock
