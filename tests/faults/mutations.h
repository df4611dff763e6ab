// The mistakes that people make in a line of code: a comparison or a bound off by one, a statement
// left out, arguments swapped, a condition the wrong way round. What cannot show is none of them:
// comments, strings and messages, checks of our own, and hints.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

struct Mutation {
  std::string what;
  std::optional<std::string> line;  // What becomes of the line; nothing: it is left out.
};

// Returns the mistakes that the line has places for. `code` is the line in code_only(), `before`
// the line above it, there, or nothing. Not all of them compile.
std::vector<Mutation> mutations_of(std::string_view line, std::string_view code,
                                   std::string_view before);

}  // namespace interlock
