#include "tests/code/declared_names.h"

#include <cctype>
#include <optional>
#include <vector>

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

}  // namespace interlock
