// A source includes the header of its name first. So every such header compiles alone, and only the
// others need a source that says so (CMakeLists.txt).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::own_header_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// `header` is the path of the header beside `file`.
std::vector<std::string> own_header_complaints(const SourceFile& file, std::string_view header) {
  const std::string code = code_only(file.text);
  const std::vector<std::string_view> code_lines = lines_of(code);
  const std::vector<std::string_view> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!code_lines[i].starts_with('#')) continue;
    if (lines[i] == "#include \"" + std::string(header) + "\"") return {};
    return {complaint(file, i + 1, "'" + std::string(header) + "' is to be included first.")};
  }
  return {complaint(file, 1, "'" + std::string(header) + "' is to be included.")};
}

TEST(OwnHeaders, AreIncludedFirst) {
  int count = 0;
  for (const SourceFile& file : own_sources()) {
    if (!file.path.ends_with(".cc")) continue;
    const std::string header = file.path.substr(0, file.path.size() - 2) + "h";
    if (read_own_file(header).empty()) continue;
    EXPECT_THAT(own_header_complaints(file, header), IsEmpty());
    ++count;
  }
  EXPECT_GT(count, 100);
}

TEST(OwnHeaders, ThatComeLaterOrNeverAreFound) {
  EXPECT_THAT(
      own_header_complaints({"encoder/a.cc", "// A.\n#include <map>\n#include \"encoder/a.h\"\n"},
                            "encoder/a.h"),
      ElementsAre(HasSubstr("encoder/a.cc:2: 'encoder/a.h' is to be included first")));
  EXPECT_THAT(
      own_header_complaints({"encoder/a.cc", "// #include \"encoder/a.h\"\n"}, "encoder/a.h"),
      ElementsAre(HasSubstr("encoder/a.cc:1: ")));
  EXPECT_THAT(
      own_header_complaints({"encoder/a.cc", "// A.\n\n#include \"encoder/a.h\"\n#include <map>\n"},
                            "encoder/a.h"),
      IsEmpty());
}

}  // namespace
}  // namespace interlock::own_header_test
