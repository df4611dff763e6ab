// Norms of rows and their VJPs.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

// rms_norm: y = x w / sqrt(mean(x^2) + eps), per row. A slice is a row.
// The sums come first; then each element is read before it is written, and never again: in place is
// safe.
struct RmsNormKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float square_sum = sum_over(lane, cols, [&](uint32_t i) {
      const float x = memory.load_f32(0, row + i);
      return x * x;
    });
    const float r = reciprocal_sqrt_f32(square_sum / static_cast<float>(cols) + params.eps);
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(2, row + i, memory.load_f32(0, row + i) * r * memory.load_f32(1, i));
    }
  }
};

// rms_norm_vjp: the VJP of rms_norm. With r = 1 / sqrt(mean(x^2) + eps), per row:
//   gx = r w g - x r^3 mean(w g x)      gw_rows = g x r, whose column sums are gw.
// A slice is a row. The sums come first; then each element is read before it is written, and never
// again: in place is safe.
struct RmsNormVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float square_sum = sum_over(lane, cols, [&](uint32_t i) {
      const float x = memory.load_f32(0, row + i);
      return x * x;
    });
    const float product_sum = sum_over(lane, cols, [&](uint32_t i) {
      return memory.load_f32(1, i) * memory.load_f32(2, row + i) * memory.load_f32(0, row + i);
    });
    const float count = static_cast<float>(cols);
    const float r = reciprocal_sqrt_f32(square_sum / count + params.eps);
    const float correction = r * r * r * (product_sum / count);
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      const float x = memory.load_f32(0, row + i);
      const float w = memory.load_f32(1, i);
      const float g = memory.load_f32(2, row + i);
      memory.store_f32(3, row + i, r * (w * g) - x * correction);
      memory.store_f32(4, row + i, g * x * r);
    }
  }
};

// rms_norm_vjp_stream: the VJP of rms_norm, as ggml's CPU kernel rms_norm_back computes it
// (d99724f2), with a weight. After the sums and the terms of gw, four passes over gx copy x there,
// scale it, add w g, and scale all:
//   gx = (x c + w g) r, c = -sum(w g x) / (sum(x^2) + eps cols), r = 1 / sqrt(mean(x^2) + eps)
// So gx may lie on x. On g it may not: the copy destroys what the third pass adds, always. Nor may
// gw_rows lie on either. A slice is a row.
struct RmsNormVjpStreamKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float square_sum = sum_over(lane, cols, [&](uint32_t i) {
      const float x = memory.load_f32(0, row + i);
      return x * x;
    });
    const float product_sum = sum_over(lane, cols, [&](uint32_t i) {
      return memory.load_f32(1, i) * memory.load_f32(2, row + i) * memory.load_f32(0, row + i);
    });
    const float count = static_cast<float>(cols);
    const float r = reciprocal_sqrt_f32(square_sum / count + params.eps);
    const float c = -product_sum / (square_sum + params.eps * count);
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(4, row + i, memory.load_f32(2, row + i) * memory.load_f32(0, row + i) * r);
    }
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(3, row + i, memory.load_f32(0, row + i));
    }
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(3, row + i, memory.load_f32(3, row + i) * c);
    }
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      const float wg = memory.load_f32(1, i) * memory.load_f32(2, row + i);
      memory.store_f32(3, row + i, memory.load_f32(3, row + i) + wg);
    }
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(3, row + i, memory.load_f32(3, row + i) * r);
    }
  }
};

// layer_norm: y = w (x - mean(x)) / sqrt(var(x) + eps) + b, per row. A slice is a row.
// The sums come first; then each element is read before it is written, and never again: in place is
// safe.
struct LayerNormKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const RowMoments x =
        moments_over(lane, cols, [&](uint32_t i) { return memory.load_f32(0, row + i); });
    const float r = reciprocal_sqrt_f32(x.variance + params.eps);
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      const float normalized = (memory.load_f32(0, row + i) - x.mean) * r;
      memory.store_f32(3, row + i, normalized * memory.load_f32(1, i) + memory.load_f32(2, i));
    }
  }
};

// layer_norm_vjp: the VJP of layer_norm. With n = (x - mean(x)) / sqrt(var(x) + eps), per row:
//   gx = (w g - mean(w g) - n mean(w g n)) / sqrt(var(x) + eps)
//   gw_rows = g n, whose column sums are gw; those of g are gb.
// A slice is a row. The sums come first; then each element is read before it is written, and never
// again: in place is safe.
struct LayerNormVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float count = static_cast<float>(cols);
    const RowMoments x =
        moments_over(lane, cols, [&](uint32_t i) { return memory.load_f32(0, row + i); });
    const float r = reciprocal_sqrt_f32(x.variance + params.eps);
    const float cotangent_mean =
        sum_over(lane, cols,
                 [&](uint32_t i) { return memory.load_f32(1, i) * memory.load_f32(2, row + i); }) /
        count;
    const float product_mean =
        sum_over(lane, cols,
                 [&](uint32_t i) {
                   const float n = (memory.load_f32(0, row + i) - x.mean) * r;
                   return memory.load_f32(1, i) * memory.load_f32(2, row + i) * n;
                 }) /
        count;
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      const float n = (memory.load_f32(0, row + i) - x.mean) * r;
      const float w = memory.load_f32(1, i);
      const float g = memory.load_f32(2, row + i);
      memory.store_f32(3, row + i, (w * g - cotangent_mean - n * product_mean) * r);
      memory.store_f32(4, row + i, g * n);
    }
  }
};

}  // namespace interlock
