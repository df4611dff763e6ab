#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace interlock {

struct CodeToken {
  std::string_view text;
  std::size_t line = 0;  // From one.
};

// Splits code into words and single marks. They point into it.
std::vector<CodeToken> tokens_of(std::string_view code);

// Returns the tokens of `tokens` at which `pattern` begins: one token or two, apart by one space;
// '*' at one end of a word stands for any bytes.
std::vector<CodeToken> tokens_like(std::string_view pattern, const std::vector<CodeToken>& tokens);

}  // namespace interlock
