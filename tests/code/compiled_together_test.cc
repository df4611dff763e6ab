// Sources that are compiled together share their unnamed namespaces. So each name there is one
// source's alone and no header's, or its source is compiled alone: otherwise an overload of another
// source could be called without a word. A test X_test.cc keeps its names in interlock::X_test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/declared_names.h"
#include "tests/code/source_tree.h"

namespace interlock::compiled_together_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(DeclaredNames, AreThoseOfUnnamedNamespaces) {
  constexpr std::string_view kText =
      "namespace interlock {\nint outside();\nnamespace {\n\nusing std::string;\n"
      "constexpr int kOne = f(1);\nusing Set = int;\nstruct Pair {\n  int inside();\n};\n"
      "Pair two(int x) {\n  return {x};\n}\nint Pair::inside() {\n}\n}  // namespace\n"
      "int after() {\n";
  EXPECT_THAT(names_declared_in(kText, DeclaredIn::kUnnamedNamespaces),
              ElementsAre("Pair", "Set", "kOne", "two"));
  EXPECT_THAT(names_declared_in(kText, DeclaredIn::kAnyNamespace),
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
    for (const std::string& name :
         names_declared_in(source->text, DeclaredIn::kUnnamedNamespaces)) {
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
      header_names.merge(names_declared_in(file.text, DeclaredIn::kAnyNamespace));
    }
    const bool is_apart = file.path.starts_with("fuzz/cli/") ||
                          file.path.starts_with("fuzz/targets/") ||
                          file.path.starts_with("fuzz/testing/");
    // What plants faults is tested beside the code.
    const bool is_in_folder = file.path.starts_with(folder) ||
                              (folder == "tests/code/" && file.path.starts_with("tests/faults/"));
    const bool is_test = file.path.ends_with("_test.cc");
    if (is_in_folder && file.path.ends_with(".cc") && !is_test && !is_apart &&
        !alone.contains(file.path)) {
      together.push_back(&file);
    }
  }
  return complaints_about(together, header_names);
}

TEST(CompiledTogether, SourcesNameNothingThatIsNamedElsewhere) {
  for (const std::string folder :
       {"encoder", "simulator", "backends", "capture", "fuzz", "bindings"}) {
    EXPECT_THAT(complaints_in(folder + "/", folder + "/", compiled_alone(folder)), IsEmpty())
        << "Rename it, or add the source to interlock_compile_alone() of the folder.";
  }
}

TEST(CompiledTogether, TestsNameNothingThatIsNamedElsewhere) {
  for (const std::string folder :
       {"encoder", "simulator", "backends", "capture", "fuzz", "bindings", "cli", "code"}) {
    EXPECT_THAT(complaints_in("tests/" + folder + "/", "tests/", compiled_alone("tests")),
                IsEmpty())
        << "Rename it, or add the source to interlock_compile_alone() of the folder.";
  }
}

// Returns whether all that `file` declares is in the namespace of its name.
bool has_own_namespace(const SourceFile& file) {
  const size_t slash = file.path.rfind('/') + 1;
  const std::string own =
      "namespace interlock::" + file.path.substr(slash, file.path.size() - slash - 3) + " {";
  bool is_inside = false;
  for (const std::string_view line : lines_of(file.text)) {
    if (line == own) is_inside = true;
    if (line.starts_with("namespace ") && !is_inside) return false;
  }
  return is_inside;
}

TEST(CompiledTogether, ATestHasANamespaceOfItsName) {
  int count = 0;
  for (const SourceFile& file : own_sources()) {
    if (!file.path.starts_with("tests/") || !file.path.ends_with("_test.cc")) continue;
    EXPECT_TRUE(has_own_namespace(file)) << file.path;
    ++count;
  }
  EXPECT_GT(count, 100);
}

TEST(CompiledTogether, ATestInTheNamespaceOfAllIsFound) {
  EXPECT_TRUE(has_own_namespace({"tests/a/b_test.cc", "namespace interlock::b_test {\nint b;\n"}));
  EXPECT_FALSE(has_own_namespace({"tests/a/b_test.cc", "namespace interlock {\nint b;\n"}));
  EXPECT_FALSE(has_own_namespace({"tests/a/b_test.cc", "namespace interlock::c_test {\n"}));
  EXPECT_FALSE(has_own_namespace(
      {"tests/a/b_test.cc", "namespace {\n}\nnamespace interlock::b_test {\nint b;\n"}));
}

}  // namespace
}  // namespace interlock::compiled_together_test
