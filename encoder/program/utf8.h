// UTF-8 of untrusted bytes, character by character.
#pragma once

#include <cstddef>
#include <string_view>

namespace interlock {

struct CodePoint {
  char32_t value = 0xfffd;  // U+FFFD, the replacement, where there is none.
  size_t size_bytes = 1;
  bool is_valid = false;
};

// The character at the front, or its first byte as an invalid one: no surrogates, and nothing that
// is longer than it need be (the Unicode standard, table 3-7). Requires: `text` is not empty.
CodePoint first_code_point(std::string_view text);

}  // namespace interlock
