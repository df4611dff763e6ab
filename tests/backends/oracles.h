// Oracles: every table kernel again, in float64 and from its definition, sharing nothing with the
// bodies; and how far a float32 body may be off.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace interlock {

// A value, and a bound on the error of a float32 evaluation of it.
struct OracleValue {
  double value = 0;
  double bound = 0;
};

using Doubles = std::vector<double>;
using OracleTensor = std::vector<OracleValue>;

struct OracleShape {
  uint64_t rows = 1;
  uint64_t cols = 1;
  uint64_t inner = 1;
};

struct OracleAttributes {
  double factor = 0;
  double eps = 0;
};

// Returns the outputs of the f32 kernel (all but fill and copy), from its inputs in operand order.
std::vector<OracleTensor> oracle_of(const std::string& kernel, const std::vector<Doubles>& inputs,
                                    const OracleShape& shape, const OracleAttributes& attributes);

// Forward passes without bounds, for finite differences.
Doubles rms_norm_oracle(const Doubles& x, const Doubles& w, const OracleShape& shape, double eps);
Doubles layer_norm_oracle(const Doubles& x, const Doubles& w, const Doubles& b,
                          const OracleShape& shape, double eps);

}  // namespace interlock
