// The one list that joins names of the kernel table to oracles.
#include "backends/float64/kernel_oracles.h"

#include <utility>

#include "backends/float64/attention.h"
#include "backends/float64/elementwise.h"
#include "backends/float64/layout.h"
#include "backends/float64/norms.h"
#include "backends/float64/optimizers.h"
#include "backends/float64/sums.h"
#include "backends/float64/transformer.h"

namespace interlock {

OracleCase oracle_case_of(const KernelParams& params, const Arithmetic& arithmetic) {
  return {{},
          {params.rows, params.cols, params.inner},
          {params.factor, params.eps, params.beta1, params.beta2, params.weight_decay, params.step,
           params.base, static_cast<double>(params.start)},
          arithmetic};
}

KernelOracle find_kernel_oracle(std::string_view kernel) {
  constexpr std::pair<std::string_view, KernelOracle> kOracles[] = {
      {"add", add_oracle},
      {"mul", mul_oracle},
      {"scale", scale_oracle},
      {"accumulate", add_oracle},
      {"sgd", sgd_oracle},
      {"adamw", adamw_oracle},
      {"concat", concat_oracle},
      {"split", split_oracle},
      {"transpose", transpose_oracle},
      {"silu", silu_oracle},
      {"col_sum", col_sum_oracle},
      {"row_sum", row_sum_oracle},
      {"matmul_nn", matmul_nn_oracle},
      {"matmul_nt", matmul_nt_oracle},
      {"matmul_tn", matmul_tn_oracle},
      {"rms_norm", rms_norm_oracle},
      {"rms_norm_vjp", rms_norm_vjp_oracle},
      {"rms_norm_vjp_stream", rms_norm_vjp_stream_oracle},
      {"layer_norm", layer_norm_oracle},
      {"layer_norm_vjp", layer_norm_vjp_oracle},
      {"softmax", softmax_oracle},
      {"softmax_vjp", softmax_vjp_oracle},
      {"softmax_vjp_stream", softmax_vjp_oracle},
      {"embedding", embedding_oracle},
      {"embedding_vjp", embedding_vjp_oracle},
      {"rope", rope_oracle},
      {"rope_vjp", rope_vjp_oracle},
      {"cross_entropy", cross_entropy_oracle},
      {"cross_entropy_vjp", cross_entropy_vjp_oracle},
      {"silu_vjp", silu_vjp_oracle},
      {"row_sum_vjp", row_sum_vjp_oracle},
      {"col_sum_vjp", col_sum_vjp_oracle},
  };
  for (const auto& [name, oracle] : kOracles) {
    if (name == kernel) return oracle;
  }
  return nullptr;
}

}  // namespace interlock
