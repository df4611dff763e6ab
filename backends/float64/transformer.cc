// Ids and labels are exact, and choose. The angle of rope is a product of a position and of a
// power, off relatively by what its exponent is off absolutely: in rows far down that is most of
// the bound.
#include "backends/float64/transformer.h"

#include <cmath>
#include <utility>

#include "backends/float64/attention.h"

namespace interlock {
namespace {

uint64_t id_of(const OracleCase& c, size_t input, uint64_t i, uint64_t count) {
  return static_cast<uint64_t>(c.inputs[input][i]) % count;
}

// A row of logits as softmax sees it.
class LogitRow {
 public:
  LogitRow(const OracleCase& c, uint64_t row) : c_(c), first_(row * c.shape.cols) {
    largest_ = largest_of(c, first_);
    RoundedSum sum(c.arithmetic);
    for (uint64_t col = 0; col < c.shape.cols; ++col) sum.add(exponential(col));
    sum_ = sum.total(row_depth(c.shape.cols));
  }

  // x - max(x)
  Rounded lowered(uint64_t col) const {
    return c_.arithmetic.subtract(c_.load(0, first_ + col), largest_);
  }
  Rounded exponential(uint64_t col) const { return c_.arithmetic.exponential(lowered(col)); }
  Rounded sum() const { return sum_; }

 private:
  const OracleCase& c_;
  uint64_t first_;
  Rounded largest_;
  Rounded sum_;
};

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

// y[2i] = x[2i] cos - x[2i+1] sin, y[2i+1] = x[2i] sin + x[2i+1] cos; `turns_back` negates the
// sine.
std::vector<OracleTensor> turned(const OracleCase& c, bool turns_back) {
  const Arithmetic& a = c.arithmetic;
  OracleTensor y;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    for (uint64_t i = 0; i < c.shape.cols / 2; ++i) {
      const auto [sine, cosine] = turn_of(c, row, i);
      const Rounded signed_sine = {turns_back ? -sine.value : sine.value, sine.error};
      const Rounded x0 = c.load(0, row * c.shape.cols + 2 * i);
      const Rounded x1 = c.load(0, row * c.shape.cols + 2 * i + 1);
      y.push_back(a.subtract(a.multiply(x0, cosine), a.multiply(x1, signed_sine)));
      y.push_back(a.add(a.multiply(x0, signed_sine), a.multiply(x1, cosine)));
    }
  }
  return {y};
}

}  // namespace

// Bound: 0.
std::vector<OracleTensor> embedding_oracle(const OracleCase& c) {
  OracleTensor y;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    const uint64_t entry = id_of(c, 0, row, c.shape.inner);
    for (uint64_t col = 0; col < c.shape.cols; ++col) {
      y.push_back(c.load(1, entry * c.shape.cols + col));
    }
  }
  return {y};
}

// Bound: gamma_d sum|g| over the rows of g that have the id, d one less than these.
std::vector<OracleTensor> embedding_vjp_oracle(const OracleCase& c) {
  OracleTensor gtable;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    for (uint64_t col = 0; col < c.shape.cols; ++col) {
      RoundedSum sum(c.arithmetic);
      uint64_t count = 0;
      for (uint64_t r = 0; r < c.shape.inner; ++r) {
        if (id_of(c, 0, r, c.shape.rows) != row) continue;
        sum.add(c.load(1, r * c.shape.cols + col));
        ++count;
      }
      gtable.push_back(sum.total(chain_depth(count)));
    }
  }
  return {gtable};
}

// With L = (2i / cols) ln(base) and angle t: the exponent is off by e_L = 6 u L, the frequency
// by e_L + 4 u relatively, t by e_t = (e_L + 5 u) t, and sine and cosine by e_t + 2 u. Bound: (e_t
// + 2 u)
// (|x0| + |x1|), and the roundings of two products and a sum.
std::vector<OracleTensor> rope_oracle(const OracleCase& c) { return turned(c, false); }

// Bound: as rope.
std::vector<OracleTensor> rope_vjp_oracle(const OracleCase& c) { return turned(c, true); }

// loss = log(s) - (x[label] - max), s = sum(exp(x - max)). Bound: e_s / s + 4 u |log(s)|, with e_s
// as softmax has it, u (max - x[label]), and u |loss|.
std::vector<OracleTensor> cross_entropy_oracle(const OracleCase& c) {
  OracleTensor loss;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    const LogitRow logits(c, row);
    const uint64_t label = id_of(c, 1, row, c.shape.cols);
    loss.push_back(
        c.arithmetic.subtract(c.arithmetic.logarithm(logits.sum()), logits.lowered(label)));
  }
  return {loss};
}

// glogits = (y - onehot) g, y = softmax. Bound: |g| (e_y + 2 u |y - onehot|).
std::vector<OracleTensor> cross_entropy_vjp_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  OracleTensor glogits;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    const LogitRow logits(c, row);
    const uint64_t label = id_of(c, 1, row, c.shape.cols);
    for (uint64_t col = 0; col < c.shape.cols; ++col) {
      const Rounded y = a.divide(logits.exponential(col), logits.sum());
      const Rounded onehot = {col == label ? 1.0 : 0.0, 0};
      glogits.push_back(a.multiply(a.subtract(y, onehot), c.load(2, row)));
    }
  }
  return {glogits};
}

}  // namespace interlock
