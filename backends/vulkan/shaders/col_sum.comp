// col_sum: y[cols] = sum of x[rows, cols] over rows. One invocation adds a column, top to bottom.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"

OPERAND(0, readonly)
OPERAND(1, writeonly)

void main() {
  const ElementRange block = block_of_slice(params.block, params.cols);
  const uint col = block.begin + column_index();
  if (col >= block.end) return;
  precise float sum = 0.0;
  for (uint row = 0; row < params.rows; ++row) {
    sum = sum + LOAD_F32(0, row * params.cols + col);
  }
  STORE_F32(1, col, sum);
}
