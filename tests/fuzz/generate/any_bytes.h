// Any bytes as the answers to what a generator asks, as fuzzing engines give them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "simulator/schedules/byte_choice.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Calls `visit` with a choice from bytes that are all ones, and with one from random bytes, for
// each size below `size_count`: from few bytes, which are zeros then, to more than there are
// questions.
inline void for_any_bytes(int size_count, uint64_t seed,
                          const std::function<void(Choice&, int size)>& visit) {
  SeededChoice random(seed);
  for (int size = 0; size < size_count; ++size) {
    std::vector<uint8_t> bytes(static_cast<size_t>(size), 0xff);
    ByteChoice same(bytes);
    visit(same, size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.below(256));
    ByteChoice any(bytes);
    visit(any, size);
  }
}

}  // namespace interlock
