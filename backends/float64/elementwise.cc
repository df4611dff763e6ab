// One element at a time: the bound is that of the expression. What all elements of adamw share, the
// corrections of the bias, is off by the roundings of its power, and relatively by far more where
// the power is near 1.
#include <cmath>
#include <limits>

#include "backends/float64/oracles.h"

namespace interlock {
namespace {

template <class ValueAt>
std::vector<OracleTensor> each_element(const OracleCase& c, const ValueAt& value_at) {
  OracleTensor y;
  y.reserve(c.inputs[0].size());
  for (uint64_t i = 0; i < c.inputs[0].size(); ++i) y.push_back(value_at(i));
  return {y};
}

// x^n by squaring, as many roundings as products.
Rounded power(const Arithmetic& a, Rounded x, uint32_t n) {
  Rounded result{1, 0};
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = a.multiply(result, x);
    if (n > 1) x = a.multiply(x, x);
  }
  return result;
}

// Of any number: NaN of negative ones, and unknown of what may or may not be one.
Rounded square_root(const Arithmetic& a, Rounded x) {
  if (x.is_known() && x.value - x.error < 0) {
    const bool is_sure = x.value + x.error < 0 && a.keeps_specials;
    return is_sure ? Rounded{std::nan(""), 0} : Rounded{0, std::numeric_limits<double>::infinity()};
  }
  return a.square_root(x);
}

// Bound: u |a + b|.
std::vector<OracleTensor> add_oracle(const OracleCase& c) {
  return each_element(c, [&](uint64_t i) { return c.arithmetic.add(c.load(0, i), c.load(1, i)); });
}

// Bound: u |a b|.
std::vector<OracleTensor> mul_oracle(const OracleCase& c) {
  return each_element(
      c, [&](uint64_t i) { return c.arithmetic.multiply(c.load(0, i), c.load(1, i)); });
}

// Bound: u |factor x|.
std::vector<OracleTensor> scale_oracle(const OracleCase& c) {
  const Rounded factor = c.arithmetic.load(c.attributes.factor);
  return each_element(c, [&](uint64_t i) { return c.arithmetic.multiply(factor, c.load(0, i)); });
}

// Bound: (4 s(-x) + 2) u |y| where division rounds correctly: the exponential's 4 u count as far as
// it makes up the denominator.
std::vector<OracleTensor> silu_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  return each_element(c, [&](uint64_t i) {
    const Rounded x = c.load(0, i);
    return a.divide(x, a.add({1, 0}, a.exponential({-x.value, x.error})));
  });
}

// gx = g (s (1 + x (1 - s))), s = 1 / (1 + exp(-x)). Bound: with e_s = (4 s(-x) + 2) u s, the error
// of s, about |g| (s |x| (e_s + 2 u (1 - s)) + |q| e_s + 3 u |s q|), q = 1 + x (1 - s).
std::vector<OracleTensor> silu_vjp_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  return each_element(c, [&](uint64_t i) {
    const Rounded x = c.load(0, i);
    const Rounded s = a.divide({1, 0}, a.add({1, 0}, a.exponential({-x.value, x.error})));
    const Rounded q = a.add({1, 0}, a.multiply(x, a.subtract({1, 0}, s)));
    return a.multiply(c.load(1, i), a.multiply(s, q));
  });
}

// p - lr g. Bound: u |lr g| + u |p|.
std::vector<OracleTensor> sgd_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  const Rounded lr = a.load(c.attributes.factor);
  return each_element(
      c, [&](uint64_t i) { return a.subtract(c.load(1, i), a.multiply(lr, c.load(0, i))); });
}

// p (1 - lr weight_decay) - lr ((m / (1 - beta1^step)) / (sqrt(v / (1 - beta2^step)) + eps)), with
// the new m = beta1 m + (1 - beta1) g and v = beta2 v + (1 - beta2) (g g). Bounds: of m,
// u (|beta1 m| + 2 |(1 - beta1) g| + |m|), of v likewise with a rounding more; of p, terms through
// the rules.
std::vector<OracleTensor> adamw_oracle(const OracleCase& c) {
  const Arithmetic& a = c.arithmetic;
  const Rounded one{1, 0};
  const Rounded lr = a.load(c.attributes.factor);
  const Rounded eps = a.load(c.attributes.eps);
  const Rounded beta1 = a.load(c.attributes.beta1);
  const Rounded beta2 = a.load(c.attributes.beta2);
  const Rounded m_divisor = a.subtract(one, power(a, beta1, c.attributes.step));
  const Rounded v_divisor = a.subtract(one, power(a, beta2, c.attributes.step));
  const Rounded m_share = a.subtract(one, beta1);
  const Rounded v_share = a.subtract(one, beta2);
  const Rounded kept = a.subtract(one, a.multiply(lr, a.load(c.attributes.weight_decay)));
  std::vector<OracleTensor> outputs(3);
  for (uint64_t i = 0; i < c.inputs[0].size(); ++i) {
    const Rounded g = c.load(0, i);
    const Rounded m = a.add(a.multiply(beta1, c.load(2, i)), a.multiply(m_share, g));
    const Rounded v = a.add(a.multiply(beta2, c.load(3, i)), a.multiply(v_share, a.multiply(g, g)));
    const Rounded root = square_root(a, a.divide(v, v_divisor));
    const Rounded direction = a.divide(a.divide(m, m_divisor), a.add(root, eps));
    outputs[0].push_back(a.subtract(a.multiply(c.load(1, i), kept), a.multiply(lr, direction)));
    outputs[1].push_back(m);
    outputs[2].push_back(v);
  }
  return outputs;
}

}  // namespace

std::span<const NamedOracle> elementwise_oracles() {
  static constexpr NamedOracle kOracles[] = {
      {"add", add_oracle},   {"mul", mul_oracle},           {"scale", scale_oracle},
      {"silu", silu_oracle}, {"silu_vjp", silu_vjp_oracle}, {"accumulate", add_oracle},
      {"sgd", sgd_oracle},   {"adamw", adamw_oracle},
  };
  return kOracles;
}

}  // namespace interlock
