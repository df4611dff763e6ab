// Programs whose many operands overlap in all ways: a method that is slow on any is slow on them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "encoder/text/parser.h"

namespace interlock {

// Of `dispatch_count` dispatches that read and write `operand_count` random ranges of one memory,
// half and half, always the same.
inline Program dense_program(uint64_t dispatch_count, uint64_t operand_count) {
  constexpr uint64_t kMemoryBytes = 1000;
  uint64_t state = 1;
  const auto below = [&state](uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
  };
  std::string text = fmt::format("interlock 1\nmemory m {}\n", kMemoryBytes);
  for (uint64_t d = 0; d < dispatch_count; ++d) {
    text += fmt::format("dispatch K{}", d);
    for (const char* mode : {" reads", " writes"}) {
      text += mode;
      for (uint64_t k = 0; k < operand_count / 2; ++k) {
        const uint64_t begin = below(kMemoryBytes - 1);
        text += fmt::format(" m[{}:{}]", begin, begin + 1 + below(kMemoryBytes - begin));
      }
    }
    text += "\n";
  }
  return parse(text).value();
}

}  // namespace interlock
