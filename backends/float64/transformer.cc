// The maximum that softmax subtracts is one of its inputs, and exact. So x - max(x) is off by one
// rounding, its exponential relatively by that error and by 4 u, and the sum, whose terms are
// positive and include a 1, by no more than its terms and its depth.
//
// Labels are exact, and choose. The angle of rope is a product of a position and of a power, off
// relatively by what its exponent is off absolutely: in rows far down that is most of the bound.
#include <algorithm>
#include <cmath>
#include <utility>

#include "backends/float64/oracles.h"

namespace interlock {
namespace {

// The greatest of the `cols` elements of input 0 from `first` on; NaN if one of them is.
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

// A row of logits as softmax sees it.
class LogitRow {
 public:
  LogitRow(const OracleCase& c, uint64_t row) : c_(c), first_(row * c.shape.cols) {
    largest_ = largest_of(c, first_);
    sum_ = sum_of(c, c.shape.cols, row_depth(c.shape.cols),
                  [&](uint64_t col) { return exponential(col); });
  }

  // x - max(x)
  Rounded lowered(uint64_t col) const {
    return c_.arithmetic.subtract(c_.load(0, first_ + col), largest_);
  }
  Rounded exponential(uint64_t col) const { return c_.arithmetic.exponential(lowered(col)); }
  Rounded sum() const { return sum_; }
  Rounded softmax(uint64_t col) const { return c_.arithmetic.divide(exponential(col), sum_); }

 private:
  const OracleCase& c_;
  uint64_t first_;
  Rounded largest_;
  Rounded sum_;
};

uint64_t label_of(const OracleCase& c, uint64_t row) {
  return static_cast<uint64_t>(c.inputs[1][row]) % c.shape.cols;
}

// Sine and cosine of the angle of pair `i` of row `row`.
std::pair<Rounded, Rounded> turn_of(const OracleCase& c, uint64_t row, uint64_t i) {
  const Arithmetic& a = c.arithmetic;
  const Rounded q =
      a.divide({static_cast<double>(2 * i), 0}, {static_cast<double>(c.shape.cols), 0});
  const Rounded exponent = a.multiply(q, a.logarithm({c.attributes.base, 0}));
  const Rounded frequency = a.exponential({-exponent.value, exponent.error});
  const Rounded position = {c.attributes.start + static_cast<double>(row), 0};
  const Rounded angle = a.multiply(position, frequency);
  return {a.sine(angle), a.cosine(angle)};
}

// y[2i] = x[2i] cos - x[2i+1] sin, y[2i+1] = x[2i] sin + x[2i+1] cos; the VJP turns back, and
// negates the sine. With L = (2i / cols) ln(base) and angle t: the exponent is off by e_L = 6 u L,
// the frequency by e_L + 4 u relatively, t by e_t = (e_L + 5 u) t, and sine and cosine by
// e_t + 2 u. Bound: (e_t + 2 u) (|x0| + |x1|), and the roundings of two products and a sum.
template <bool kTurnsBack>
std::vector<OracleTensor> rope_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  OracleTensor y;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    for (uint64_t i = 0; i < c.shape.cols / 2; ++i) {
      const auto [sine, cosine] = turn_of(c, row, i);
      const Rounded signed_sine = {kTurnsBack ? -sine.value : sine.value, sine.error};
      const Rounded x0 = c.load(0, row * c.shape.cols + 2 * i);
      const Rounded x1 = c.load(0, row * c.shape.cols + 2 * i + 1);
      y.push_back(a.subtract(a.multiply(x0, cosine), a.multiply(x1, signed_sine)));
      y.push_back(a.add(a.multiply(x0, signed_sine), a.multiply(x1, cosine)));
    }
  }
  return {y};
}

// y = exp(x - max(x)) / sum(exp(x - max(x))). Bound: ((max - x) + 4) u y, the same of the sum's
// terms, gamma_d and one division.
std::vector<OracleTensor> softmax_oracle(const OracleCase& c) {
  OracleTensor y;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    const LogitRow logits(c, row);
    for (uint64_t col = 0; col < c.shape.cols; ++col) y.push_back(logits.softmax(col));
  }
  return {y};
}

// gx = y (g - sum(y g)). Bound: |y| (gamma_d sum|y g| + u sum|y g| + 2 u |g - sum|).
std::vector<OracleTensor> softmax_vjp_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  OracleTensor gx;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    const uint64_t first = row * c.shape.cols;
    const Rounded dot = sum_of(c, c.shape.cols, row_depth(c.shape.cols), [&](uint64_t col) {
      return a.multiply(c.load(0, first + col), c.load(1, first + col));
    });
    for (uint64_t i = first; i < first + c.shape.cols; ++i) {
      gx.push_back(a.multiply(c.load(0, i), a.subtract(c.load(1, i), dot)));
    }
  }
  return {gx};
}

// loss = log(s) - (x[label] - max), s = sum(exp(x - max)). Bound: e_s / s + 4 u |log(s)|, with e_s
// as softmax has it, u (max - x[label]), and u |loss|.
std::vector<OracleTensor> cross_entropy_oracle(const OracleCase& c) {
  return matrix_of(c.shape.rows, 1, [&](uint64_t row, uint64_t /*col*/) {
    const LogitRow logits(c, row);
    return c.arithmetic.subtract(c.arithmetic.logarithm(logits.sum()),
                                 logits.lowered(label_of(c, row)));
  });
}

// glogits = (y - onehot) g, y = softmax. Bound: |g| (e_y + 2 u |y - onehot|).
std::vector<OracleTensor> cross_entropy_vjp_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  OracleTensor glogits;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    const LogitRow logits(c, row);
    const uint64_t label = label_of(c, row);
    for (uint64_t col = 0; col < c.shape.cols; ++col) {
      const Rounded y = logits.softmax(col);
      const Rounded onehot = {col == label ? 1.0 : 0.0, 0};
      glogits.push_back(a.multiply(a.subtract(y, onehot), c.load(2, row)));
    }
  }
  return {glogits};
}

}  // namespace

std::span<const NamedOracle> transformer_oracles() {
  static constexpr NamedOracle kOracles[] = {
      {"softmax", softmax_oracle},
      {"softmax_vjp", softmax_vjp_oracle},
      {"softmax_vjp_stream", softmax_vjp_oracle},
      {"rope", rope_oracle<false>},
      {"rope_vjp", rope_oracle<true>},
      {"cross_entropy", cross_entropy_oracle},
      {"cross_entropy_vjp", cross_entropy_vjp_oracle},
  };
  return kOracles;
}

}  // namespace interlock
