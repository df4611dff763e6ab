#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::file_length_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kSourceLineCountMax = 400;
constexpr std::size_t kReadmeLineCountMax = 150;

// Strangers copy it as one file, so its ideas cannot have files of their own.
constexpr std::string_view kStandAlone = "encoder/recorder.h";
constexpr std::size_t kStandAloneLineCountMax = 1200;

std::vector<std::string> length_complaints(const SourceFile& file, std::size_t line_count_max) {
  const std::size_t line_count = lines_of(file.text).size();
  if (line_count <= line_count_max) return {};
  return {complaint(file, line_count_max + 1,
                    "the file has " + std::to_string(line_count) + " lines, more than " +
                        std::to_string(line_count_max) + ". Give each idea its own file.")};
}

std::string text_of_lines(std::size_t line_count) {
  std::string text;
  for (std::size_t i = 0; i < line_count; ++i) text += "x\n";
  return text;
}

TEST(FileLength, IsWithinALook) {
  for (const SourceFile& file : own_sources()) {
    const bool stands_alone = file.path == kStandAlone;
    EXPECT_THAT(
        length_complaints(file, stands_alone ? kStandAloneLineCountMax : kSourceLineCountMax),
        IsEmpty());
  }
}

TEST(FileLength, OfPythonIsWithinALook) {
  const std::vector<SourceFile> files = own_files({".py"});
  EXPECT_GT(files.size(), 10u);
  for (const SourceFile& file : files) {
    EXPECT_THAT(length_complaints(file, kSourceLineCountMax), IsEmpty());
  }
}

TEST(FileLength, OfTheReadmeIsWithinALook) {
  EXPECT_THAT(length_complaints({"README.md", read_own_file("README.md")}, kReadmeLineCountMax),
              IsEmpty());
}

TEST(FileLength, OneLineTooManyIsFound) {
  EXPECT_THAT(length_complaints({"encoder/a.cc", text_of_lines(400)}, 400), IsEmpty());
  EXPECT_THAT(length_complaints({"encoder/a.cc", text_of_lines(401)}, 400),
              ElementsAre(HasSubstr("encoder/a.cc:401: the file has 401 lines")));
}

}  // namespace
}  // namespace interlock::file_length_test
