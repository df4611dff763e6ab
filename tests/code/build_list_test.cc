// Every source is in a build list. The basic idea is that the lists are written by hand, and a file
// that is not listed is neither compiled, nor tested, nor installed, and nobody notices.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::build_list_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
