// Lines of a text with their ends, for what changes some of them and leaves the rest as it is.
#pragma once

#include <cstddef>
#include <string_view>

namespace interlock {

// Takes the first line off `text`, and returns it with its end; the last one may have none.
// Requires: `text` is not empty. Cost: linear in the line.
inline std::string_view take_line(std::string_view& text) {
  const size_t newline = text.find('\n');
  const std::string_view line =
      text.substr(0, newline == std::string_view::npos ? text.size() : newline + 1);
  text.remove_prefix(line.size());
  return line;
}

// What a new line of `text` is to end with: "\r\n" where its first line does, else "\n".
inline std::string_view end_of_lines(std::string_view text) {
  const bool has_return = !text.empty() && take_line(text).ends_with("\r\n");
  return has_return ? "\r\n" : "\n";
}

}  // namespace interlock
