// Oracles of the kernels that move elements and compute none.
#pragma once

#include <vector>

#include "backends/float64/kernel_oracles.h"

namespace interlock {

std::vector<OracleTensor> concat_oracle(const OracleCase& c);
std::vector<OracleTensor> split_oracle(const OracleCase& c);
std::vector<OracleTensor> transpose_oracle(const OracleCase& c);

}  // namespace interlock
