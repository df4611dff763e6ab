// layer_norm: y = w (x - mean(x)) / sqrt(var(x) + eps) + b, per row. In place is safe: see
// reduction.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
#include "elementary.glsl"
#include "reduction.glsl"

OPERAND(0, readonly)   // x
OPERAND(1, readonly)   // w
OPERAND(2, readonly)   // b
OPERAND(3, writeonly)  // y

const uint kValues = 0;
const uint kSquares = 1;

float mean_;

float term(uint sum, uint i) {
  const float x = LOAD_F32(0, slice_index() * params.cols + i);
  if (sum == kValues) return x;
  precise const float centered = x - mean_;
  precise const float square = centered * centered;
  return square;
}

void main() {
  const uint row = slice_index() * params.cols;
  const float count = float(params.cols);
  precise const float mean = sum_over(kValues, params.cols) / count;
  mean_ = mean;
  precise const float variance = sum_over(kSquares, params.cols) / count + params.eps;
  const float r = reciprocal_sqrt_f32(variance);
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    precise const float normalized = (LOAD_F32(0, row + i) - mean) * r;
    precise const float y = normalized * LOAD_F32(1, i) + LOAD_F32(2, i);
    STORE_F32(3, row + i, y);
  }
}
