// A file reaches what it names by its own includes. The basic idea is that precompiled headers and
// sources compiled together lend a file the includes of others, until a neighbour changes. So for
// each name of the project or of the standard library there is a header that declares it, and that
// the file includes, or that one of those does.

#include "tests/code/included_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::included_names_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(IncludedNames, AreReachedByIncludes) {
  const std::vector<SourceFile> files = own_sources();
  const NameMap names(files);
  int count = 0;
  for (const SourceFile& file : files) {
    if (NameMap::is_apart(file.path)) continue;
    EXPECT_THAT(names.complaints_about(file), IsEmpty());
    ++count;
  }
  EXPECT_GT(count, 500);
}

TEST(IncludedNames, ThatAreNotReachedAreFound) {
  const SourceFile a = {"encoder/a.h",
                        "#include <vector>\nstruct Apple {\n};\nint apple_of(int);\n"};
  const SourceFile b = {"encoder/b.h", "#include \"encoder/a.h\"\n"};
  const auto complaints = [&](const std::string& text) {
    const SourceFile file = {"encoder/c.cc", text};
    return NameMap({a, b, file}).complaints_about(file);
  };
  EXPECT_THAT(complaints("#include \"encoder/b.h\"\nstd::vector<Apple> apples(apple_of(1));\n"),
              IsEmpty());
  EXPECT_THAT(complaints("#include <vector>\n\nstd::vector<Apple> apples;\nint x = apple_of(1);\n"),
              ElementsAre(HasSubstr("encoder/c.cc:3: Apple is declared in 'encoder/a.h'"),
                          HasSubstr("encoder/c.cc:4: apple_of is declared in 'encoder/a.h'")));
  EXPECT_THAT(complaints("// Apple.\nstd::vector<int> x;\n"),
              ElementsAre(HasSubstr("encoder/c.cc:2: vector is declared in 'vector'")));
  EXPECT_THAT(complaints("int apple_of(int);\nclass Apple;\nApple* x = tree.apple_of(2);\n"),
              IsEmpty());
}

}  // namespace
}  // namespace interlock::included_names_test
