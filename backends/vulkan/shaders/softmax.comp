// softmax: y = exp(x - max(x)) / sum(exp(x - max(x))), per row. In place is safe: see
// reduction.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
#include "elementary.glsl"
#include "reduction.glsl"

OPERAND(0, readonly)   // x
OPERAND(1, writeonly)  // y

const uint kValues = 0;
const uint kExponentials = 1;

float largest_;

float exponential(uint i) {
  precise const float lowered = LOAD_F32(0, slice_index() * params.cols + i) - largest_;
  return exp_f32(lowered);
}

float term(uint sum, uint i) {
  if (sum == kValues) return LOAD_F32(0, slice_index() * params.cols + i);
  return exponential(i);
}

void main() {
  const uint row = slice_index() * params.cols;
  largest_ = max_over(kValues, params.cols);
  const float sum = sum_over(kExponentials, params.cols);
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    precise const float y = exponential(i) / sum;
    STORE_F32(1, row + i, y);
  }
}
