// Programs as tests write them: text without the header line.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "fuzz/testing/programs.h"

namespace interlock {

// The program after memories a, b and c of 4096 bytes each.
inline Program program_on_abc(std::string_view body) {
  return program_of(fmt::format("memory a 4096\nmemory b 4096\nmemory c 4096\n{}", body));
}

}  // namespace interlock
