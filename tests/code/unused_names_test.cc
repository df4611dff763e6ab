// What is declared is used. The basic idea is that compilers see one source at a time: they find an
// unused function of a source, but neither one that a header declares, nor a member, nor a constant
// that nothing mentions. So each word that is declared somewhere is to stand somewhere else too.
//
// Where two things share a word, the one that is used hides the other; and what only tests use
// counts as used. That much is missed.
#include "tests/code/unused_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::unused_names_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(UnusedNames, AreNowhere) {
  const std::vector<SourceFile> files = own_files({".h", ".cc", ".cu", ".c"});
  EXPECT_GT(files.size(), 500u);
  for (const std::string& complaint : unused_complaints(files)) ADD_FAILURE() << complaint;
}

TEST(UnusedNames, OfEveryKindAreFound) {
  const auto complaints = [](const std::string& header, const std::string& source) {
    return unused_complaints({{"encoder/a.h", header}, {"encoder/a.cc", source}});
  };
  EXPECT_THAT(complaints("int apple_of(int count);\n", "int apple_of(int count) { return 1; }\n"),
              ElementsAre(HasSubstr("encoder/a.h:1: apple_of is declared, and nothing uses it.")));
  EXPECT_THAT(complaints("struct Tree {\n  bool is_green() const;\n  int age = 0;\n};\n",
                         "bool Tree::is_green() const { return true; }\n"),
              ElementsAre(HasSubstr("a.h:3: age is"), HasSubstr("a.h:2: is_green is")));
  EXPECT_THAT(complaints("enum class Fruit { kApple, kPear };\nusing Fruits = std::set<Fruit>;\n",
                         "bool is_pear(Fruit fruit) { return fruit == Fruit::kPear; }\n"
                         "const bool pear = is_pear(Fruit{});\n"),
              ElementsAre(HasSubstr("a.h:2: Fruits is"), HasSubstr("a.h:1: kApple is"),
                          HasSubstr("a.cc:2: pear is")));
  EXPECT_THAT(complaints("// kMany and kFew.\nconstexpr int kMany = 2;\nconstexpr int kFew = 1;\n",
                         "#include \"kMany.h\"\nint main() { return kFew; }\n"),
              ElementsAre(HasSubstr("a.h:2: kMany is")));
}

TEST(UnusedNames, ThatAreUsedOnceAreFine) {
  EXPECT_THAT(unused_complaints({{"encoder/a.h",
                                  "struct Tag;\nusing AppleId = Id<struct Tag>;\n"
                                  "int apple_of(AppleId id);\n"},
                                 {"encoder/a.cc",
                                  "constexpr Finder kFinders[] = {&apple_of};\n"
                                  "auto f = kFinders[0] * 2;\nint main() { f(); }\n"}}),
              IsEmpty());
}

}  // namespace
}  // namespace interlock::unused_names_test
