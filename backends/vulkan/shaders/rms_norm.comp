// rms_norm: y = x w / sqrt(mean(x^2) + eps), per row. In place is safe: see reduction.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
#include "elementary.glsl"
#include "reduction.glsl"

OPERAND(0, readonly)   // x
OPERAND(1, readonly)   // w
OPERAND(2, writeonly)  // y

float term(uint sum, uint i) {
  const float x = LOAD_F32(0, slice_index() * params.cols + i);
  precise const float square = x * x;
  return square;
}

void main() {
  const uint row = slice_index() * params.cols;
  const float square_sum = sum_over(0, params.cols);
  precise const float mean = square_sum / float(params.cols) + params.eps;
  const float r = reciprocal_sqrt_f32(mean);
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    precise const float y = LOAD_F32(0, row + i) * r * LOAD_F32(1, i);
    STORE_F32(2, row + i, y);
  }
}
