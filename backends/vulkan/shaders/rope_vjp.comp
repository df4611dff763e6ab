// rope_vjp: each pair of a row turned back. In place is safe: a pair is read before it is written.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
#include "rope.glsl"

OPERAND(0, readonly)   // g
OPERAND(1, writeonly)  // gx

void main() {
  const uint row = slice_index() * params.cols;
  for (uint i = lane_index(); i < params.cols / 2; i += lane_count()) {
    const SineCosine turn = rope_turn(i);
    const float x = LOAD_F32(0, row + 2 * i);
    const float y = LOAD_F32(0, row + 2 * i + 1);
    precise const float first = x * turn.cosine + y * turn.sine;
    precise const float second = y * turn.cosine - x * turn.sine;
    STORE_F32(1, row + 2 * i, first);
    STORE_F32(1, row + 2 * i + 1, second);
  }
}
