// Oracles of the norms and of their VJPs.
#pragma once

#include <vector>

#include "backends/float64/kernel_oracles.h"

namespace interlock {

std::vector<OracleTensor> rms_norm_oracle(const OracleCase& c);
std::vector<OracleTensor> rms_norm_vjp_oracle(const OracleCase& c);
std::vector<OracleTensor> rms_norm_vjp_stream_oracle(const OracleCase& c);
std::vector<OracleTensor> layer_norm_oracle(const OracleCase& c);
std::vector<OracleTensor> layer_norm_vjp_oracle(const OracleCase& c);

}  // namespace interlock
