// The property that text and programs must keep, for tests of several kinds of programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "encoder/program/hash.h"
#include "encoder/program/program.h"

namespace interlock {

// Expects that parse(print(p)) equals p field by field, and prints the same text again. Returns the
// canonical text.
std::string expect_round_trip(const Program& p);

// A fixed sequence of numbers: splitmix64.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  size_t below(size_t bound) {
    state_ += kGolden64;
    return static_cast<size_t>(scrambled(state_) % bound);
  }

 private:
  uint64_t state_;
};

}  // namespace interlock
