// A source includes the header of its name first. So every such header compiles alone, and only the
// others need a source that says so (CMakeLists.txt). What a source without such a header defines
// is declared elsewhere, and that declaration names the source.

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
using testing::Not;

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

// `headers` are all of the project. An entry point is declared nowhere; what a library declares,
// the source itself says.
std::vector<std::string> undeclared_complaints(const SourceFile& file,
                                               const std::vector<SourceFile>& headers) {
  const std::string code = code_only(file.text);
  for (const std::string_view entry : {"int main(", "int LLVMFuzzerTestOneInput("}) {
    if (code.find(entry) != std::string::npos) return {};
  }
  if (file.text.find("// Declared by ") != std::string::npos) return {};
  const size_t slash = file.path.rfind('/');
  for (const SourceFile& header : headers) {
    // A header of another folder names it by its path.
    const bool is_near =
        header.path.substr(0, header.path.rfind('/')) == file.path.substr(0, slash);
    const std::string name = is_near ? file.path.substr(slash + 1) : file.path;
    for (size_t at = header.text.find(name); at != std::string::npos;
         at = header.text.find(name, at + 1)) {
      if (at == 0 || !is_word_byte(header.text[at - 1])) return {};
    }
  }
  return {complaint(
      file, 1,
      "no header has the file's name, and none says that it has what the header declares.")};
}

TEST(OwnHeaders, OrOthersSayWhereADefinitionIs) {
  const std::vector<SourceFile> headers = own_files({".h"});
  for (const SourceFile& file : own_files({".cc"})) {
    if (folder_of(file.path) == "tests") continue;
    if (!read_own_file(file.path.substr(0, file.path.size() - 2) + "h").empty()) continue;
    EXPECT_THAT(undeclared_complaints(file, headers), IsEmpty());
  }
}

TEST(OwnHeaders, ThatNoneStandsForAreFound) {
  const auto complaints = [](const std::string& header, const std::string& text) {
    return undeclared_complaints({"encoder/b.cc", text}, {{"encoder/a.h", header}});
  };
  EXPECT_THAT(complaints("int b();\n", "int b() { return 1; }\n"),
              ElementsAre(HasSubstr("encoder/b.cc:1: no header has the file's name")));
  EXPECT_THAT(complaints("int b();  // a_b.cc\n", ""), Not(IsEmpty()));
  EXPECT_THAT(complaints("int b();  // b.cc\n", ""), IsEmpty());
  EXPECT_THAT(complaints("", "// Declared by <volk.h>.\n"), IsEmpty());
  EXPECT_THAT(complaints("", "int main() {}\n"), IsEmpty());
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
