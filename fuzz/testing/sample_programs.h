// Programs that command encoders get wrong, without their barriers: what to encode in a test of an
// encoder before you have programs of your own.
#pragma once

#include <span>
#include <string_view>

namespace interlock {

struct SampleProgram {
  std::string_view name;
  std::string_view trap;  // What is easily missed, or easily overdone.
  std::string_view text;
};

std::span<const SampleProgram> sample_programs();

// MLX #3630: the bias gradient reads the cotangent g; then the VJP writes gx on the bytes of g. A
// tracker that knows only what was written sees no hazard.
inline constexpr std::string_view kLayerNormVjp = R"(
memory x_bytes 4096
memory w_bytes 256
memory g_bytes 4096
memory gb_bytes 256
memory rows_bytes 4096
memory gw_bytes 256
tensor x f32[16,64] at x_bytes+0 = random(1)
tensor w f32[64] at w_bytes+0 = random(2)
tensor g f32[16,64] at g_bytes+0 = random(3)
tensor gx f32[16,64] donates g
tensor gb f32[64] at gb_bytes+0
tensor gw_rows f32[16,64] at rows_bytes+0
tensor gw f32[64] at gw_bytes+0
output gb gx gw
reduce: dispatch col_sum reads g writes gb
vjp: dispatch layer_norm_vjp reads x w g writes gx gw_rows eps=1e-05
weight: dispatch col_sum reads gw_rows writes gw
)";

}  // namespace interlock
