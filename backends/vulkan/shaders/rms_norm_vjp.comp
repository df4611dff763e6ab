// rms_norm_vjp: with r = 1 / sqrt(mean(x^2) + eps), per row:
//   gx = r w g - x r^3 mean(w g x)      gw_rows = g x r
// In place is safe: see reduction.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
#include "elementary.glsl"
#include "reduction.glsl"

OPERAND(0, readonly)   // x
OPERAND(1, readonly)   // w
OPERAND(2, readonly)   // g
OPERAND(3, writeonly)  // gx
OPERAND(4, writeonly)  // gw_rows

const uint kSquares = 0;
const uint kProducts = 1;

float term(uint sum, uint i) {
  const uint row = slice_index() * params.cols;
  const float x = LOAD_F32(0, row + i);
  if (sum == kSquares) {
    precise const float square = x * x;
    return square;
  }
  precise const float product = LOAD_F32(1, i) * LOAD_F32(2, row + i) * x;
  return product;
}

void main() {
  const uint row = slice_index() * params.cols;
  const float square_sum = sum_over(kSquares, params.cols);
  const float product_sum = sum_over(kProducts, params.cols);
  const float count = float(params.cols);
  precise const float mean = square_sum / count + params.eps;
  const float r = reciprocal_sqrt_f32(mean);
  precise const float correction = r * r * r * (product_sum / count);
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    const float x = LOAD_F32(0, row + i);
    const float w = LOAD_F32(1, i);
    const float g = LOAD_F32(2, row + i);
    precise const float gx = r * (w * g) - x * correction;
    precise const float gw = g * x * r;
    STORE_F32(3, row + i, gx);
    STORE_F32(4, row + i, gw);
  }
}
