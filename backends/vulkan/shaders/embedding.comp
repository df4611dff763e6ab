// embedding: row r of y is row ids[r] of table. Ids are modulo inner.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"

OPERAND(0, readonly)   // ids
OPERAND(1, readonly)   // table
OPERAND(2, writeonly)  // y

void main() {
  const uint entry = LOAD_ID(0, slice_index(), params.inner) * params.cols;
  const uint row = slice_index() * params.cols;
  for (uint i = lane_index(); i < params.cols; i += lane_count()) {
    STORE_F32(2, row + i, LOAD_F32(1, entry + i));
  }
}
