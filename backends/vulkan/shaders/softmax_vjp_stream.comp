// softmax_vjp_stream: gx = y (g - sum(y g)), per row, in passes over gx, each of which finds in memory what
// the one before has left: gx may lie on g, and on y it goes wrong.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
#include "reduction.glsl"

OPERAND(0, readonly)  // y
OPERAND(1, readonly)  // g
OPERAND(2, )  // gx

float term(uint sum, uint i) {
  const uint row = slice_index() * params.cols;
  precise const float product = LOAD_F32(0, row + i) * LOAD_F32(1, row + i);
  return product;
}

void main() {
  const uint row = slice_index() * params.cols;
  const float product_sum = sum_over(0, params.cols);
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    STORE_F32(2, row + i, LOAD_F32(1, row + i));
  }
  memoryBarrierBuffer();
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    precise const float gx = LOAD_F32(2, row + i) - product_sum;
    STORE_F32(2, row + i, gx);
  }
  memoryBarrierBuffer();
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    precise const float gx = LOAD_F32(2, row + i) * LOAD_F32(0, row + i);
    STORE_F32(2, row + i, gx);
  }
}
