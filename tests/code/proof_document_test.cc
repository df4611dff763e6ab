// docs/proof.txt, which `./dev prove` writes, has the claims that tests make of many programs: all
// of them, and no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::proof_document_test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

std::string joined_literals(const std::string& literals) {
  std::string text;
  bool is_inside = false;
  for (const char c : literals) {
    if (c == '"') {
      is_inside = !is_inside;
    } else if (is_inside) {
      text += c;
    }
  }
  return text;
}

std::set<std::string> claims_of(const std::string& source) {
  static const std::regex call(R"re(print_proof\(\s*[^,()]+,\s*((?:"[^"]*"\s*)+)\))re");
  std::set<std::string> claims;
  // To look for a word first is a hundred times as fast as an expression at every byte.
  constexpr std::string_view kWord = "print_proof(";
  for (size_t at = source.find(kWord); at != std::string::npos; at = source.find(kWord, at + 1)) {
    std::smatch match;
    const auto begin = source.begin() + static_cast<ptrdiff_t>(at);
    if (std::regex_search(begin, source.end(), match, call,
                          std::regex_constants::match_continuous)) {
      claims.insert(joined_literals(match[1].str()));
    }
  }
  return claims;
}

TEST(ClaimsOf, ReadsLiteralsInPieces) {
  EXPECT_THAT(claims_of("print_proof(count, \"all of \"\n  \"it holds\");\nprint_proof(n, \"b\");"),
              ElementsAre("all of it holds", "b"));
}

TEST(ProofDocument, HasTheClaimsOfTheTests) {
  std::set<std::string> claims;
  for (const SourceFile& file : own_sources()) {
    if (!file.path.starts_with("tests/") || file.path.starts_with("tests/code/")) continue;
    claims.merge(claims_of(file.text));
  }
  std::set<std::string> shown;
  std::vector<std::string> unknown;
  static const std::regex proof(R"(proved on \d+ programs: (.*))");
  const std::string document = read_own_file("docs/proof.txt");
  for (const std::string_view line : lines_of(document)) {
    std::match_results<std::string_view::const_iterator> match;
    if (!std::regex_match(line.begin(), line.end(), match, proof)) {
      unknown.emplace_back(line);
    } else if (claims.contains(match[1].str())) {
      shown.insert(match[1].str());
    } else {
      unknown.push_back(match[1].str());
    }
  }
  EXPECT_THAT(unknown, IsEmpty()) << "No test makes these claims; ./dev prove writes the document.";
  EXPECT_THAT(shown, ElementsAreArray(claims))
      << "docs/proof.txt lacks these; ./dev prove writes it.";
}

}  // namespace
}  // namespace interlock::proof_document_test
