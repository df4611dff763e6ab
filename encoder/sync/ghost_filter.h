// GhostFilter: remembers which keys were forgotten, in two bytes each, so that one that comes back
// is noticed: the ghost lists of ARC (Megiddo and Modha, FAST 2003), without their order. It takes
// a key for another once in 2^16 with 2^16 places, and twice as often with twice the places: bits
// of a hash that say the place tell nothing apart there.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace interlock {

class GhostFilter {
 public:
  // Makes places for at least `count` keys; what is known stays known. Never shrinks.
  // Cost: linear in the places.
  void reserve(size_t count) {
    if (tags_.empty()) tags_.resize(kMinPlaces);
    while (tags_.size() < count && tags_.size() < kMaxPlaces) {
      // The next bit of a hash says to which of two places its tag goes.
      std::vector<uint16_t> larger(2 * tags_.size());
      const int bit = 31 - std::countr_zero(tags_.size());
      for (size_t i = 0; i < tags_.size(); ++i) {
        larger[2 * i + (tags_[i] >> bit & 1)] = tags_[i];
      }
      tags_ = std::move(larger);
    }
  }

  // `hash`: all bits of its upper half are good. Cost: constant.
  // Requires: reserve() was called.
  void add(uint64_t hash) { tags_[place_of(hash)] = tag_of(hash); }
  bool contains(uint64_t hash) const {
    return !tags_.empty() && tags_[place_of(hash)] == tag_of(hash);
  }

  size_t size_bytes() const { return tags_.capacity() * sizeof(uint16_t); }

 private:
  static constexpr size_t kMinPlaces = size_t{1} << 16;
  static constexpr size_t kMaxPlaces = size_t{1} << 24;  // One key in 256 is taken for another.

  // The places are the first bits of the upper half, the tags its last 16: so a larger table can be
  // made of a smaller one.
  size_t place_of(uint64_t hash) const { return hash >> (64 - std::countr_zero(tags_.size())); }
  static uint16_t tag_of(uint64_t hash) { return static_cast<uint16_t>(hash >> 32); }

  std::vector<uint16_t> tags_;  // A power of two of them.
};

}  // namespace interlock
