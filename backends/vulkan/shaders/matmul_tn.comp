// matmul_tn: y[rows, cols] = a[inner, rows]^T b[inner, cols].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "matmul.glsl"

uint a_index(uint row, uint k) { return k * params.rows + row; }
uint b_index(uint k, uint col) { return k * params.cols + col; }
