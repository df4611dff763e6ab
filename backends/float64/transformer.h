// Oracles of what a transformer has besides attention: embedding, rope, cross-entropy, and their
// VJPs.
#pragma once

#include <vector>

#include "backends/float64/kernel_oracles.h"

namespace interlock {

std::vector<OracleTensor> embedding_oracle(const OracleCase& c);
std::vector<OracleTensor> embedding_vjp_oracle(const OracleCase& c);
std::vector<OracleTensor> rope_oracle(const OracleCase& c);
std::vector<OracleTensor> rope_vjp_oracle(const OracleCase& c);
std::vector<OracleTensor> cross_entropy_oracle(const OracleCase& c);
std::vector<OracleTensor> cross_entropy_vjp_oracle(const OracleCase& c);

}  // namespace interlock
