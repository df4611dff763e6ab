// Oracles of the elementwise kernels.
#pragma once

#include <vector>

#include "backends/float64/kernel_oracles.h"

namespace interlock {

std::vector<OracleTensor> add_oracle(const OracleCase& c);
std::vector<OracleTensor> mul_oracle(const OracleCase& c);
std::vector<OracleTensor> scale_oracle(const OracleCase& c);
std::vector<OracleTensor> silu_oracle(const OracleCase& c);

}  // namespace interlock
