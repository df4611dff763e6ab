// Oracles of softmax and of the VJPs that an attention block needs.
#pragma once

#include <vector>

#include "backends/float64/kernel_oracles.h"

namespace interlock {

// The greatest of the `cols` elements of input 0 from `first` on; NaN if one of them is.
Rounded largest_of(const OracleCase& c, uint64_t first);

std::vector<OracleTensor> softmax_oracle(const OracleCase& c);
std::vector<OracleTensor> softmax_vjp_oracle(const OracleCase& c);
std::vector<OracleTensor> silu_vjp_oracle(const OracleCase& c);
std::vector<OracleTensor> row_sum_vjp_oracle(const OracleCase& c);
std::vector<OracleTensor> col_sum_vjp_oracle(const OracleCase& c);

}  // namespace interlock
