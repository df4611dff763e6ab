#include "tests/faults/mutations.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "tests/code/source_tree.h"

namespace interlock {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

std::string with(std::string_view line, std::size_t at, std::size_t size, std::string_view text) {
  return std::string(line.substr(0, at)) + std::string(text) + std::string(line.substr(at + size));
}

// Returns where the parenthesis closes that opens at `open`; npos: not in this line.
std::size_t closing(std::string_view code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '(' || code[i] == '[' || code[i] == '{') ++depth;
    if (code[i] == ')' || code[i] == ']' || code[i] == '}') --depth;
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

void add_comparisons(std::string_view code, std::string_view line, std::vector<Mutation>& found) {
  constexpr std::pair<std::string_view, std::string_view> kWrong[] = {
      {" < ", " <= "}, {" <= ", " < "},  {" > ", " >= "},
      {" >= ", " > "}, {" == ", " != "}, {" != ", " == "}};
  for (const auto& [right, wrong] : kWrong) {
    for (std::size_t at = code.find(right); at != std::string_view::npos;
         at = code.find(right, at + 1)) {
      found.push_back(
          {"comparison: " + std::string(trimmed(right)) + " becomes " + std::string(trimmed(wrong)),
           with(line, at, right.size(), wrong)});
    }
  }
}

void add_bounds(std::string_view code, std::string_view line, std::vector<Mutation>& found) {
  for (std::size_t i = 0; i < code.size();) {
    std::size_t end = i + 1;
    if (is_word_byte(code[i])) {
      while (end < code.size() && (is_word_byte(code[end]) || code[end] == '\'')) ++end;
    }
    const std::string token(code.substr(i, end - i));
    const bool is_number = token.size() < 7 && std::all_of(token.begin(), token.end(), [](char c) {
                             return std::isdigit(static_cast<unsigned char>(c)) != 0;
                           });
    const bool is_part = (i > 0 && code[i - 1] == '.') || (end < code.size() && (code[end] == '.'));
    if (is_number && !is_part) {
      const int value = std::atoi(token.c_str());
      found.push_back({"bound: " + token + " becomes one more",
                       with(line, i, token.size(), std::to_string(value + 1))});
      if (value > 0) {
        found.push_back({"bound: " + token + " becomes one less",
                         with(line, i, token.size(), std::to_string(value - 1))});
      }
    }
    i = end;
  }
  constexpr std::string_view kSize = ".size()";
  for (std::size_t at = code.find(kSize); at != std::string_view::npos;
       at = code.find(kSize, at + 1)) {
    found.push_back(
        {"bound: a size becomes one less", with(line, at, kSize.size(), ".size() - 1")});
  }
}

// `before` is the line of code above, or nothing.
void add_dropped_statement(std::string_view code, std::string_view before,
                           std::vector<Mutation>& found) {
  const std::string_view statement = trimmed(code);
  const std::string_view above = trimmed(before);
  const bool is_whole =
      statement.ends_with(';') && (above.empty() || above.ends_with(';') || above.ends_with('{') ||
                                   above.ends_with('}') || above.ends_with(':'));
  const bool is_balanced = std::count(statement.begin(), statement.end(), '(') ==
                               std::count(statement.begin(), statement.end(), ')') &&
                           std::count(statement.begin(), statement.end(), '{') ==
                               std::count(statement.begin(), statement.end(), '}');
  if (!is_whole || !is_balanced || !code.starts_with("  ")) return;
  for (const std::string_view word : {"return", "using", "}", "friend", "static_assert"}) {
    if (statement.starts_with(word)) return;
  }
  found.push_back({"a statement is left out", std::nullopt});
}

// True for "int count", false for "count", "values[i]" and "count + 1".
bool is_declaration(std::string_view argument) {
  for (std::size_t i = 1; i + 1 < argument.size(); ++i) {
    const char before = argument[i - 1];
    if (argument[i] == ' ' &&
        (is_word_byte(before) || before == '&' || before == '*' || before == '>') &&
        is_word_byte(argument[i + 1])) {
      return true;
    }
  }
  return false;
}

void add_swapped_arguments(std::string_view code, std::string_view line,
                           std::vector<Mutation>& found) {
  for (std::size_t open = code.find('('); open != std::string_view::npos;
       open = code.find('(', open + 1)) {
    if (open == 0 || !is_word_byte(code[open - 1])) continue;
    const std::string_view called = code.substr(0, open);
    if (called.ends_with("min") || called.ends_with("max") || called.ends_with("if") ||
        called.ends_with("for")) {
      continue;
    }
    const std::size_t close = closing(code, open);
    if (close == std::string_view::npos) continue;
    std::vector<std::pair<std::size_t, std::size_t>> arguments;
    std::size_t begin = open + 1;
    int depth = 0;
    for (std::size_t i = open + 1; i <= close; ++i) {
      if (code[i] == '(' || code[i] == '[' || code[i] == '{') ++depth;
      if (depth == 0 && (code[i] == ',' || i == close)) {
        arguments.emplace_back(begin, i);
        begin = i + 2;
      }
      if (i < close && (code[i] == ')' || code[i] == ']' || code[i] == '}')) --depth;
    }
    for (std::size_t i = 1; i < arguments.size(); ++i) {
      const auto [first, first_end] = arguments[i - 1];
      const auto [second, second_end] = arguments[i];
      if (second >= second_end) continue;
      const std::string_view left = line.substr(first, first_end - first);
      const std::string_view right = line.substr(second, second_end - second);
      if (left == right || is_declaration(left) || is_declaration(right)) continue;
      found.push_back(
          {"arguments swapped: '" + std::string(left) + "' and '" + std::string(right) + "'",
           with(line, first, second_end - first, std::string(right) + ", " + std::string(left))});
    }
  }
}

void add_negated_condition(std::string_view code, std::string_view line,
                           std::vector<Mutation>& found) {
  const std::size_t at = code.find("if (");
  if (at == std::string_view::npos || (at > 0 && is_word_byte(code[at - 1]))) return;
  const std::size_t open = at + 3;
  const std::size_t close = closing(code, open);
  if (close == std::string_view::npos) return;
  const std::string condition(line.substr(open + 1, close - open - 1));
  if (condition.find(';') != std::string::npos) return;
  found.push_back(
      {"the condition is negated", with(line, open, close + 1 - open, "(!(" + condition + "))")});
}

// True where a mistake could not show, or only in the words of a message.
bool is_skipped(std::string_view code, std::string_view before) {
  const std::string_view above = trimmed(before);
  if (code.find('"') != std::string_view::npos || code.find('#') != std::string_view::npos)
    return true;
  if (above.find('"') != std::string_view::npos && !above.ends_with(';') && !above.ends_with('{')) {
    return true;
  }
  for (const std::string_view word :
       {"INTERLOCK_CHECK", "assert", "reserve(", "prefetch", "fmt::", "template"}) {
    if (code.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::vector<Mutation> mutations_of(std::string_view line, std::string_view code,
                                   std::string_view before) {
  std::vector<Mutation> found;
  if (is_skipped(code, before)) return found;
  add_comparisons(code, line, found);
  add_bounds(code, line, found);
  add_dropped_statement(code, before, found);
  add_swapped_arguments(code, line, found);
  add_negated_condition(code, line, found);
  return found;
}

}  // namespace interlock
