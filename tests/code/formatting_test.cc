// Sources are as clang-format leaves them. Formatting differs between its major versions, so one
// version decides; elsewhere this skips.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::formatting_test {
namespace {

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
  std::vector<std::string> paths;
  for (const SourceFile& file : own_sources()) paths.push_back(file.path);
  EXPECT_THAT(formatting_complaints(paths), IsEmpty()) << "Run ./dev format.";
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
