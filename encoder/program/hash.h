// Hashes that are the same on every machine: the finalizer of splitmix64 for numbers, FNV-1a for
// bytes. They spread; they do not keep secrets.
#pragma once

#include <cstdint>
#include <ranges>
#include <string_view>

namespace interlock {

// 2^64 divided by the golden ratio, made odd: steps that spread evenly.
inline constexpr uint64_t kGolden64 = 0x9e3779b97f4a7c15;

// The finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection in which every bit of
// `z` reaches every bit of the result.
constexpr uint64_t scrambled(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// The first number of the generator splitmix64 with this seed.
constexpr uint64_t splitmix64(uint64_t seed) { return scrambled(seed + kGolden64); }

// FNV-1a of 64 bits (Fowler, Noll, Vo): the digest of no bytes, and `digest` with more of them.
inline constexpr uint64_t kFnv1aBasis = 0xcbf29ce484222325;

template <typename Bytes>
requires(sizeof(std::ranges::range_value_t<Bytes>) == 1) constexpr uint64_t
    fnv1a(uint64_t digest, const Bytes& bytes) {
  for (const auto byte : bytes) digest = (digest ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  return digest;
}

constexpr uint64_t fnv1a(std::string_view text) { return fnv1a(kFnv1aBasis, text); }

// The same of 32 bits.
constexpr uint32_t fnv1a_32(std::string_view text) {
  uint32_t digest = 0x811c9dc5;
  for (const char c : text) digest = (digest ^ static_cast<uint8_t>(c)) * 0x01000193;
  return digest;
}

}  // namespace interlock
