// transpose: y[cols, rows] = x[rows, cols]^T; a slice is a row of y.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"

OPERAND(0, readonly)
OPERAND(1, writeonly)

void main() {
  for (uint i = lane_index(); i < params.rows; i += lane_count()) {
    STORE_F32(1, slice_index() * params.rows + i, LOAD_F32(0, i * params.cols + slice_index()));
  }
}
