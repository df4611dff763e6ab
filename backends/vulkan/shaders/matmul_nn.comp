// matmul_nn: y[rows, cols] = a[rows, inner] b[inner, cols].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "matmul.glsl"

uint a_index(uint row, uint k) { return row * params.inner + k; }
uint b_index(uint k, uint col) { return k * params.cols + col; }
