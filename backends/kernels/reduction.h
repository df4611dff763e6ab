// Sums, moments and maxima over a row by all lanes of a slice, with one shape for every lane count:
// partial sum p adds the terms p, p + 32, p + 64, … in this order; a tree adds the 32 partial sums.
// Likewise maxima.
#pragma once

#include <cstdint>

#include "backends/kernels/dialect.h"

namespace interlock {

inline constexpr uint32_t kPartialCount = 32;
static_assert(kPartialCount <= kSharedCount);

// Returns value(0), …, value(count - 1), combined, to every lane; `neutral` if there are none.
// Requires: all lanes call it. When it returns, all lanes have made their loads.
template <class Lane, class Value, class Combine>
KERNEL_FUNCTION float reduce_over(const Lane& lane, uint32_t count, float neutral,
                                  const Value& value, const Combine& combine) {
  for (uint32_t p = lane.index(); p < kPartialCount; p += lane.count()) {
    float partial = neutral;
    for (uint32_t i = p; i < count; i += kPartialCount) partial = combine(partial, value(i));
    lane.shared(p) = partial;
  }
  lane.sync();
  for (uint32_t stride = kPartialCount / 2; stride > 0; stride /= 2) {
    for (uint32_t p = lane.index(); p < stride; p += lane.count()) {
      lane.shared(p) = combine(lane.shared(p), lane.shared(p + stride));
    }
    lane.sync();
  }
  const float result = lane.shared(0);
  lane.sync();  // The next reduction reuses the partial results.
  return result;
}

// Returns the sum of term(0), …, term(count - 1) to every lane. Requires: as reduce_over().
template <class Lane, class Term>
KERNEL_FUNCTION float sum_over(const Lane& lane, uint32_t count, const Term& term) {
  return reduce_over(lane, count, 0.0f, term, [](float a, float b) { return a + b; });
}

// The greater of two numbers; NaN if one of them is.
KERNEL_FUNCTION float greater_of(float a, float b) { return a != a || a > b ? a : b; }

// Returns the greatest of value(0), …, value(count - 1) to every lane; NaN if one of them is.
// Requires: as reduce_over(), and count > 0.
template <class Lane, class Value>
KERNEL_FUNCTION float max_over(const Lane& lane, uint32_t count, const Value& value) {
  const float least = f32_of_bits(0xff800000u);  // Minus infinity.
  return reduce_over(lane, count, least, value, greater_of);
}

struct RowMoments {
  float mean;
  float variance;  // Of the row as a population: divided by `count`.
};

// Returns the moments of value(0), …, value(count - 1) to every lane.
// Requires: as reduce_over(), and count > 0.
template <class Lane, class Value>
KERNEL_FUNCTION RowMoments moments_over(const Lane& lane, uint32_t count, const Value& value) {
  const float divisor = static_cast<float>(count);
  const float mean = sum_over(lane, count, value) / divisor;
  const float square_sum = sum_over(lane, count, [&](uint32_t i) {
    const float centered = value(i) - mean;
    return centered * centered;
  });
  return {mean, square_sum / divisor};
}

}  // namespace interlock
