// layer_norm_vjp: with n = (x - mean(x)) / sqrt(var(x) + eps), per row:
//   gx = (w g - mean(w g) - n mean(w g n)) / sqrt(var(x) + eps)      gw_rows = g n
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

const uint kValues = 0;
const uint kSquares = 1;
const uint kCotangents = 2;
const uint kProducts = 3;

float mean_;
float r_;

float term(uint sum, uint i) {
  const uint row = slice_index() * params.cols;
  if (sum == kValues) return LOAD_F32(0, row + i);
  if (sum == kSquares) {
    precise const float centered = LOAD_F32(0, row + i) - mean_;
    precise const float square = centered * centered;
    return square;
  }
  precise const float cotangent = LOAD_F32(1, i) * LOAD_F32(2, row + i);
  if (sum == kCotangents) return cotangent;
  precise const float n = (LOAD_F32(0, row + i) - mean_) * r_;
  precise const float product = cotangent * n;
  return product;
}

void main() {
  const uint row = slice_index() * params.cols;
  const float count = float(params.cols);
  precise const float mean = sum_over(kValues, params.cols) / count;
  mean_ = mean;
  precise const float variance = sum_over(kSquares, params.cols) / count + params.eps;
  const float r = reciprocal_sqrt_f32(variance);
  r_ = r;
  precise const float cotangent_mean = sum_over(kCotangents, params.cols) / count;
  precise const float product_mean = sum_over(kProducts, params.cols) / count;
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    precise const float n = (LOAD_F32(0, row + i) - mean) * r;
    const float w = LOAD_F32(1, i);
    const float g = LOAD_F32(2, row + i);
    precise const float gx = (w * g - cotangent_mean - n * product_mean) * r;
    precise const float gw = g * n;
    STORE_F32(3, row + i, gx);
    STORE_F32(4, row + i, gw);
  }
}
