// Bounds: see oracle_bounds.h.
#include "tests/backends/oracles.h"

#include <cmath>
#include <functional>

#include "encoder/check.h"
#include "tests/backends/attention_oracles.h"
#include "tests/backends/oracle_bounds.h"

namespace interlock {
namespace {

// Correctly rounded: half an ulp, u |y|.
OracleTensor elementwise(uint64_t count, const std::function<double(uint64_t)>& value_at) {
  OracleTensor y;
  for (uint64_t i = 0; i < count; ++i) {
    y.push_back(with_bound(value_at(i), kU * std::fabs(value_at(i))));
  }
  return y;
}

// exp is within 2 ulp, 4 u; the addition and the division add u each.
OracleTensor silu(const Doubles& x) {
  OracleTensor y;
  for (const double v : x) {
    const double value = v / (1 + std::exp(-v));
    y.push_back(with_bound(value, 6 * kU * std::fabs(value)));
  }
  return y;
}

OracleTensor col_sum(const Doubles& x, const OracleShape& s) {
  OracleTensor y;
  for (uint64_t c = 0; c < s.cols; ++c) {
    double sum = 0;
    double magnitude = 0;
    for (uint64_t r = 0; r < s.rows; ++r) {
      sum += x[r * s.cols + c];
      magnitude += std::fabs(x[r * s.cols + c]);
    }
    y.push_back(with_bound(sum, static_cast<double>(s.rows) * kU * magnitude));
  }
  return y;
}

OracleTensor row_sum(const Doubles& x, const OracleShape& s) {
  OracleTensor y;
  for (uint64_t r = 0; r < s.rows; ++r) {
    double sum = 0;
    double magnitude = 0;
    for (uint64_t c = 0; c < s.cols; ++c) {
      sum += x[r * s.cols + c];
      magnitude += std::fabs(x[r * s.cols + c]);
    }
    y.push_back(with_bound(sum, tree_depth(s.cols) * kU * magnitude));
  }
  return y;
}

// One rounding for the product, inner - 1 for the chain of additions.
OracleTensor matmul(const OracleShape& s, const std::function<double(uint64_t, uint64_t)>& a,
                    const std::function<double(uint64_t, uint64_t)>& b) {
  OracleTensor y;
  for (uint64_t r = 0; r < s.rows; ++r) {
    for (uint64_t c = 0; c < s.cols; ++c) {
      double sum = 0;
      double magnitude = 0;
      for (uint64_t k = 0; k < s.inner; ++k) {
        sum += a(r, k) * b(k, c);
        magnitude += std::fabs(a(r, k) * b(k, c));
      }
      y.push_back(with_bound(sum, static_cast<double>(s.inner) * kU * magnitude));
    }
  }
  return y;
}

struct RmsRow {
  double r = 0;    // 1 / sqrt(mean(x^2) + eps)
  double e_r = 0;  // Relative.
};

// The sum of squares is relatively d + 1 roundings off (all terms positive), the mean and the eps
// add two; the square root halves that and, like the division, adds one.
RmsRow rms_of(const double* x, uint64_t cols, double eps) {
  double square_sum = 0;
  for (uint64_t c = 0; c < cols; ++c) {
    square_sum += x[c] * x[c];
  }
  return {1 / std::sqrt(square_sum / static_cast<double>(cols) + eps),
          ((tree_depth(cols) + 3) / 2 + 2) * kU};
}

OracleTensor rms_norm(const Doubles& x, const Doubles& w, const OracleShape& s, double eps) {
  OracleTensor y;
  for (uint64_t row = 0; row < s.rows; ++row) {
    const RmsRow rms = rms_of(&x[row * s.cols], s.cols, eps);
    for (uint64_t c = 0; c < s.cols; ++c) {
      const double value = x[row * s.cols + c] * rms.r * w[c];
      y.push_back(with_bound(value, (rms.e_r + 2 * kU) * std::fabs(value)));
    }
  }
  return y;
}

std::vector<OracleTensor> rms_norm_vjp(const std::vector<Doubles>& in, const OracleShape& s,
                                       double eps) {
  const Doubles& x = in[0];
  const Doubles& w = in[1];
  const Doubles& g = in[2];
  const double n = static_cast<double>(s.cols);
  OracleTensor gx;
  OracleTensor gw;
  for (uint64_t row = 0; row < s.rows; ++row) {
    const uint64_t start = row * s.cols;
    const RmsRow rms = rms_of(&x[start], s.cols, eps);
    double dot = 0;
    double magnitude = 0;
    for (uint64_t c = 0; c < s.cols; ++c) {
      dot += w[c] * g[start + c] * x[start + c];
      magnitude += std::fabs(w[c] * g[start + c] * x[start + c]);
    }
    const double e_dot = (tree_depth(s.cols) + 2) * kU * magnitude;
    const double r3 = rms.r * rms.r * rms.r;
    for (uint64_t c = 0; c < s.cols; ++c) {
      const double direct = rms.r * w[c] * g[start + c];
      const double scaled_x = x[start + c] * r3 / n;
      const double value = direct - scaled_x * dot;
      // r^3 (dot / n), then times x: five roundings beside those of r and of the dot product.
      const double bound = (rms.e_r + 2 * kU) * std::fabs(direct) +
                           std::fabs(scaled_x) * ((3 * rms.e_r + 5 * kU) * std::fabs(dot) + e_dot) +
                           kU * std::fabs(value);
      gx.push_back(with_bound(value, bound));
      const double gw_value = g[start + c] * x[start + c] * rms.r;
      gw.push_back(with_bound(gw_value, (rms.e_r + 2 * kU) * std::fabs(gw_value)));
    }
  }
  return {gx, gw};
}

struct LayerRow {
  double mean = 0;
  double r = 0;       // 1 / sqrt(variance + eps)
  double e_mean = 0;  // Absolute.
  double e_r = 0;     // Relative.

