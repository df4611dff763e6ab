#include "tests/code/source_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace interlock::source_tree_test {
namespace {

using testing::Contains;
using testing::Field;

// The other checks see nothing, and pass, if this one fails.
TEST(SourceTree, FindsItsOwnFiles) {
  EXPECT_THAT(own_sources(),
              Contains(Field(&SourceFile::path, std::string("tests/code/source_tree_test.cc"))));
}

TEST(CodeOnly, BlanksCommentsAndKeepsLines) {
  EXPECT_EQ(code_only("a // b\nc /* d\n e */ f"), "a     \nc     \n      f");
}

TEST(CodeOnly, BlanksWhatStringsSay) {
  EXPECT_EQ(code_only(R"(f("a\"b", 'c', "//") + g)"), R"(f("    ", ' ', "  ") + g)");
}

TEST(CodeOnly, BlanksRawStrings) {
  EXPECT_EQ(code_only("R\"x(a\" b)x\" + c"), "R\"        \" + c");
}

TEST(CodeOnly, KeepsDigitSeparators) { EXPECT_EQ(code_only("1'000 + b + 'c'"), "1'000 + b + ' '"); }

}  // namespace
}  // namespace interlock::source_tree_test
