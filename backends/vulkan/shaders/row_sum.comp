// row_sum: y[rows] = sum of x[rows, cols] over cols.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
#include "reduction.glsl"

OPERAND(0, readonly)
OPERAND(1, writeonly)

float term(uint sum, uint i) { return LOAD_F32(0, slice_index() * params.cols + i); }

void main() {
  const float sum = sum_over(0, params.cols);
  if (lane_index() == 0) STORE_F32(1, slice_index(), sum);
}
