// The body that the three products of matrices share; a_index and b_index say where the factors
// are. An invocation sums one element of y over the contracted extent, in its order.
#include "kernel.glsl"

OPERAND(0, readonly)
OPERAND(1, readonly)
OPERAND(2, writeonly)

uint a_index(uint row, uint k);
uint b_index(uint k, uint col);

void main() {
  const uint row = slice_index();
  const uint col = column_index();
  if (col >= params.cols) return;
  precise float sum = 0.0;
  for (uint k = 0; k < params.inner; ++k) {
    sum = sum + LOAD_F32(0, a_index(row, k)) * LOAD_F32(1, b_index(k, col));
  }
  STORE_F32(2, row * params.cols + col, sum);
}
