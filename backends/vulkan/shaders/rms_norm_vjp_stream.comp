// rms_norm_vjp_stream: the VJP of rms_norm, in passes over gx, each of which finds in memory what the one
// before has left, as backends/kernels/rms_norm_vjp_stream.h has it. gx may lie on x, and on g it goes
// wrong.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
#include "elementary.glsl"
#include "reduction.glsl"

OPERAND(0, readonly)  // x
OPERAND(1, readonly)  // w
OPERAND(2, readonly)  // g
OPERAND(3, )  // gx
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
  precise const float c = -product_sum / (square_sum + params.eps * count);
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    precise const float gw = LOAD_F32(2, row + i) * LOAD_F32(0, row + i) * r;
    STORE_F32(4, row + i, gw);
  }
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    STORE_F32(3, row + i, LOAD_F32(0, row + i));
  }
  memoryBarrierBuffer();
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    precise const float gx = LOAD_F32(3, row + i) * c;
    STORE_F32(3, row + i, gx);
  }
  memoryBarrierBuffer();
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    precise const float gx = LOAD_F32(3, row + i) + LOAD_F32(1, i) * LOAD_F32(2, row + i);
    STORE_F32(3, row + i, gx);
  }
  memoryBarrierBuffer();
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    precise const float gx = LOAD_F32(3, row + i) * r;
    STORE_F32(3, row + i, gx);
  }
}
