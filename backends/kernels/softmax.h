// Softmax, the cross-entropy, and their VJPs.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

// softmax: y = exp(x - max(x)) / sum(exp(x - max(x))), per row. A slice is a row.
// The maximum and the sum come first; then each element is read before it is written, and never
// again: in place is safe. So every exponential is computed twice: y cannot hold it between.
//
// An element of -inf gives 0. A row that has a NaN or +inf, or nothing but -inf, is NaN throughout:
// infinity minus infinity.
struct SoftmaxKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float largest =
        max_over(lane, cols, [&](uint32_t i) { return memory.load_f32(0, row + i); });
    const float sum = sum_over(
        lane, cols, [&](uint32_t i) { return exp_f32(memory.load_f32(0, row + i) - largest); });
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(1, row + i, exp_f32(memory.load_f32(0, row + i) - largest) / sum);
    }
  }
};

// softmax_vjp: the VJP of softmax, from its output: gx = y (g - sum(y g)), per row.
// A slice is a row. The sum comes first; then each element is read before it is written, and never
// again: in place is safe, on y and on g. (A body that streams, adding to gx what it still has to
// read, would not bear it: that is how gradients go wrong under a planner that knows no contract.)
//
// A NaN in a row of y or g makes the row NaN; so does an infinity beside a 0 of the other.
struct SoftmaxVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float dot = sum_over(lane, cols, [&](uint32_t i) {
      return memory.load_f32(0, row + i) * memory.load_f32(1, row + i);
    });
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      const float y = memory.load_f32(0, row + i);
      const float g = memory.load_f32(1, row + i);
      memory.store_f32(2, row + i, y * (g - dot));
    }
  }
};

// softmax_vjp_stream: gx = y (g - sum(y g)), per row, as ggml's CPU kernel soft_max_back computes
// it (d99724f2): the sum, then three passes over gx, which copy g there, subtract the sum, and
// multiply by y. So gx may lie on g. On y it may not: the copy destroys what the last pass
// multiplies by, and the result is (g - sum)^2, always. A slice is a row.
struct SoftmaxVjpStreamKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float dot = sum_over(lane, cols, [&](uint32_t i) {
      return memory.load_f32(0, row + i) * memory.load_f32(1, row + i);
    });
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(2, row + i, memory.load_f32(1, row + i));
    }
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(2, row + i, memory.load_f32(2, row + i) - dot);
    }
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(2, row + i, memory.load_f32(2, row + i) * memory.load_f32(0, row + i));
    }
  }
};

// cross_entropy: loss[r] = log(sum(exp(x - max(x)))) - (x[label] - max(x)), x row r of the logits.
// A slice is a row. Labels are taken modulo cols, as unsigned numbers (load_id).
//
// A row that has a NaN or +inf, or nothing but -inf, has the loss NaN; a label at -inf beside
// numbers has an infinite one.
struct CrossEntropyKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float largest =
        max_over(lane, cols, [&](uint32_t i) { return memory.load_f32(0, row + i); });
    const float sum = sum_over(
        lane, cols, [&](uint32_t i) { return exp_f32(memory.load_f32(0, row + i) - largest); });
    if (lane.index() != 0) return;
    const float chosen = memory.load_f32(0, row + load_id(memory, 1, slice, cols));
    memory.store_f32(2, slice, log_f32(sum) - (chosen - largest));
  }
};

// cross_entropy_vjp: the VJP of cross_entropy: glogits = (softmax(x) - onehot(label)) gloss, x a
// row of the logits. A slice is a row. The maximum and the sum come first; then each element is
// read before it is written, and never again: glogits may replace the logits.
//
// A row that has a NaN or +inf, or nothing but -inf, is NaN throughout.
struct CrossEntropyVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float largest =
        max_over(lane, cols, [&](uint32_t i) { return memory.load_f32(0, row + i); });
    const float sum = sum_over(
        lane, cols, [&](uint32_t i) { return exp_f32(memory.load_f32(0, row + i) - largest); });
    const uint32_t label = load_id(memory, 1, slice, cols);
    const float g = memory.load_f32(2, slice);
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      const float y = exp_f32(memory.load_f32(0, row + i) - largest) / sum;
      memory.store_f32(3, row + i, (y - (i == label ? 1.0f : 0.0f)) * g);
    }
  }
};

}  // namespace interlock
