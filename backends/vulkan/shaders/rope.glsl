// The angle of pair `i` of this row, as backends/kernels/rope.h has it.
#include "elementary.glsl"

SineCosine rope_turn(uint i) {
  precise const float q = float(2 * i) / float(params.cols);
  precise const float exponent = -(q * log_f32(params.base));
  precise const float angle = float(params.start + slice_index()) * exp_f32(exponent);
  return sine_cosine_f32(angle);
}
