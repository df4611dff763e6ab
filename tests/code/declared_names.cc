#include "tests/code/declared_names.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace interlock {
namespace {

// What a line that begins in column 0 declares: a type with its members, an alias, a constant or a
// function.
std::optional<std::string_view> name_declared_in(std::string_view line) {
  for (const std::string_view word :
       {"struct ", "class ", "enum class ", "enum ", "union ", "using "}) {
    if (!line.starts_with(word)) continue;
    const std::string_view needed = word == "using " ? " = " : "{";
    if (line.find(needed) == std::string_view::npos) return std::nullopt;
    return word_at(line, word.size());
  }
  const bool is_declaration = !line.empty() && std::isalpha(static_cast<unsigned char>(line[0]));
  if (!is_declaration) return std::nullopt;
  for (const std::string_view word :
       {"namespace", "return", "template", "TEST", "INSTANTIATE", "static_assert", "extern"}) {
    if (line.starts_with(word)) return std::nullopt;
  }
  const size_t parenthesis = line.find('(');
  const size_t constant = line.find(" k");
  if (constant < parenthesis) {
    const std::string_view name = word_at(line, constant + 1);
    if (name.size() > 1 && std::isupper(static_cast<unsigned char>(name[1])) != 0) return name;
  }
  if (parenthesis == std::string_view::npos) return std::nullopt;
  const std::string_view name = word_before(line, parenthesis);
  const size_t begin = parenthesis - name.size();
  // Members of classes are no names of the namespace.
  const bool is_name = !name.empty() && begin > 0 && line[begin - 1] != ':';
  return is_name ? std::optional(name) : std::nullopt;
}

}  // namespace

std::set<std::string> names_declared_in(std::string_view text, DeclaredIn where) {
  // What stands in literals is no code; what ends a namespace is said in a comment.
  const std::string code = code_only(text);
  const std::vector<std::string_view> code_lines = lines_of(code);
  const std::vector<std::string_view> lines = lines_of(text);
  std::set<std::string> names;
  bool is_unnamed = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("namespace {")) is_unnamed = true;
    if (lines[i] == "}  // namespace") is_unnamed = false;
    if (where == DeclaredIn::kUnnamedNamespaces && !is_unnamed) continue;
    const auto name = name_declared_in(code_lines[i]);
    if (name) names.emplace(*name);
  }
  return names;
}

std::vector<Word> words_of(std::string_view code) {
  std::vector<Word> words;
  for (size_t i = 0; i < code.size(); ++i) {
    if (!is_word_byte(code[i])) continue;
    words.push_back({word_at(code, i), i});
    i += words.back().word.size();
  }
  return words;
}

std::string_view before(std::string_view code, size_t begin) {
  while (begin > 0 && std::isspace(static_cast<unsigned char>(code[begin - 1])) != 0) --begin;
  const size_t size = std::min<size_t>(begin, 3);
  return code.substr(begin - size, size);
}

bool may_be_declared(std::string_view code, const std::vector<Word>& words, size_t i) {
  static const std::set<std::string_view> kNoTypes = {"return", "else", "throw", "case",
                                                      "co_return"};
  if (i == 0) return false;
  const std::string_view last = words[i - 1].word;
  const std::string_view ahead = before(code, words[i].begin);
  const bool follows_word =
      !ahead.empty() && is_word_byte(ahead.back()) && !kNoTypes.contains(last);
  const bool follows_type = ahead.ends_with('>') || ahead.ends_with('&') || ahead.ends_with('*');
  const bool is_logical = ahead.ends_with("&&") || ahead.ends_with("->");
  const bool names_tests = last.starts_with("TEST") && ahead.ends_with('(');
  return names_tests || follows_word || (follows_type && !is_logical);
}

std::set<std::string> names_declared_anywhere_in(std::string_view code) {
  const std::vector<Word> words = words_of(code);
  std::set<std::string> names;
  for (size_t i = 0; i < words.size(); ++i) {
    if (may_be_declared(code, words, i)) names.emplace(words[i].word);
  }
  return names;
}

}  // namespace interlock
