#include "tests/code/tokens.h"

#include <cctype>

#include "tests/code/source_tree.h"

namespace interlock {
namespace {

bool matches(std::string_view pattern, std::string_view word) {
  if (pattern.starts_with('*')) return word.ends_with(pattern.substr(1));
  if (pattern.ends_with('*')) return word.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == word;
}

}  // namespace

std::vector<CodeToken> tokens_of(std::string_view code) {
  std::vector<CodeToken> tokens;
  std::size_t line = 1;
  std::size_t i = 0;
  while (i < code.size()) {
    std::size_t end = i + 1;
    if (is_word_byte(code[i])) {
      while (end < code.size() && is_word_byte(code[end])) ++end;
    }
    if (code[i] == '\n') ++line;
    if (std::isspace(static_cast<unsigned char>(code[i])) == 0) {
      tokens.push_back({code.substr(i, end - i), line});
    }
    i = end;
  }
  return tokens;
}

std::vector<CodeToken> tokens_like(std::string_view pattern, const std::vector<CodeToken>& tokens) {
  const std::size_t space = pattern.find(' ');
  const std::string_view first = pattern.substr(0, space);
  const bool is_pair = space != std::string_view::npos;
  std::vector<CodeToken> found;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!matches(first, tokens[i].text)) continue;
    if (is_pair &&
        (i + 1 == tokens.size() || !matches(pattern.substr(space + 1), tokens[i + 1].text))) {
      continue;
    }
    found.push_back(tokens[i]);
  }
  return found;
}

}  // namespace interlock
