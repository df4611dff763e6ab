// Sources that are compiled together share their unnamed namespaces. So each name there is one
// source's alone and no header's, or its source is compiled alone: otherwise an overload of another
// source could be called without a word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view word_before(std::string_view text, size_t end) {
  size_t begin = end;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

std::string_view word_at(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(begin, end - begin);
}

// What a line that begins in column 0 declares: a type, an alias, a constant or a function.
std::optional<std::string_view> name_declared_in(std::string_view line) {
  for (const std::string_view word :
       {"struct ", "class ", "enum class ", "enum ", "union ", "using "}) {
    if (!line.starts_with(word)) continue;
    if (word == "using " && line.find(" = ") == std::string_view::npos) return std::nullopt;
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

std::set<std::string> names_in(std::string_view text, bool only_unnamed) {
  // What stands in literals is no code; what ends a namespace is said in a comment.
  const std::string code = code_only(text);
  const std::vector<std::string_view> code_lines = lines_of(code);
  const std::vector<std::string_view> lines = lines_of(text);
  std::set<std::string> names;
  bool is_unnamed = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("namespace {")) is_unnamed = true;
    if (lines[i] == "}  // namespace") is_unnamed = false;
    if (only_unnamed && !is_unnamed) continue;
    const auto name = name_declared_in(code_lines[i]);
    if (name) names.emplace(*name);
  }
  return names;
}

TEST(NamesIn, AreThoseOfUnnamedNamespaces) {
  constexpr std::string_view kText =
      "namespace interlock {\nint outside();\nnamespace {\n\nusing std::string;\n"
      "constexpr int kOne = f(1);\nusing Set = int;\nstruct Pair {\n  int inside();\n};\n"
      "Pair two(int x) {\n  return {x};\n}\nint Pair::inside() {\n}\n}  // namespace\n"
      "int after() {\n";
  EXPECT_THAT(names_in(kText, true), ElementsAre("Pair", "Set", "kOne", "two"));
  EXPECT_THAT(names_in(kText, false),
              ElementsAre("Pair", "Set", "after", "kOne", "outside", "two"));
}

// The sources that the CMakeLists.txt of `folder` has compiled alone.
std::set<std::string> compiled_alone(const std::string& folder) {
  std::set<std::string> sources;
  bool is_in_list = false;
  const std::string text = read_own_file(folder + "/CMakeLists.txt");
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("interlock_compile_alone(")) is_in_list = true;
    const size_t begin = line.find_first_not_of(' ');
    if (is_in_list && begin != std::string_view::npos && begin > 0) {
      sources.insert(folder + "/" + std::string(line.substr(begin, line.find(')') - begin)));
    }
    if (is_in_list && line.ends_with(')')) is_in_list = false;
  }
  return sources;
}

bool is_between(const SourceFile& file, std::string_view prefix, std::string_view suffix) {
  return file.path.starts_with(prefix) && file.path.ends_with(suffix);
}

// `sources` are compiled together with each other; `headers` are what they may include.
std::vector<std::string> complaints_about(const std::vector<const SourceFile*>& sources,
                                          const std::set<std::string>& header_names) {
  std::map<std::string, std::string> source_of;
  std::vector<std::string> complaints;
  for (const SourceFile* source : sources) {
    for (const std::string& name : names_in(source->text, true)) {
      const auto [known, is_new] = source_of.emplace(name, source->path);
      if (header_names.contains(name)) {
        complaints.push_back(source->path + ": " + name + " is a name of a header.");
      } else if (!is_new) {
        complaints.push_back(source->path + ": " + name + " is a name in " + known->second + ".");
      }
    }
  }
  return complaints;
}

std::vector<std::string> complaints_in(std::string_view folder, std::string_view headers,
                                       const std::set<std::string>& alone) {
  std::set<std::string> header_names;
  std::vector<const SourceFile*> together;
  static const std::vector<SourceFile> files = own_sources();
  for (const SourceFile& file : files) {
    if (is_between(file, headers, ".h") && !file.path.starts_with("backends/kernels/")) {
      header_names.merge(names_in(file.text, false));
    }
    const bool is_apart = file.path.starts_with("fuzz/cli/") ||
                          file.path.starts_with("fuzz/targets/") ||
                          file.path.starts_with("fuzz/testing/");
    // What plants faults is tested beside the code.
    const bool is_in_folder = file.path.starts_with(folder) ||
                              (folder == "tests/code/" && file.path.starts_with("tests/faults/"));
    if (is_in_folder && file.path.ends_with(".cc") && !is_apart && !alone.contains(file.path)) {
      together.push_back(&file);
    }
  }
  return complaints_about(together, header_names);
}

TEST(CompiledTogether, SourcesNameNothingThatIsNamedElsewhere) {
  for (const std::string folder : {"encoder", "simulator", "backends", "fuzz"}) {
    EXPECT_THAT(complaints_in(folder + "/", folder + "/", compiled_alone(folder)), IsEmpty())
        << "Rename it, or add the source to interlock_compile_alone() of the folder.";
  }
}

TEST(CompiledTogether, TestsNameNothingThatIsNamedElsewhere) {
  for (const std::string folder : {"encoder", "simulator", "backends", "fuzz", "cli", "code"}) {
    EXPECT_THAT(complaints_in("tests/" + folder + "/", "tests/", compiled_alone("tests")),
                IsEmpty())
        << "Rename it, or add the source to interlock_compile_alone() of the folder.";
  }
}

}  // namespace
}  // namespace interlock
