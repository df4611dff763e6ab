// embedding_vjp: row k of gtable is the sum of the rows r of g with ids[r] = k. An invocation sums a
// column of it, in order. Ids are modulo rows.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"

OPERAND(0, readonly)   // ids
OPERAND(1, readonly)   // g
OPERAND(2, writeonly)  // gtable

void main() {
  const uint col = column_index();
  if (col >= params.cols) return;
  precise float sum = 0.0;
  for (uint r = 0; r < params.inner; ++r) {
    if (LOAD_ID(0, r, params.rows) == slice_index()) {
      sum = sum + LOAD_F32(1, r * params.cols + col);
    }
  }
  STORE_F32(2, slice_index() * params.cols + col, sum);
}
