// ByteChoice: a fuzzer's bytes as answers.
#pragma once

#include <cstdint>
#include <span>

#include "encoder/program/check.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Draws from bytes, for fuzzers; zero once they are spent. Requires: they outlive this.
class ByteChoice final : public Choice {
 public:
  explicit ByteChoice(std::span<const uint8_t> bytes) : bytes_(bytes) {}

 private:
  // Takes as few bytes as `n` needs, so that a fuzzer's one-byte mutation changes one answer.
  uint64_t answer(uint64_t n) override {
    INTERLOCK_CHECK(n > 0);
    uint64_t value = 0;
    int shift_bits = 0;
    for (uint64_t largest = n - 1; largest > 0 && !bytes_.empty(); largest >>= 8) {
      value |= static_cast<uint64_t>(bytes_.front()) << shift_bits;
      shift_bits += 8;
      bytes_ = bytes_.subspan(1);
    }
    return value % n;
  }

  std::span<const uint8_t> bytes_;
};

}  // namespace interlock
