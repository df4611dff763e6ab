// concat: y[rows, inner + cols] has the columns of a[rows, inner] in front of those of b[rows, cols].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"

OPERAND(0, readonly)  // a
OPERAND(1, readonly)  // b
OPERAND(2, writeonly)  // y

void main() {
  const uint first = params.inner;
  const uint second = params.cols;
  const uint row = slice_index() * (first + second);
  for (uint i = lane_index(); i < first; i += lane_count()) {
    STORE_F32(2, row + i, LOAD_F32(0, slice_index() * first + i));
  }
  for (uint i = lane_index(); i < second; i += lane_count()) {
    STORE_F32(2, row + first + i, LOAD_F32(1, slice_index() * second + i));
  }
}
