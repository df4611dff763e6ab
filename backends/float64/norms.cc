// Norms are quotients of sums over a row: the bounds of the sums go through the expressions around
// them. Two terms that are off by the same error are bounded as if they were not, with one
// exception: in the variance, where that would forget that centered values add up to zero.
#include <algorithm>
#include <cmath>

#include "backends/float64/oracles.h"

namespace interlock {
namespace {

// A row of the case: what its sums share.
class Row {
 public:
  Row(const OracleCase& c, uint64_t row)
      : c_(c), first_(row * c.shape.cols), count_{static_cast<double>(c.shape.cols), 0} {}

  Rounded matrix(size_t input, uint64_t col) const { return c_.load(input, first_ + col); }
  Rounded vector(size_t input, uint64_t col) const { return c_.load(input, col); }

  // Bound: gamma_{d} sum|terms|, d = ceil(cols / 32) + 4.
  template <class Term>
  Rounded sum(const Term& term) const {
    return sum_of(c_, c_.shape.cols, row_depth(c_.shape.cols), term);
  }

  // Bound: that of the sum, divided by cols, and one division.
  template <class Term>
  Rounded mean(const Term& term) const {
    return c_.arithmetic.divide(sum(term), count_);
  }

  // 1 / sqrt(square + eps).
  Rounded reciprocal_root(Rounded square) const {
    const Arithmetic& a = c_.arithmetic;
    return a.divide({1, 0}, a.square_root(a.add(square, a.load(c_.attributes.eps))));
  }

 private:
  const OracleCase& c_;
  uint64_t first_;
  Rounded count_;
};

// 1 / sqrt(mean(x^2) + eps). All terms are positive, so the sum of squares is relatively
// gamma_{d + 1} off.
Rounded root_mean_square_reciprocal(const OracleCase& c, const Row& row) {
  return row.reciprocal_root(row.mean([&](uint64_t col) {
    const Rounded x = row.matrix(0, col);
    return c.arithmetic.multiply(x, x);
  }));
}

// What follows for the variance from centered values adding up to zero: with a mean that is off by
// e, the sum of squares is sum c^2 + cols e^2; 2 e sum c vanishes. Each square has two roundings of
// its difference and its own.
double variance_error(const OracleCase& c, const Row& row, Rounded mean) {
  const double count = static_cast<double>(c.shape.cols);
  const double underflow = c.arithmetic.underflow();
  double square_sum = 0;
  double underflow_sum = 0;
  double load_sum = 0;
  for (uint64_t col = 0; col < c.shape.cols; ++col) {
    const Rounded x = row.matrix(0, col);
    const double centered = std::fabs(x.value - mean.value);
    square_sum += centered * centered;
    underflow_sum += (2 * (centered + mean.error) + underflow) * underflow + 2 * underflow;
    load_sum += (2 * (centered + mean.error) + x.error) * x.error;
  }
  square_sum += count * mean.error * mean.error;
  const double roundings = static_cast<double>(row_depth(c.shape.cols) + 4) * kUnitRoundoff +
                           2 * c.arithmetic.division_ulp * kUnitRoundoff;
  const double gamma = roundings / (1 - roundings);
  return mean.error * mean.error + (gamma * square_sum + 2 * (underflow_sum + load_sum)) / count +
         underflow;
}

struct Moments {
  Rounded mean;
  Rounded r;  // 1 / sqrt(variance + eps)
};

Moments moments_of(const OracleCase& c, const Row& row) {
  const Rounded mean = row.mean([&](uint64_t col) { return row.matrix(0, col); });
  Rounded variance = row.mean([&](uint64_t col) {
    const Rounded centered = c.arithmetic.subtract(row.matrix(0, col), mean);
    return c.arithmetic.multiply(centered, centered);
  });
  if (variance.is_known() && std::isfinite(variance.value)) {
    variance.error = std::min(variance.error, variance_error(c, row, mean));
  }
  return {mean, row.reciprocal_root(variance)};
}

Rounded normalized(const OracleCase& c, const Moments& moments, Rounded x) {
  return c.arithmetic.multiply(c.arithmetic.subtract(x, moments.mean), moments.r);
}

// Outputs of the shape of the rows: visit(row, outputs) appends a row to each.
template <class Visit>
std::vector<OracleTensor> by_row(const OracleCase& c, size_t output_count, const Visit& visit) {
  std::vector<OracleTensor> outputs(output_count);
  for (uint64_t i = 0; i < c.shape.rows; ++i) visit(Row(c, i), outputs);
  return outputs;
}

// y = (x r) w.
std::vector<OracleTensor> rms_norm_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  return by_row(c, 1, [&](const Row& row, std::vector<OracleTensor>& outputs) {
    const Rounded r = root_mean_square_reciprocal(c, row);
    for (uint64_t col = 0; col < c.shape.cols; ++col) {
      outputs[0].push_back(a.multiply(a.multiply(row.matrix(0, col), r), row.vector(1, col)));
    }
  });
}

// gx = r (w g) - x (r^3 mean(w g x)), gw_rows = (g x) r.
std::vector<OracleTensor> rms_norm_vjp_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  return by_row(c, 2, [&](const Row& row, std::vector<OracleTensor>& outputs) {
    const Rounded r = root_mean_square_reciprocal(c, row);
    const Rounded product_mean = row.mean([&](uint64_t col) {
      return a.multiply(a.multiply(row.vector(1, col), row.matrix(2, col)), row.matrix(0, col));
    });
    const Rounded correction = a.multiply(a.multiply(a.multiply(r, r), r), product_mean);
    for (uint64_t col = 0; col < c.shape.cols; ++col) {
      const Rounded x = row.matrix(0, col);
      const Rounded g = row.matrix(2, col);
      outputs[0].push_back(
          a.subtract(a.multiply(r, a.multiply(row.vector(1, col), g)), a.multiply(x, correction)));
      outputs[1].push_back(a.multiply(a.multiply(g, x), r));
    }
  });
}

