// The values of the shadow machine: 64-bit hashes, and what an atomic does to one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "encoder/program/program.h"

namespace interlock {

// Hashes one more value; the order of the values counts.
inline uint64_t absorb(uint64_t digest, uint64_t value) {
  const uint64_t product = (digest ^ value) * 0xd6e8feb86659fd93;
  return product ^ (product >> 32);
}

// R is one multiplication and one exclusive or, both of which can be undone. Without the latter the
// actions of different operations would commute.
struct AtomicBijection {
  uint64_t factor;
  uint64_t inverse;
};

constexpr uint64_t inverse_of(uint64_t odd) {
  uint64_t inverse = odd;  // Right in the lowest 3 bits; each step of Newton's method doubles them.
  for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

constexpr AtomicBijection bijection_of(uint64_t factor) { return {factor, inverse_of(factor)}; }

// By AtomicOp.
inline constexpr AtomicBijection kBijections[] = {
    bijection_of(0xa0761d6478bd642f), bijection_of(0xe7037ed1a0b428db),
    bijection_of(0x8ebc6af09c88c6e3), bijection_of(0x589965cc75374cc3),
    bijection_of(0x1d8e4e27c47d124f), bijection_of(0xeb44accab455d165),
    bijection_of(0x9c6e6877736c46e3)};

inline uint64_t apply_atomic(AtomicOp operation, uint64_t value, uint64_t term) {
  const AtomicBijection& r = kBijections[static_cast<size_t>(operation)];
  uint64_t image = value * r.factor;
  image = (image ^ (image >> 32)) + term;
  return (image ^ (image >> 32)) * r.inverse;
}

}  // namespace interlock
