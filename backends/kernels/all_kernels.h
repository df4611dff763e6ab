// All kernels: the one list that joins names of the kernel table to bodies.
//
// This folder has the bodies, a file each, in the dialect of dialect.h, which the CPU, CUDA and its
// emulation compile. Vulkan has its own (backends/vulkan/shaders/).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "backends/kernels/accumulate.h"
#include "backends/kernels/adamw.h"
#include "backends/kernels/add.h"
#include "backends/kernels/col_sum.h"
#include "backends/kernels/col_sum_vjp.h"
#include "backends/kernels/concat.h"
#include "backends/kernels/copy.h"
#include "backends/kernels/cross_entropy.h"
#include "backends/kernels/cross_entropy_vjp.h"
#include "backends/kernels/embedding.h"
#include "backends/kernels/embedding_vjp.h"
#include "backends/kernels/fill.h"
#include "backends/kernels/layer_norm.h"
#include "backends/kernels/layer_norm_vjp.h"
#include "backends/kernels/matmul_nn.h"
#include "backends/kernels/matmul_nt.h"
#include "backends/kernels/matmul_tn.h"
#include "backends/kernels/mix.h"
#include "backends/kernels/mul.h"
#include "backends/kernels/rms_norm.h"
#include "backends/kernels/rms_norm_vjp.h"
#include "backends/kernels/rms_norm_vjp_stream.h"
#include "backends/kernels/rope.h"
#include "backends/kernels/rope_vjp.h"
#include "backends/kernels/row_sum.h"
#include "backends/kernels/row_sum_vjp.h"
#include "backends/kernels/scale.h"
#include "backends/kernels/sgd.h"
#include "backends/kernels/silu.h"
#include "backends/kernels/silu_vjp.h"
#include "backends/kernels/softmax.h"
#include "backends/kernels/softmax_vjp.h"
#include "backends/kernels/softmax_vjp_stream.h"
#include "backends/kernels/split.h"
#include "backends/kernels/transpose.h"

namespace interlock {

// Calls visit.operator()<Kernel>(name) for every kernel.
template <class Visit>
void for_each_kernel(Visit&& visit) {
  visit.template operator()<FillKernel>("fill");
  visit.template operator()<CopyKernel>("copy");
  visit.template operator()<AddKernel>("add");
  visit.template operator()<MulKernel>("mul");
  visit.template operator()<ScaleKernel>("scale");
  visit.template operator()<SiluKernel>("silu");
  visit.template operator()<SiluVjpKernel>("silu_vjp");
  visit.template operator()<AccumulateKernel>("accumulate");
  visit.template operator()<SgdKernel>("sgd");
  visit.template operator()<AdamwKernel>("adamw");
  visit.template operator()<ConcatKernel>("concat");
  visit.template operator()<SplitKernel>("split");
  visit.template operator()<TransposeKernel>("transpose");
  visit.template operator()<ColSumKernel>("col_sum");
  visit.template operator()<ColSumVjpKernel>("col_sum_vjp");
  visit.template operator()<RowSumKernel>("row_sum");
  visit.template operator()<RowSumVjpKernel>("row_sum_vjp");
  visit.template operator()<MatmulNnKernel>("matmul_nn");
  visit.template operator()<MatmulNtKernel>("matmul_nt");
  visit.template operator()<MatmulTnKernel>("matmul_tn");
  visit.template operator()<SoftmaxKernel>("softmax");
  visit.template operator()<SoftmaxVjpKernel>("softmax_vjp");
  visit.template operator()<SoftmaxVjpStreamKernel>("softmax_vjp_stream");
  visit.template operator()<EmbeddingKernel>("embedding");
  visit.template operator()<EmbeddingVjpKernel>("embedding_vjp");
  visit.template operator()<RopeKernel>("rope");
  visit.template operator()<RopeVjpKernel>("rope_vjp");
  visit.template operator()<CrossEntropyKernel>("cross_entropy");
  visit.template operator()<CrossEntropyVjpKernel>("cross_entropy_vjp");
  visit.template operator()<RmsNormKernel>("rms_norm");
  visit.template operator()<RmsNormVjpKernel>("rms_norm_vjp");
  visit.template operator()<RmsNormVjpStreamKernel>("rms_norm_vjp_stream");
  visit.template operator()<LayerNormKernel>("layer_norm");
  visit.template operator()<LayerNormVjpKernel>("layer_norm_vjp");
  visit.template operator()<MixKernel>("mix");
}

}  // namespace interlock
