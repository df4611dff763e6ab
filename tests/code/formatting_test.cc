// Sources are as clang-format leaves them. Formatting differs between its major versions, so one
// version decides; elsewhere this skips. What it leaves goes by the bytes of a file and by the
// style, so a file that was found as it leaves it is asked about again only once either changes:
// the build folder keeps a digest of each.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/hash.h"
#include "tests/code/source_tree.h"

namespace interlock::formatting_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kDecidingVersion = "version 14.";

// Returns all that a shell command prints.
std::string output_of(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "The command cannot be started: " + command;
  std::string output;
  for (int byte = std::fgetc(pipe); byte != EOF; byte = std::fgetc(pipe)) {
    output += static_cast<char>(byte);
  }
  pclose(pipe);
  return output;
}

// Returns what clang-format would change in the files, paths from the project root or absolute.
std::string formatting_complaints(const std::vector<std::string>& paths) {
  std::string command =
      "cd '" INTERLOCK_SOURCE_DIR "' && clang-format --style=file:.clang-format --dry-run -Werror";
  for (const std::string& path : paths) command += " '" + path + "'";
  return output_of(command);
}

// What stands for the file `text` where `style` decides: equal for two only by a chance of 2^-64.
std::string digest_of(std::string_view style, std::string_view text) {
  return fmt::format("{:016x}", fnv1a(fnv1a(style), text));
}

// The digests that `path` has, one a line; none if there is no such file.
std::set<std::string> read_digests(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::set<std::string> digests;
  for (std::string line; std::getline(file, line);) digests.insert(line);
  return digests;
}

// A run at the same time writes all of its own, or none.
void write_digests(const std::filesystem::path& path, const std::set<std::string>& digests) {
  const std::filesystem::path written = path.string() + "." + std::to_string(getpid());
  {
    std::ofstream file(written);
    for (const std::string& digest : digests) file << digest << '\n';
  }
  std::filesystem::rename(written, path);
}

// The paths of those files of which `known` has no digest.
std::vector<std::string> unknown_paths(const std::vector<SourceFile>& files, std::string_view style,
                                       const std::set<std::string>& known) {
  std::vector<std::string> paths;
  for (const SourceFile& file : files) {
    if (!known.contains(digest_of(style, file.text))) paths.push_back(file.path);
  }
  return paths;
}

class Formatting : public testing::Test {
 protected:
  void SetUp() override {
    const std::string version = output_of("clang-format --version");
    if (version.find(kDecidingVersion) == std::string::npos) {
      GTEST_SKIP() << "Formatting is not checked: it needs clang-format " << kDecidingVersion
                   << "x, and 'clang-format --version' prints: " << version;
    }
  }
};

TEST_F(Formatting, IsWhatClangFormatLeaves) {
  const std::vector<SourceFile> files = own_sources();
  const std::string style = output_of("clang-format --version") + read_own_file(".clang-format");
  const std::filesystem::path record = FORMATTED_SOURCES;
  const std::vector<std::string> paths = unknown_paths(files, style, read_digests(record));
  if (paths.empty()) return;
  const std::string complaints = formatting_complaints(paths);
  ASSERT_THAT(complaints, IsEmpty()) << "Run ./dev format.";
  std::set<std::string> digests;
  for (const SourceFile& file : files) digests.insert(digest_of(style, file.text));
  write_digests(record, digests);
}

TEST_F(Formatting, IsAskedAboutAnewWhereAFileOrTheStyleChanges) {
  const std::filesystem::path record = std::filesystem::temp_directory_path() /
                                       ("interlock_formatted_" + std::to_string(getpid()) + ".txt");
  EXPECT_THAT(read_digests(record), IsEmpty());
  write_digests(record, {digest_of("a style", "int x;\n"), digest_of("a style", "int y;\n")});
  const std::set<std::string> known = read_digests(record);
  std::filesystem::remove(record);
  const std::vector<SourceFile> same = {{"a.h", "int x;\n"}, {"b.h", "int y;\n"}};
  EXPECT_THAT(unknown_paths(same, "a style", known), IsEmpty());
  EXPECT_THAT(unknown_paths(same, "A style", known), ElementsAre("a.h", "b.h"));
  EXPECT_THAT(unknown_paths({{"a.h", "int  x;\n"}, {"b.h", "int y;\n"}}, "a style", known),
              ElementsAre("a.h"));
}

TEST_F(Formatting, AMisplacedSpaceIsFound) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("interlock_formatting_" + std::to_string(getpid()) + ".cc");
  std::ofstream(path) << "int  x=1 ;\n";
  EXPECT_THAT(formatting_complaints({path.string()}), HasSubstr("clang-format-violations"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace interlock::formatting_test
