// cross_entropy: loss = log(sum(exp(x - max(x)))) - (x[label] - max(x)), per row. Labels are modulo
// cols.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
#include "elementary.glsl"
#include "reduction.glsl"

OPERAND(0, readonly)   // logits
OPERAND(1, readonly)   // labels
OPERAND(2, writeonly)  // loss

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
  if (lane_index() != 0) return;
  const float chosen = LOAD_F32(0, row + LOAD_ID(1, slice_index(), params.cols));
  precise const float loss = log_f32(sum) - (chosen - largest_);
  STORE_F32(2, slice_index(), loss);
}
