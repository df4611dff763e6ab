// parse(print(p)) equals p, and print(parse(t)) is a fixed point: on every file of the corpus, and
// on random mutations of their tokens, which must give a program or an error with a position.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "tests/encoder/text/round_trip.h"
#include "tests/program_count.h"

namespace interlock::round_trip_test {
namespace {

constexpr ParseOptions kStrict{.reads_every_queue = true};
constexpr ParseOptions kLenient{.skips_invalid_lines = true, .reads_every_queue = true};

std::vector<std::filesystem::path> corpus_files() {
  const auto corpus = std::filesystem::path(INTERLOCK_SOURCE_DIR) / "corpus";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
    if (entry.path().extension() == ".ilk") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(RoundTrip, HoldsForEveryFileOfTheCorpus) {
  const auto files = corpus_files();
  EXPECT_GE(files.size(), 20);
  for (size_t i = 0; i < files.size(); i += is_slow_build() ? 5 : 1) {
    const std::filesystem::path& path = files[i];
    SCOPED_TRACE(path);
    const auto p = parse_file(path.string(), kStrict);
    ASSERT_TRUE(p) << p.error().message;
    const std::string printed = expect_round_trip(*p);
    const auto rebuilt = build(draft_of(*p));
    ASSERT_TRUE(rebuilt) << rebuilt.error().message;
    EXPECT_EQ(print(*rebuilt), printed);
  }
}

// Words, numbers and single bytes, with the white space between them.
std::vector<std::string> tokens_of(const std::string& text) {
  static const std::regex token(R"([A-Za-z_][A-Za-z0-9_.]*|[0-9]+|[ \t]+|[^A-Za-z0-9_ \t])");
  return {std::sregex_token_iterator(text.begin(), text.end(), token), {}};
}

const std::vector<std::string>& replacements() {
  static const std::vector<std::string> words = {"0",
                                                 "1",
                                                 "7",
                                                 "4096",
                                                 "18446744073709551615",
                                                 "18446744073709551616",
                                                 "-1",
                                                 "1e-05",
                                                 "inf",
                                                 ":",
                                                 "[",
                                                 "]",
                                                 ",",
                                                 "+",
                                                 "=",
                                                 "#",
                                                 "\n",
                                                 "\r\n",
                                                 "\t",
                                                 " ",
                                                 "@",
                                                 "->",
                                                 std::string(1, '\0'),
                                                 "reads",
                                                 "writes",
                                                 "updates",
                                                 "atomics",
                                                 "partial",
                                                 "order=3",
                                                 "atomic=add",
                                                 "barrier",
                                                 "execution",
                                                 "dispatch",
                                                 "memory",
                                                 "tensor",
                                                 "view",
                                                 "donates",
                                                 "at",
                                                 "output",
                                                 "witness",
                                                 "before",
                                                 "after",
                                                 "commits",
                                                 "fetches",
                                                 "expect",
                                                 "WAR",
                                                 "alias",
                                                 "clean",
                                                 "encoder=none",
                                                 "scratch",
                                                 "x:",
                                                 "x",
                                                 "f32[4]",
                                                 "u8[0]",
                                                 "= zeros",
                                                 "= random(1)",
                                                 "interlock 1",
                                                 "rows",
                                                 "on",
                                                 "queue"};
  return words;
}

std::string mutated(const std::vector<std::string>& tokens, Numbers& numbers) {
  std::vector<std::string> result = tokens;
  for (size_t edits = 1 + numbers.below(4); edits > 0; --edits) {
    const auto at = result.begin() + static_cast<ptrdiff_t>(numbers.below(result.size()));
    switch (numbers.below(5)) {
      case 0:
        if (result.size() > 1) result.erase(at);
        break;
      case 1:
        result.insert(at, *at);
        break;
      case 2:
        std::swap(*at, result[numbers.below(result.size())]);
        break;
      case 3:
        *at = result[numbers.below(result.size())];
        break;
      default:
        *at = replacements()[numbers.below(replacements().size())];
        break;
    }
  }
  std::string text;
  for (const std::string& token : result) text += token;
  return text;
}

TEST(RoundTrip, HoldsForMutatedTokensOrGivesAnErrorWithAPosition) {
  static const std::regex positioned(R"(m\.ilk:[0-9]+:[0-9]+: error: [^\n]+[.?](\n  - While .*)?)");
  Numbers numbers(2024);
  int parsed_count = 0;
  int rejected_count = 0;
  for (const auto& path : corpus_files()) {
    if (std::filesystem::file_size(path) > 4096) continue;
    const std::string text = text_of(path);
    const std::vector<std::string> tokens = tokens_of(text);
    for (int i = 0; i < proof_count(400, 5, 20); ++i) {
      const std::string mutant = mutated(tokens, numbers);
      SCOPED_TRACE(mutant);
      const auto p = parse(mutant, "m.ilk", kStrict);
      if (p) {
        ++parsed_count;
        expect_round_trip(*p);
      } else {
        ++rejected_count;
        EXPECT_TRUE(std::regex_match(p.error().message, positioned)) << p.error().message;
        if (const auto rest = parse(mutant, "m.ilk", kLenient)) expect_round_trip(*rest);
      }
      if (HasFailure()) return;
    }
  }
  // Most edits break something and many do not: both branches are exercised.
  EXPECT_GE(parsed_count, share_count(500, 20, 3200));
  EXPECT_GE(rejected_count, share_count(500, 20, 3200));
}

// What a strict parse accepts, a lenient one reads the same way.
TEST(RoundTrip, LenientAndStrictAgreeOnValidText) {
  for (const auto& path : corpus_files()) {
    if (std::filesystem::file_size(path) > 100'000) continue;
    EXPECT_EQ(print(*parse_file(path.string(), kLenient)),
              print(*parse_file(path.string(), kStrict)));
  }
}

}  // namespace
}  // namespace interlock::round_trip_test
