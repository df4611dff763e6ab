// Elementary functions, step by step those of backends/kernels/elementary.h.

// 2^n. Requires: -126 <= n <= 127.
float power_of_two(int n) { return uintBitsToFloat(uint(n + 127) << 23); }

// e^x, within 2 ulp; 0 where the result would be subnormal. Cephes, expf.
float exp_f32(float x) {
  if ((floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u) return x;
  if (x > 88.72283) return uintBitsToFloat(0x7f800000u);
  if (x < -87.33654) return 0.0;
  precise const float scaled = x * 1.44269504;
  precise const float rounded = scaled + (scaled < 0.0 ? -0.5 : 0.5);
  const int n = int(rounded);
  const float count = float(n);
  precise const float r = (x - count * 0.693359375) - count * -2.12194440e-4;
  precise float p = 1.9875691500e-4;
  p = p * r + 1.3981999507e-3;
  p = p * r + 8.3334519073e-3;
  p = p * r + 4.1665795894e-2;
  p = p * r + 1.6666665459e-1;
  p = p * r + 5.0000001201e-1;
  precise const float mantissa = (p * (r * r) + r) + 1.0;
  const int halved = n / 2;
  precise const float result = mantissa * power_of_two(halved) * power_of_two(n - halved);
  return result;
}

// x^n, by squaring.
float power_f32(float x, uint n) {
  precise float power = 1.0;
  precise float square = x;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) power = power * square;
    square = square * square;
  }
  return power;
}

float reciprocal_sqrt_f32(float x) {
  precise const float result = 1.0 / sqrt(x);
  return result;
}
