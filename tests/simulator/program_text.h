// Programs as tests write them: text without the header line.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "encoder/check.h"
#include "encoder/text.h"

namespace interlock {

// Requires: `body` is valid.
inline Program program_of(std::string_view body) {
  Result<Program> program = parse("interlock 1\n" + std::string(body));
  if (!program) fmt::print(stderr, "{}\n", program.error().message);
  INTERLOCK_CHECK(program.has_value());
  return std::move(program).value();
}

// The same behind memories a, b and c of 4096 bytes each.
inline Program program_on_abc(std::string_view body) {
  return program_of("memory a 4096\nmemory b 4096\nmemory c 4096\n" + std::string(body));
}

}  // namespace interlock
