// Sums over a row by all lanes, in the shape of backends/kernels/reduction.h: 32 partial sums of
// every 32nd term, then a tree. The bits do not depend on the lane count.

const uint kPartialCount = 32;

shared float partial_sums[kPartialCount];

// Term `i` of sum number `sum`; each kernel has its own.
float term(uint sum, uint i);

// Returns the sum of term(sum, 0), …, term(sum, count - 1) to every lane. When it returns, all
// lanes have made their loads.
float sum_over(uint sum, uint count) {
  for (uint p = lane_index(); p < kPartialCount; p += lane_count()) {
    precise float total = 0.0;
    for (uint i = p; i < count; i += kPartialCount) total = total + term(sum, i);
    partial_sums[p] = total;
  }
  barrier();
  for (uint stride = kPartialCount / 2; stride > 0; stride /= 2) {
    for (uint p = lane_index(); p < stride; p += lane_count()) {
      precise const float total = partial_sums[p] + partial_sums[p + stride];
      partial_sums[p] = total;
    }
    barrier();
  }
  const float total = partial_sums[0];
  barrier();  // The next sum reuses the partial sums.
  return total;
}
