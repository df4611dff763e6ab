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

// ln x, within 2 ulp; NaN below 0, -infinity at 0. Cephes, logf.
float log_f32(float x) {
  const uint given = floatBitsToUint(x);
  if ((given & 0x7fffffffu) > 0x7f800000u || given == 0x7f800000u) return x;
  if ((given & 0x7fffffffu) == 0u) return uintBitsToFloat(0xff800000u);
  if ((given >> 31) != 0u) return uintBitsToFloat(0x7fc00000u);
  const bool is_subnormal = given < 0x00800000u;
  const uint bits = is_subnormal ? floatBitsToUint(x * 8388608.0) : given;
  int e = int(bits >> 23) - 126 - (is_subnormal ? 23 : 0);
  precise float m = uintBitsToFloat((bits & 0x007fffffu) | 0x3f000000u);
  if (m < 0.707106781) {
    e = e - 1;
    m = m + m;
  }
  m = m - 1.0;
  precise const float z = m * m;
  precise float p = 7.0376836292e-2;
  p = p * m - 1.1514610310e-1;
  p = p * m + 1.1676998740e-1;
  p = p * m - 1.2420140846e-1;
  p = p * m + 1.4249322787e-1;
  p = p * m - 1.6668057665e-1;
  p = p * m + 2.0000714765e-1;
  p = p * m - 2.4999993993e-1;
  p = p * m + 3.3333331174e-1;
  const float count = float(e);
  precise const float low = (p * m * z + count * -2.12194440e-4) - 0.5 * z;
  precise const float result = (m + low) + count * 0.693359375;
  return result;
}

struct SineCosine {
  float sine;
  float cosine;
};

// Both within 2^-23, and exact at 0. Requires: 0 <= x <= 2^17. Cephes, sinf and cosf.
SineCosine sine_cosine_f32(float x) {
  precise const float scaled = x * 0.636619772 + 0.5;
  const int n = int(scaled);
  const float count = float(n);
  precise const float r = ((x - count * 1.578125) - count * -0.00732421875) -
                          count * -4.470348358154297e-06 - count * 1.5893254712295857e-08;
  precise const float z = r * r;
  precise const float s =
      ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * (z * r) + r;
  precise const float c =
      ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2) * (z * z) -
      0.5 * z + 1.0;
  const bool is_odd = (n & 1) != 0;
  const float sine = is_odd ? c : s;
  const float cosine = is_odd ? s : c;
  return SineCosine((n & 2) != 0 ? -sine : sine, ((n + 1) & 2) != 0 ? -cosine : cosine);
}

float reciprocal_sqrt_f32(float x) {
  precise const float result = 1.0 / sqrt(x);
  return result;
}
