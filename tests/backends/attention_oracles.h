// Oracles of softmax and of the VJPs that an attention block needs; oracle_of() calls them.
#pragma once

#include <cstdint>
#include <functional>

#include "tests/backends/oracles.h"

namespace interlock {

OracleTensor silu_vjp_oracle(const Doubles& x, const Doubles& g);

// [rows, cols], per row.
OracleTensor softmax_oracle(const Doubles& x, const OracleShape& s);
OracleTensor softmax_vjp_oracle(const Doubles& y, const Doubles& g, const OracleShape& s);

// [rows, cols] with the value at(row, col): the VJPs of sums.
OracleTensor spread_oracle(const OracleShape& s,
                           const std::function<double(uint64_t, uint64_t)>& at);

}  // namespace interlock
