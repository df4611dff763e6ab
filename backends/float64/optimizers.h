// Oracles of the optimizers.
#pragma once

#include <vector>

#include "backends/float64/kernel_oracles.h"

namespace interlock {

std::vector<OracleTensor> sgd_oracle(const OracleCase& c);
std::vector<OracleTensor> adamw_oracle(const OracleCase& c);

}  // namespace interlock
