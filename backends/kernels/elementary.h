// Elementary functions with the same bits everywhere: libm picks variants by processor. They use
// IEEE additions, multiplications, divisions and square roots only, each correctly rounded.
#pragma once

#include <cmath>
#include <cstdint>

#include "backends/kernels/dialect.h"

namespace interlock {

// 2^n. Requires: -126 <= n <= 127.
KERNEL_FUNCTION float power_of_two(int32_t n) {
  return f32_of_bits(static_cast<uint32_t>(n + 127) << 23);
}

// e^x, within 2 ulp; 0 where the result would be subnormal.
// Method and coefficients: Cephes, expf. x = n ln 2 + r with |r| <= ln(2)/2, then a polynomial in
// r.
KERNEL_FUNCTION float exp_f32(float x) {
  if (x != x) return x;
  if (x > 88.72283f) return f32_of_bits(0x7f800000u);  // Infinity.
  if (x < -87.33654f) return 0.0f;
  const float scaled = x * 1.44269504f;  // log2(e)
  const int32_t n = static_cast<int32_t>(scaled + (scaled < 0.0f ? -0.5f : 0.5f));
  const float count = static_cast<float>(n);
  const float r = (x - count * 0.693359375f) - count * -2.12194440e-4f;  // The first is exact.
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const float mantissa = (p * (r * r) + r) + 1.0f;
  const int32_t half = n / 2;  // 2^n itself overflows at n = 128, where the result does not.
  return mantissa * power_of_two(half) * power_of_two(n - half);
}

// x^n, by squaring. Its own roundings are those of the products, in this order.
KERNEL_FUNCTION float power_f32(float x, uint32_t n) {
  float power = 1.0f;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) power = power * x;
    x = x * x;
  }
  return power;
}

KERNEL_FUNCTION float square_root_f32(float x) { return sqrtf(x); }

// 1 / sqrt(x), of two correctly rounded operations.
KERNEL_FUNCTION float reciprocal_sqrt_f32(float x) { return 1.0f / sqrtf(x); }

}  // namespace interlock
