// Kernels that move or add up the elements of a matrix.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

// concat: y[rows, inner + cols] has the columns of a[rows, inner] in front of those of b[rows,
// cols]. A slice is a row.
struct ConcatKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t first = params.inner;
    const uint64_t second = params.cols;
    const uint64_t row = slice * (first + second);
    for (uint64_t i = lane.index(); i < first; i += lane.count()) {
      memory.store_f32(2, row + i, memory.load_f32(0, slice * first + i));
    }
    for (uint64_t i = lane.index(); i < second; i += lane.count()) {
      memory.store_f32(2, row + first + i, memory.load_f32(1, slice * second + i));
    }
  }
};

// split: the VJP of concat: ga[rows, inner] has the first columns of g[rows, inner + cols],
// gb[rows, cols] the others. A slice is a row.
struct SplitKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t first = params.inner;
    const uint64_t second = params.cols;
    const uint64_t row = slice * (first + second);
    for (uint64_t i = lane.index(); i < first; i += lane.count()) {
      memory.store_f32(1, slice * first + i, memory.load_f32(0, row + i));
    }
    for (uint64_t i = lane.index(); i < second; i += lane.count()) {
      memory.store_f32(2, slice * second + i, memory.load_f32(0, row + first + i));
    }
  }
};

// transpose: y[cols, rows] = x[rows, cols]^T, its own VJP. A slice is a row of y, and reads a
// column.
struct TransposeKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    for (uint32_t i = lane.index(); i < params.rows; i += lane.count()) {
      memory.store_f32(1, slice * params.rows + i,
                       memory.load_f32(0, uint64_t{i} * params.cols + slice));
    }
  }
};

// col_sum: y[cols] = sum of x[rows, cols] over rows. One lane adds a column, top to bottom.
struct ColSumKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const ElementRange block = block_of_slice(slice, params.block, params.cols);
    for (uint64_t col = block.begin + lane.index(); col < block.end; col += lane.count()) {
      float sum = 0.0f;
      for (uint32_t row = 0; row < params.rows; ++row) {
        sum += memory.load_f32(0, uint64_t{row} * params.cols + col);
      }
      memory.store_f32(1, col, sum);
    }
  }
};

// col_sum_vjp: the VJP of col_sum: gx[rows, cols] has g[cols] in every row. A slice is a row.
struct ColSumVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t row = slice * params.cols;
    for (uint32_t i = lane.index(); i < params.cols; i += lane.count()) {
      memory.store_f32(1, row + i, memory.load_f32(0, i));
    }
  }
};

// row_sum: y[rows] = sum of x[rows, cols] over cols. A slice is a row.
struct RowSumKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t row = slice * params.cols;
    const float sum =
        sum_over(lane, params.cols, [&](uint32_t i) { return memory.load_f32(0, row + i); });
    if (lane.index() == 0) memory.store_f32(1, slice, sum);
  }
};

// row_sum_vjp: the VJP of row_sum: row r of gx[rows, cols] is all g[r]. A slice is a row.
struct RowSumVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t row = slice * params.cols;
    for (uint32_t i = lane.index(); i < params.cols; i += lane.count()) {
      memory.store_f32(1, row + i, memory.load_f32(0, slice));
    }
  }
};

// embedding: row r of y[rows, cols] is row ids[r] of table[inner, cols]. A slice is a row. Ids are
// taken modulo inner, as unsigned numbers (load_id).
struct EmbeddingKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t entry = uint64_t{load_id(memory, 0, slice, params.inner)} * params.cols;
    const uint64_t row = slice * params.cols;
    for (uint32_t i = lane.index(); i < params.cols; i += lane.count()) {
      memory.store_f32(2, row + i, memory.load_f32(1, entry + i));
    }
  }
};

// embedding_vjp: row k of gtable[rows, cols] is the sum of the rows r of g[inner, cols] with ids[r]
// = k, from the first to the last; 0 where there is none. Ids are taken modulo rows, as unsigned
// numbers (load_id). A slice is a row of gtable, and one lane adds a column of it: a scatter that
// gathers, so that sums have an order, and no addition is atomic.
struct EmbeddingVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    for (uint32_t col = lane.index(); col < params.cols; col += lane.count()) {
      float sum = 0.0f;
      for (uint32_t r = 0; r < params.inner; ++r) {
        if (load_id(memory, 0, r, params.rows) != slice) continue;
        sum += memory.load_f32(1, uint64_t{r} * params.cols + col);
      }
      memory.store_f32(2, slice * params.cols + col, sum);
    }
  }
};

}  // namespace interlock
