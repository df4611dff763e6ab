// cross_entropy_vjp: glogits = (softmax(x) - onehot(label)) gloss, per row. In place is safe: see
// reduction.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
#include "elementary.glsl"
#include "reduction.glsl"

OPERAND(0, readonly)   // logits
OPERAND(1, readonly)   // labels
OPERAND(2, readonly)   // gloss
OPERAND(3, writeonly)  // glogits

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
  const uint label = LOAD_ID(1, slice_index(), params.cols);
  const float g = LOAD_F32(2, slice_index());
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    precise const float y = exponential(i) / sum;
    precise const float glogits = (y - (i == label ? 1.0 : 0.0)) * g;
    STORE_F32(3, row + i, glogits);
  }
}
