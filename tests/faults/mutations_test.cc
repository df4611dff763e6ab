#include "tests/faults/mutations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::mutations_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The lines that mistakes make of `line`; "" for a line left out.
std::vector<std::string> mistakes_in(std::string_view line, std::string_view before = "{") {
  std::vector<std::string> lines;
  for (const Mutation& mutation : mutations_of(line, code_only(line), before)) {
    lines.push_back(mutation.line.value_or(""));
  }
  return lines;
}

TEST(Mutations, AreOffByOneInAComparison) {
  EXPECT_THAT(mistakes_in("  while (a < b && c == d) {"),
              ElementsAre("  while (a <= b && c == d) {", "  while (a < b && c != d) {"));
}

TEST(Mutations, AreOffByOneInABound) {
  EXPECT_THAT(mistakes_in("  return f32 + 2 + x1.size() +"),
              ElementsAre("  return f32 + 3 + x1.size() +", "  return f32 + 1 + x1.size() +",
                          "  return f32 + 2 + x1.size() - 1 +"));
  EXPECT_THAT(mistakes_in("  return 0.5 + 2.0f"), IsEmpty());
}

TEST(Mutations, LeaveOutAStatement) {
  EXPECT_THAT(mistakes_in("  values.clear();"), ElementsAre(""));
  EXPECT_THAT(mistakes_in("  values.clear();", "  if (a) b ="), IsEmpty());
  EXPECT_THAT(mistakes_in("  return value;"), IsEmpty());
}

TEST(Mutations, SwapArguments) {
  EXPECT_THAT(mistakes_in("  return join(a[i, j], of(b), c)"),
              ElementsAre("  return join(of(b), a[i, j], c)", "  return join(a[i, j], c, of(b))"));
  EXPECT_THAT(mistakes_in("int join(int a, const Text& b) {"), IsEmpty());
  EXPECT_THAT(mistakes_in("  return std::max(a, b)"), IsEmpty());
}

TEST(Mutations, NegateACondition) {
  EXPECT_THAT(mistakes_in("  if (a && (b || c)) {"), ElementsAre("  if (!(a && (b || c))) {"));
}

TEST(Mutations, LeaveWhatCannotShow) {
  for (const char* line : {"  // a < b;", "#include <a>", "  INTERLOCK_CHECK(a < b);",
                           "  print(\"a\", b);", "  ids.reserve(2);"}) {
    EXPECT_THAT(mistakes_in(line), IsEmpty()) << line;
  }
  EXPECT_THAT(mistakes_in("             a < b);", "  print(\" \","), IsEmpty());
}

}  // namespace
}  // namespace interlock::mutations_test
