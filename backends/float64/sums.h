// Oracles of the kernels that are sums.
#pragma once

#include <vector>

#include "backends/float64/kernel_oracles.h"

namespace interlock {

std::vector<OracleTensor> col_sum_oracle(const OracleCase& c);
std::vector<OracleTensor> row_sum_oracle(const OracleCase& c);
std::vector<OracleTensor> matmul_nn_oracle(const OracleCase& c);
std::vector<OracleTensor> matmul_nt_oracle(const OracleCase& c);
std::vector<OracleTensor> matmul_tn_oracle(const OracleCase& c);

}  // namespace interlock
