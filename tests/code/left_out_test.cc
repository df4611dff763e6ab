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

// Adds the tests that are in a source, each once by its name and once as "Suite.*".
void add_tests_in(const std::string& source, std::set<std::string>& tests) {
  static const std::regex test(R"(TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))");
  static const std::regex conformance(R"(CONFORMANCE\((\w+)\))");
  // To look for a word first is a hundred times as fast as an expression at every byte.
  const auto for_each = [&](std::string_view word, const std::regex& form, const auto& add) {
    for (size_t at = source.find(word); at != std::string::npos; at = source.find(word, at + 1)) {
      std::smatch match;
      const auto begin = source.begin() + static_cast<ptrdiff_t>(at);
      if (std::regex_search(begin, source.end(), match, form,
                            std::regex_constants::match_continuous)) {
        add(match);
      }
    }
  };
  for_each("TEST", test, [&](const std::smatch& match) {
    tests.insert(match[1].str() + "." + match[2].str());
    tests.insert(match[1].str() + ".*");
  });
  for_each("CONFORMANCE(", conformance, [&](const std::smatch& match) {
    tests.insert(match[1].str() + ".ConformsToInterlock");
  });
}

TEST(LeftOut, AreReadWithoutTheirInstances) {
  EXPECT_THAT(
      left_out_in("# Not A.B\nset(left_out_of_x_tests\n  A.Holds Of/B.Holds/1 # C.D\n  E.*)"),
      ElementsAre("A.Holds", "B.Holds", "E.*"));
  std::set<std::string> tests;
  add_tests_in("TEST(A,\n     Holds) {}\nTEST_P(B, Fails) {}\nINTERLOCK_CONFORMANCE(C);", tests);
  EXPECT_THAT(tests, ElementsAre("A.*", "A.Holds", "B.*", "B.Fails", "C.ConformsToInterlock"));
}

TEST(LeftOut, AreTestsThatThereAre) {
  std::set<std::string> tests;
  for (const SourceFile& file : own_sources()) {
    if (file.path.starts_with("tests/")) add_tests_in(file.text, tests);
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
