// One element at a time: the bound is that of the expression.
#include "backends/float64/elementwise.h"

namespace interlock {
namespace {

template <class ValueAt>
std::vector<OracleTensor> each_element(const OracleCase& c, const ValueAt& value_at) {
  OracleTensor y;
  y.reserve(c.inputs[0].size());
  for (uint64_t i = 0; i < c.inputs[0].size(); ++i) y.push_back(value_at(i));
  return {y};
}

}  // namespace

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

}  // namespace interlock
