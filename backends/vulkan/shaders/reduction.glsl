// Sums and maxima over a row by all lanes, in the shape of backends/kernels/reduction.h: 32 partial
// results of every 32nd term, then a tree. The bits do not depend on the lane count.

const uint kPartialCount = 32;

shared float partials[kPartialCount];

// Term `i` of reduction number `sum`; each kernel has its own.
float term(uint sum, uint i);

// Returns the sum of term(sum, 0), …, term(sum, count - 1) to every lane. When it returns, all
// lanes have made their loads.
float sum_over(uint sum, uint count) {
  for (uint p = lane_index(); p < kPartialCount; p += lane_count()) {
    precise float total = 0.0;
    for (uint i = p; i < count; i += kPartialCount) total = total + term(sum, i);
    partials[p] = total;
  }
  memoryBarrierBuffer();  // What was loaded may be stored to after it.
  barrier();
  for (uint stride = kPartialCount / 2; stride > 0; stride /= 2) {
    for (uint p = lane_index(); p < stride; p += lane_count()) {
      precise const float total = partials[p] + partials[p + stride];
      partials[p] = total;
    }
    barrier();
  }
  const float total = partials[0];
  barrier();  // The next sum reuses the partial sums.
  return total;
}

bool is_nan(float value) { return (floatBitsToUint(value) & 0x7fffffffu) > 0x7f800000u; }

// The greater of two numbers; NaN if one of them is.
float greater_of(float a, float b) {
  if (is_nan(a)) return a;
  if (is_nan(b)) return b;
  return a > b ? a : b;
}

// Returns the greatest of term(sum, 0), …, term(sum, count - 1) to every lane; otherwise as
// sum_over().
float max_over(uint sum, uint count) {
  for (uint p = lane_index(); p < kPartialCount; p += lane_count()) {
    float largest = uintBitsToFloat(0xff800000u);  // Minus infinity.
    for (uint i = p; i < count; i += kPartialCount) largest = greater_of(largest, term(sum, i));
    partials[p] = largest;
  }
  memoryBarrierBuffer();
  barrier();
  for (uint stride = kPartialCount / 2; stride > 0; stride /= 2) {
    for (uint p = lane_index(); p < stride; p += lane_count()) {
      partials[p] = greater_of(partials[p], partials[p + stride]);
    }
    barrier();
  }
  const float largest = partials[0];
  barrier();  // The next reduction reuses the partial results.
  return largest;
}
