#include "backends/float64/kernel_oracles.h"

#include "backends/float64/oracles.h"

namespace interlock {

OracleCase oracle_case_of(const KernelParams& params, const Arithmetic& arithmetic) {
  return {{},
          {params.rows, params.cols, params.inner},
          {params.factor, params.eps, params.beta1, params.beta2, params.weight_decay, params.step,
           params.base, static_cast<double>(params.start)},
          arithmetic};
}

KernelOracle find_kernel_oracle(std::string_view kernel) {
  for (const auto& oracles :
       {elementwise_oracles(), matrix_oracles(), norm_oracles(), transformer_oracles()}) {
    for (const NamedOracle& named : oracles) {
      if (named.kernel == kernel) return named.oracle;
    }
  }
  return nullptr;
}

}  // namespace interlock
