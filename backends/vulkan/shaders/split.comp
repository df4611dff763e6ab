// split: ga[rows, inner] has the first columns of g[rows, inner + cols], gb[rows, cols] the others.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"

OPERAND(0, readonly)  // g
OPERAND(1, writeonly)  // ga
OPERAND(2, writeonly)  // gb

void main() {
  const uint first = params.inner;
  const uint second = params.cols;
  const uint row = slice_index() * (first + second);
  for (uint i = lane_index(); i < first; i += lane_count()) {
    STORE_F32(1, slice_index() * first + i, LOAD_F32(0, row + i));
  }
  for (uint i = lane_index(); i < second; i += lane_count()) {
    STORE_F32(2, slice_index() * second + i, LOAD_F32(0, row + first + i));
  }
}
