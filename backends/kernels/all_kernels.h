// All kernels: the one list that joins names of the kernel table to bodies.
//
// This folder has the bodies, by subject, in the dialect of dialect.h, which the CPU, CUDA and its
// emulation compile. Vulkan has its own (backends/vulkan/shaders/).
#pragma once

#include <optional>
#include <string_view>

#include "backends/kernels/elementwise.h"
#include "backends/kernels/matmul.h"
#include "backends/kernels/matrices.h"
#include "backends/kernels/mix.h"
#include "backends/kernels/norms.h"
#include "backends/kernels/rope.h"
#include "backends/kernels/softmax.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"

namespace interlock {

// Calls visit.operator()<Kernel>(id) for every kernel.
template <class Visit>
void for_each_kernel(const Visit& visit) {
  const auto visit_named = [&]<class Kernel>(std::string_view name) {
    const std::optional<KernelId> id = find_kernel(name);
    INTERLOCK_CHECK(id.has_value());  // Every body has an entry in the kernel table.
    visit.template operator()<Kernel>(*id);
  };
  visit_named.template operator()<FillKernel>("fill");
  visit_named.template operator()<CopyKernel>("copy");
  visit_named.template operator()<AddKernel>("add");
  visit_named.template operator()<MulKernel>("mul");
  visit_named.template operator()<ScaleKernel>("scale");
  visit_named.template operator()<SiluKernel>("silu");
  visit_named.template operator()<SiluVjpKernel>("silu_vjp");
  visit_named.template operator()<AccumulateKernel>("accumulate");
  visit_named.template operator()<SgdKernel>("sgd");
  visit_named.template operator()<AdamwKernel>("adamw");
  visit_named.template operator()<ConcatKernel>("concat");
  visit_named.template operator()<SplitKernel>("split");
  visit_named.template operator()<TransposeKernel>("transpose");
  visit_named.template operator()<ColSumKernel>("col_sum");
  visit_named.template operator()<ColSumVjpKernel>("col_sum_vjp");
  visit_named.template operator()<RowSumKernel>("row_sum");
  visit_named.template operator()<RowSumVjpKernel>("row_sum_vjp");
  visit_named.template operator()<MatmulNnKernel>("matmul_nn");
  visit_named.template operator()<MatmulNtKernel>("matmul_nt");
  visit_named.template operator()<MatmulTnKernel>("matmul_tn");
  visit_named.template operator()<SoftmaxKernel>("softmax");
  visit_named.template operator()<SoftmaxVjpKernel>("softmax_vjp");
  visit_named.template operator()<SoftmaxVjpStreamKernel>("softmax_vjp_stream");
  visit_named.template operator()<EmbeddingKernel>("embedding");
  visit_named.template operator()<EmbeddingVjpKernel>("embedding_vjp");
  visit_named.template operator()<RopeKernel>("rope");
  visit_named.template operator()<RopeVjpKernel>("rope_vjp");
  visit_named.template operator()<CrossEntropyKernel>("cross_entropy");
  visit_named.template operator()<CrossEntropyVjpKernel>("cross_entropy_vjp");
  visit_named.template operator()<RmsNormKernel>("rms_norm");
  visit_named.template operator()<RmsNormVjpKernel>("rms_norm_vjp");
  visit_named.template operator()<RmsNormVjpStreamKernel>("rms_norm_vjp_stream");
  visit_named.template operator()<LayerNormKernel>("layer_norm");
  visit_named.template operator()<LayerNormVjpKernel>("layer_norm_vjp");
  visit_named.template operator()<MixKernel>("mix");
}

}  // namespace interlock
