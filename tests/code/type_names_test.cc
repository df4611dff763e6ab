// Each type that a header declares has a name of its own. All are in one namespace and in one
// program with the tests: two of a name break the one-definition rule, which no tool reports until
// the destructor of the one runs on the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::type_names_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Definitions in column 0; what is indented is another type's.
std::vector<std::string> type_name_complaints(const std::vector<SourceFile>& files) {
  static const std::regex definition(
      R"(^(?:struct|class|enum class|enum|union) (\w+)(?: final)?(?: : [^;{]*)? \{)");
  std::map<std::string, std::string> first_of;
  std::vector<std::string> complaints;
  for (const SourceFile& file : files) {
    if (!file.path.ends_with(".h")) continue;
    const std::string code = code_only(file.text);
    size_t line_number = 0;
    for (const std::string_view line : lines_of(code)) {
      ++line_number;
      // Most lines have another first letter.
      if (line.find_first_of("sceu") != 0) continue;
      std::match_results<std::string_view::const_iterator> match;
      if (!std::regex_search(line.begin(), line.end(), match, definition)) continue;
      const auto [known, is_new] = first_of.emplace(match[1].str(), file.path);
      if (is_new) continue;
      complaints.push_back(complaint(
          file, line_number, match[1].str() + " is the name of a type in " + known->second + "."));
    }
  }
  return complaints;
}

TEST(TypeNames, AreThoseOfOneTypeEach) {
  EXPECT_THAT(type_name_complaints(own_sources()), IsEmpty());
}

TEST(TypeNames, TwoOfANameAreFound) {
  EXPECT_THAT(type_name_complaints({{"encoder/a.h", "struct A {\n};\nclass B;\n  struct C {\n"},
                                    {"encoder/b.h", "class B {\n};\nstruct C {\n};\n"}}),
              IsEmpty());
  EXPECT_THAT(
      type_name_complaints({{"encoder/a.h", "struct A {\n};\n"},
                            {"tests/a.h", "// Of both.\nclass A final : public B {\n};\n"}}),
      ElementsAre(HasSubstr("tests/a.h:2: A is the name of a type in encoder/a.h.")));
}

}  // namespace
}  // namespace interlock::type_names_test
