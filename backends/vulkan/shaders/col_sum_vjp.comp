// col_sum_vjp: gx[rows, cols] has g[cols] in every row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"

OPERAND(0, readonly)   // g
OPERAND(1, writeonly)  // gx

void main() {
  const uint row = slice_index() * params.cols;
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    STORE_F32(1, row + i, LOAD_F32(0, i));
  }
}
