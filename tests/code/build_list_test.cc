// Every source is in a build list, and every header is included. The basic idea is that the lists
// are written by hand, and a file that is not listed is neither compiled, nor tested, nor
// installed, and nobody notices.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::build_list_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kBuildList = "CMakeLists.txt";

// Returns the build list nearest to `path`, upwards, e.g. "tests/CMakeLists.txt".
std::string build_list_of(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  while (!folder.empty() && read_own_file((folder / kBuildList).generic_string()).empty()) {
    folder = folder.parent_path();
  }
  return (folder / kBuildList).generic_string();
}

bool is_installed_header(std::string_view path) {
  return path.ends_with(".h") && !path.starts_with("tests/") && !path.starts_with("fuzz/cli/") &&
         !path.starts_with("fuzz/targets/");
}

// The path without its extension.
std::string stem_of(const std::string& path) {
  return std::filesystem::path(path).replace_extension().generic_string();
}

// True if the word `name`, or `name` without its extension, stands in `list`.
bool is_listed(std::string_view list, std::string_view name) {
  const auto ends_word = [&](std::size_t i) {
    return i >= list.size() || std::isspace(static_cast<unsigned char>(list[i])) != 0 ||
           list[i] == ')' || list[i] == '(' || list[i] == '"';
  };
  for (const std::string_view word : {name, name.substr(0, name.rfind('.'))}) {
    std::size_t at = list.find(word);
    for (; at != std::string_view::npos; at = list.find(word, at + 1)) {
      if ((at == 0 || ends_word(at - 1)) && ends_word(at + word.size())) return true;
    }
  }
  return false;
}

// `list` is the text of the build list at `list_path`.
std::vector<std::string> build_list_complaints(const SourceFile& file, const std::string& list_path,
                                               std::string_view list) {
  if (!file.path.ends_with(".cc") && !is_installed_header(file.path)) return {};
  const std::string name = std::filesystem::path(file.path)
                               .lexically_relative(std::filesystem::path(list_path).parent_path())
                               .generic_string();
  if (is_listed(list, name)) return {};
  return {complaint(file, 1, "the file is not listed in " + list_path + ". Add '" + name + "'.")};
}

TEST(BuildLists, NameEverySource) {
  for (const SourceFile& file : own_sources()) {
    const std::string list_path = build_list_of(file.path);
    EXPECT_THAT(build_list_complaints(file, list_path, read_own_file(list_path)), IsEmpty());
  }
}

// True if the path of the file ends a word of `list`, e.g. "${folder}/faults/judge.sh".
bool is_in_path(std::string_view list, const std::filesystem::path& path) {
  return list.find("/" + path.filename().string()) != std::string_view::npos;
}

// What no build list has by a rule of its own: shaders, device code, C, scripts and data of tests.
// `lists` are the texts that may name `file`: build lists and scripts.
std::vector<std::string> unnamed_complaints(const SourceFile& file,
                                            const std::vector<SourceFile>& lists) {
  const std::filesystem::path path(file.path);
  // Fuzz targets and shaders are listed without their extension.
  const bool is_named = std::any_of(lists.begin(), lists.end(), [&](const SourceFile& list) {
    return list.path != file.path &&
           (is_listed(list.text, path.filename().string()) || is_in_path(list.text, path));
  });
  if (is_named) return {};
  return {complaint(file, 1, "no build list and no script names the file.")};
}

// A header that nothing includes is a declaration that nothing uses. `files` are all that include.
std::vector<std::string> unincluded_complaints(const std::vector<SourceFile>& files) {
  std::set<std::string> included;
  for (const SourceFile& file : files) {
    for (const std::string& include : includes_of(file.text)) {
      // Its own source does not make it known to anyone.
      if (stem_of(include) != stem_of(file.path)) included.insert(include);
    }
  }
  std::vector<std::string> complaints;
  for (const SourceFile& file : files) {
    if (!file.path.ends_with(".h") && !file.path.ends_with(".glsl")) continue;
    // Shaders include by the name alone.
    const std::string name = std::filesystem::path(file.path).filename().string();
    if (included.contains(file.path.ends_with(".glsl") ? name : file.path)) continue;
    complaints.push_back(complaint(file, 1, "no other file includes the header."));
  }
  return complaints;
}

TEST(BuildLists, NameEveryOtherFile) {
  std::vector<SourceFile> lists = own_files({".txt", ".cmake", ".sh"});
  lists.push_back({"dev", read_own_file("dev")});
  lists.push_back({"CMakeLists.txt", read_own_file("CMakeLists.txt")});
  const std::vector<SourceFile> files =
      own_files({".c", ".comp", ".cu", ".cmake", ".sh", ".dict", ".options"});
  EXPECT_GT(files.size(), 40u);
  for (const SourceFile& file : files) EXPECT_THAT(unnamed_complaints(file, lists), IsEmpty());
}

TEST(Headers, AreIncludedByOthers) {
  EXPECT_THAT(unincluded_complaints(own_files({".h", ".cc", ".cu", ".c", ".comp", ".glsl"})),
              IsEmpty());
}

TEST(BuildLists, AFileThatNothingNamesIsFound) {
  const SourceFile shader = {"backends/vulkan/shaders/sum.comp", ""};
  EXPECT_THAT(unnamed_complaints(shader, {{"backends/vulkan/CMakeLists.txt", "sum_all\n"}}),
              ElementsAre(HasSubstr("sum.comp:1: no build list and no script names the file.")));
  EXPECT_THAT(unnamed_complaints(shader, {{"backends/vulkan/CMakeLists.txt", "mix\n  sum\n"}}),
              IsEmpty());
  const SourceFile script = {"tests/a.sh", "exec a.sh"};
  EXPECT_THAT(unnamed_complaints(script, {script}), Not(IsEmpty()));
  EXPECT_THAT(unnamed_complaints(script, {script, {"dev", "tests/a.sh\n"}}), IsEmpty());
}

TEST(Headers, ThatNothingIncludesAreFound) {
  const SourceFile header = {"encoder/a.h", "#pragma once\n"};
  const SourceFile own = {"encoder/a.cc", "#include \"encoder/a.h\"\n"};
  EXPECT_THAT(unincluded_complaints({header, own}),
              ElementsAre(HasSubstr("encoder/a.h:1: no other file includes the header.")));
  EXPECT_THAT(unincluded_complaints({header, own, {"tests/b.cc", own.text}}), IsEmpty());
}

TEST(BuildLists, AMissingSourceIsFound) {
  EXPECT_THAT(build_list_complaints({"encoder/a.cc", ""}, "encoder/CMakeLists.txt", "ba.cc b/a.cc"),
              ElementsAre(HasSubstr("encoder/a.cc:1: the file is not listed")));
  EXPECT_THAT(build_list_complaints({"encoder/a.h", ""}, "encoder/CMakeLists.txt", "a.cc"),
              ElementsAre(HasSubstr("Add 'a.h'")));
}

TEST(BuildLists, AListedSourceIsFine) {
  EXPECT_THAT(
      build_list_complaints({"encoder/rooms/a.cc", ""}, "encoder/CMakeLists.txt", "\n rooms/a.cc"),
      IsEmpty());
  EXPECT_THAT(build_list_complaints({"fuzz/targets/a.cc", ""}, "fuzz/targets/CMakeLists.txt",
                                    "set(targets a)"),
              IsEmpty());
}

}  // namespace
}  // namespace interlock::build_list_test