// gx = (x c + w g) r, c = -sum(w g x) / (sum(x^2) + eps cols); gw_rows as above.
std::vector<OracleTensor> rms_norm_vjp_stream_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  const Rounded count{static_cast<double>(c.shape.cols), 0};
  return by_row(c, 2, [&](const Row& row, std::vector<OracleTensor>& outputs) {
    const Rounded square_sum =
        row.sum([&](uint64_t col) { return a.multiply(row.matrix(0, col), row.matrix(0, col)); });
    const Rounded product_sum = row.sum([&](uint64_t col) {
      return a.multiply(a.multiply(row.vector(1, col), row.matrix(2, col)), row.matrix(0, col));
    });
    const Rounded r = row.reciprocal_root(a.divide(square_sum, count));
    const Rounded shift = a.multiply(a.load(c.attributes.eps), count);
    const Rounded quotient = a.divide(product_sum, a.add(square_sum, shift));
    for (uint64_t col = 0; col < c.shape.cols; ++col) {
      const Rounded x = row.matrix(0, col);
      const Rounded g = row.matrix(2, col);
      const Rounded scaled = a.multiply(x, {-quotient.value, quotient.error});
      outputs[0].push_back(a.multiply(a.add(scaled, a.multiply(row.vector(1, col), g)), r));
      outputs[1].push_back(a.multiply(a.multiply(g, x), r));
    }
  });
}

// y = ((x - mean) r) w + b.
std::vector<OracleTensor> layer_norm_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  return by_row(c, 1, [&](const Row& row, std::vector<OracleTensor>& outputs) {
    const Moments moments = moments_of(c, row);
    for (uint64_t col = 0; col < c.shape.cols; ++col) {
      const Rounded n = normalized(c, moments, row.matrix(0, col));
      outputs[0].push_back(a.add(a.multiply(n, row.vector(1, col)), row.vector(2, col)));
    }
  });
}

// gx = ((w g - mean(w g)) - n mean(w g n)) r, gw_rows = g n, n = (x - mean) r.
std::vector<OracleTensor> layer_norm_vjp_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  return by_row(c, 2, [&](const Row& row, std::vector<OracleTensor>& outputs) {
    const Moments moments = moments_of(c, row);
    const auto wg = [&](uint64_t col) {
      return a.multiply(row.vector(1, col), row.matrix(2, col));
    };
    const auto n = [&](uint64_t col) { return normalized(c, moments, row.matrix(0, col)); };
    const Rounded mean = row.mean(wg);
    const Rounded product_mean =
        row.mean([&](uint64_t col) { return a.multiply(wg(col), n(col)); });
    for (uint64_t col = 0; col < c.shape.cols; ++col) {
      const Rounded centered = a.subtract(wg(col), mean);
      outputs[0].push_back(
          a.multiply(a.subtract(centered, a.multiply(n(col), product_mean)), moments.r));
      outputs[1].push_back(a.multiply(row.matrix(2, col), n(col)));
    }
  });
}

}  // namespace

std::span<const NamedOracle> norm_oracles() {
  static constexpr NamedOracle kOracles[] = {
      {"rms_norm", rms_norm_oracle},
      {"rms_norm_vjp", rms_norm_vjp_oracle},
      {"rms_norm_vjp_stream", rms_norm_vjp_stream_oracle},
      {"layer_norm", layer_norm_oracle},
      {"layer_norm_vjp", layer_norm_vjp_oracle},
  };
  return kOracles;
}

}  // namespace interlock
