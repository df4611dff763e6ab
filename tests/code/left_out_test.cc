// Each test that tests/sanitized.cmake leaves out under sanitizers is there. The basic idea is that
// a name without a test leaves nothing out, and nobody notices: the test that had it has another
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::left_out_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The tests that a list names, comments aside: "Suite.Name", or "Suite.*" for all of a suite.
std::vector<std::string> left_out_in(std::string_view list) {
  std::vector<std::string> tests;
  // An instance has a word before its suite, and a parameter after its name.
  static const std::regex test(R"((?:\w+/)?(\w+\.(?:\w+|\*))(?:/\w+)?)");
  for (const std::string_view line : lines_of(list)) {
    const std::string code(line.substr(0, line.find('#')));
    for (std::sregex_iterator it(code.begin(), code.end(), test), end; it != end; ++it) {
      tests.push_back((*it)[1].str());
    }
  }
  return tests;
}

// The tests that are in a source, each once by its name and once as "Suite.*".
std::set<std::string> tests_in(const std::string& source) {
  std::set<std::string> tests;
  static const std::regex test(R"(\b(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))");
  for (std::sregex_iterator it(source.begin(), source.end(), test), end; it != end; ++it) {
    tests.insert((*it)[1].str() + "." + (*it)[2].str());
    tests.insert((*it)[1].str() + ".*");
  }
  static const std::regex conformance(R"(\bINTERLOCK_CONFORMANCE\((\w+)\))");
  for (std::sregex_iterator it(source.begin(), source.end(), conformance), end; it != end; ++it) {
    tests.insert((*it)[1].str() + ".ConformsToInterlock");
  }
  return tests;
}

TEST(LeftOut, AreReadWithoutTheirInstances) {
  EXPECT_THAT(
      left_out_in("# Not A.B\nset(left_out_of_x_tests\n  A.Holds Of/B.Holds/1 # C.D\n  E.*)"),
      ElementsAre("A.Holds", "B.Holds", "E.*"));
  EXPECT_THAT(tests_in("TEST(A,\n     Holds) {}\nTEST_P(B, Fails) {}\nINTERLOCK_CONFORMANCE(C);"),
              ElementsAre("A.*", "A.Holds", "B.*", "B.Fails", "C.ConformsToInterlock"));
}

TEST(LeftOut, AreTestsThatThereAre) {
  std::set<std::string> tests;
  for (const SourceFile& file : own_sources()) {
    if (file.path.starts_with("tests/")) tests.merge(tests_in(file.text));
  }
  std::vector<std::string> missing;
  const std::vector<std::string> left_out = left_out_in(read_own_file("tests/sanitized.cmake"));
  for (const std::string& test : left_out) {
    if (!tests.contains(test)) missing.push_back(test);
  }
  EXPECT_THAT(missing, IsEmpty());
  EXPECT_GT(left_out.size(), 20u);
}

}  // namespace
}  // namespace interlock::left_out_test