  double normalized(double x) const { return (x - mean) * r; }
  // e_n of n = (x - mean) r.
  double e_normalized(double x) const {
    return r * (e_mean + kU * std::fabs(x - mean)) + std::fabs(normalized(x)) * (e_r + kU);
  }
};

// A centered value c is off by e_mean + u |c|, hence the mean of squares by twice mean(|c|) times
// that, plus d + 2 roundings; relative to variance + eps, halved by the square root.
LayerRow layer_row_of(const double* x, uint64_t cols, double eps) {
  const double n = static_cast<double>(cols);
  LayerRow row;
  double mean_magnitude = 0;
  for (uint64_t c = 0; c < cols; ++c) {
    row.mean += x[c] / n;
    mean_magnitude += std::fabs(x[c]) / n;
  }
  row.e_mean = (tree_depth(cols) + 1) * kU * mean_magnitude;
  double variance = 0;
  double e_variance = 0;
  for (uint64_t c = 0; c < cols; ++c) {
    const double centered = x[c] - row.mean;
    const double e_centered = row.e_mean + kU * std::fabs(centered);
    variance += centered * centered / n;
    e_variance += (2 * std::fabs(centered) + e_centered) * e_centered / n;
  }
  e_variance += (tree_depth(cols) + 2) * kU * variance;
  row.r = 1 / std::sqrt(variance + eps);
  row.e_r = (e_variance / (variance + eps) + kU) / 2 + 2 * kU;
  return row;
}

OracleTensor layer_norm(const std::vector<Doubles>& in, const OracleShape& s, double eps) {
  OracleTensor y;
  for (uint64_t row = 0; row < s.rows; ++row) {
    const double* x = &in[0][row * s.cols];
    const LayerRow norm = layer_row_of(x, s.cols, eps);
    for (uint64_t c = 0; c < s.cols; ++c) {
      const double scaled = norm.normalized(x[c]) * in[1][c];
      const double value = scaled + in[2][c];
      y.push_back(with_bound(value, std::fabs(in[1][c]) * norm.e_normalized(x[c]) +
                                        kU * (std::fabs(scaled) + std::fabs(value))));
    }
  }
  return y;
}

std::vector<OracleTensor> layer_norm_vjp(const std::vector<Doubles>& in, const OracleShape& s,
                                         double eps) {
  const double n = static_cast<double>(s.cols);
  const double d = tree_depth(s.cols);
  OracleTensor gx;
  OracleTensor gw;
  for (uint64_t row = 0; row < s.rows; ++row) {
    const double* x = &in[0][row * s.cols];
    const double* g = &in[2][row * s.cols];
    const LayerRow norm = layer_row_of(x, s.cols, eps);
    double mean = 0;  // mean(w g)
    double e_mean = 0;
    double product = 0;  // mean(w g n)
    double e_product = 0;
    for (uint64_t c = 0; c < s.cols; ++c) {
      const double wg = in[1][c] * g[c];
      mean += wg / n;
      e_mean += (d + 2) * kU * std::fabs(wg) / n;
      product += wg * norm.normalized(x[c]) / n;
      e_product += (d + 3) * kU * std::fabs(wg * norm.normalized(x[c])) / n +
                   std::fabs(wg) * norm.e_normalized(x[c]) / n;
    }
    for (uint64_t c = 0; c < s.cols; ++c) {
      const double wg = in[1][c] * g[c];
      const double normalized = norm.normalized(x[c]);
      const double e_n = norm.e_normalized(x[c]);
      const double value = norm.r * (wg - mean - normalized * product);
      // Each of the three terms passes through at most three roundings before the last product.
      const double terms = std::fabs(wg) + std::fabs(mean) + std::fabs(normalized * product);
      const double e_terms = 3 * kU * terms + e_mean + std::fabs(normalized) * e_product +
                             (std::fabs(product) + e_product) * e_n;
      gx.push_back(with_bound(value, norm.r * e_terms + (norm.e_r + kU) * std::fabs(value)));
      gw.push_back(
          with_bound(g[c] * normalized, std::fabs(g[c]) * e_n + kU * std::fabs(g[c] * normalized)));
    }
  }
  return {gx, gw};
}

Doubles values_of(const OracleTensor& tensor) {
  Doubles values;
  for (const OracleValue& v : tensor) {
    values.push_back(v.value);
  }
  return values;
}

}  // namespace

std::vector<OracleTensor> oracle_of(const std::string& kernel, const std::vector<Doubles>& in,
                                    const OracleShape& s, const OracleAttributes& attributes) {
  const uint64_t count = s.rows * s.cols;
  const double eps = attributes.eps;
  if (kernel == "add") {
    return {elementwise(count, [&](uint64_t i) { return in[0][i] + in[1][i]; })};
  }
  if (kernel == "mul") {
    return {elementwise(count, [&](uint64_t i) { return in[0][i] * in[1][i]; })};
  }
  if (kernel == "scale") {
    return {elementwise(count, [&](uint64_t i) { return attributes.factor * in[0][i]; })};
  }
  if (kernel == "silu") {
    return {silu(in[0])};
  }
  if (kernel == "silu_vjp") {
    return {silu_vjp_oracle(in[0], in[1])};
  }
  if (kernel == "softmax") {
    return {softmax_oracle(in[0], s)};
  }
  if (kernel == "softmax_vjp") {
    return {softmax_vjp_oracle(in[0], in[1], s)};
  }
  if (kernel == "col_sum_vjp") {
    return {spread_oracle(s, [&](uint64_t, uint64_t col) { return in[0][col]; })};
  }
  if (kernel == "row_sum_vjp") {
    return {spread_oracle(s, [&](uint64_t row, uint64_t) { return in[0][row]; })};
  }
  if (kernel == "col_sum") {
    return {col_sum(in[0], s)};
  }
  if (kernel == "row_sum") {
    return {row_sum(in[0], s)};
  }
  if (kernel.starts_with("matmul")) {
    const bool transposes_a = kernel == "matmul_tn";
    const bool transposes_b = kernel == "matmul_nt";
    return {matmul(
        s,
        [&](uint64_t r, uint64_t k) {
          return transposes_a ? in[0][k * s.rows + r] : in[0][r * s.inner + k];
        },
        [&](uint64_t k, uint64_t c) {
          return transposes_b ? in[1][c * s.inner + k] : in[1][k * s.cols + c];
        })};
  }
  if (kernel == "rms_norm") {
    return {rms_norm(in[0], in[1], s, eps)};
  }
  if (kernel == "rms_norm_vjp") {
    return rms_norm_vjp(in, s, eps);
  }
  if (kernel == "layer_norm") {
    return {layer_norm(in, s, eps)};
  }
  INTERLOCK_CHECK(kernel == "layer_norm_vjp");
  return layer_norm_vjp(in, s, eps);
}

Doubles rms_norm_oracle(const Doubles& x, const Doubles& w, const OracleShape& shape, double eps) {
  return values_of(rms_norm(x, w, shape, eps));
}

Doubles layer_norm_oracle(const Doubles& x, const Doubles& w, const Doubles& b,
                          const OracleShape& shape, double eps) {
  return values_of(layer_norm({x, w, b}, shape, eps));
}

}  // namespace interlock
