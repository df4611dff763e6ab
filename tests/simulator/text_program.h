// Programs in text form, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "encoder/text.h"

namespace interlock {

// The program of `body` behind the header line and the memories a, b and c of 4096 bytes each.
inline Program program_of(std::string_view body) {
  const std::string text =
      "interlock 1\nmemory a 4096\nmemory b 4096\nmemory c 4096\n" + std::string(body);
  Result<Program> program = parse(text);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
  return program ? std::move(program).value() : Program{};
}

}  // namespace interlock
