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

// ln x, within 2 ulp; NaN below 0, -infinity at 0.
// Method and coefficients: Cephes, logf. x = 2^e (1 + m) with sqrt(1/2) <= 1 + m < sqrt(2), then a
// polynomial in m.
KERNEL_FUNCTION float log_f32(float x) {
  if (x != x) return x;
  if (x < 0.0f) return f32_of_bits(0x7fc00000u);
  if (x == 0.0f) return f32_of_bits(0xff800000u);
  if (bits_of_f32(x) == 0x7f800000u) return x;
  const bool is_subnormal = bits_of_f32(x) < 0x00800000u;
  const uint32_t bits = bits_of_f32(is_subnormal ? x * 8388608.0f : x);  // 2^23
  int32_t e = static_cast<int32_t>(bits >> 23) - 126 - (is_subnormal ? 23 : 0);
  float m = f32_of_bits((bits & 0x007fffffu) | 0x3f000000u);  // In [1/2, 1).
  if (m < 0.707106781f) {
    e = e - 1;
    m = m + m;
  }
  m = m - 1.0f;
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const float count = static_cast<float>(e);
  const float low = (p * m * z + count * -2.12194440e-4f) - 0.5f * z;
  return (m + low) + count * 0.693359375f;
}

struct SineCosine {
  float sine;
  float cosine;
};

// Both within 2^-23, and exact at 0. Requires: 0 <= x <= 2^17.
// Method: x = n pi/2 + r with |r| <= pi/4 and a little, where pi/2 is a sum whose first three terms
// have so few bits that all but the last step of the reduction is exact; then the polynomials of
// Cephes, sinf and cosf.
KERNEL_FUNCTION SineCosine sine_cosine_f32(float x) {
  const int32_t n = static_cast<int32_t>(x * 0.636619772f + 0.5f);  // 2 / pi
  const float count = static_cast<float>(n);
  const float r = ((x - count * 1.578125f) - count * -0.00732421875f) -
                  count * -4.470348358154297e-06f - count * 1.5893254712295857e-08f;
  const float z = r * r;
  const float s = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * (z * r) + r;
  const float c =
      ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * (z * z) -
      0.5f * z + 1.0f;
  const bool is_odd = (n & 1) != 0;
  const float sine = is_odd ? c : s;
  const float cosine = is_odd ? s : c;
  return {(n & 2) != 0 ? -sine : sine, ((n + 1) & 2) != 0 ? -cosine : cosine};
}

// 1 / sqrt(x), of two correctly rounded operations.
KERNEL_FUNCTION float reciprocal_sqrt_f32(float x) { return 1.0f / sqrtf(x); }

}  // namespace interlock
