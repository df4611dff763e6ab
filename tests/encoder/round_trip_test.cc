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

#include "encoder/program_builder.h"
#include "encoder/text.h"

namespace interlock {
namespace {

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

bool is_same(const Dispatch& a, const Dispatch& b) {
  return a.statement == b.statement && a.kernel == b.kernel && a.order == b.order &&
         a.first_access == b.first_access && a.access_count == b.access_count &&
         a.first_attribute == b.first_attribute && a.attribute_count == b.attribute_count &&
         a.atomic_op == b.atomic_op && a.is_partial == b.is_partial;
}

bool is_same(const Access& a, const Access& b) {
  return a.memory == b.memory && a.tensor == b.tensor && a.range == b.range && a.mode == b.mode &&
         a.is_sliced == b.is_sliced;
}

bool is_same(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.placement == b.placement &&
         a.source == b.source && a.initial == b.initial && a.memory == b.memory &&
         a.range == b.range && a.root == b.root;
}

bool is_same(const Expectation& a, const Expectation& b) {
  return a.is_clean == b.is_clean && a.kind == b.kind && a.first == b.first && a.second == b.second;
}

template <typename T>
bool are_same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return is_same(x, y); });
}

// Names are compared by text: print() has them all.
void expect_same(const Program& a, const Program& b) {
  EXPECT_EQ(a.memories.size(), b.memories.size());
  EXPECT_TRUE(are_same(a.tensors, b.tensors));
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_TRUE(are_same(a.dispatches, b.dispatches));
  EXPECT_TRUE(are_same(a.accesses, b.accesses));
  EXPECT_EQ(a.witness, b.witness);
  EXPECT_TRUE(are_same(a.expectations, b.expectations));
  EXPECT_EQ(a.has_program_order, b.has_program_order);
}

// Checks both properties. Returns the canonical text.
std::string expect_round_trip(const Program& p) {
  const std::string printed = print(p);
  const auto again = parse(printed, "again.ilk");
  if (!again) {
    ADD_FAILURE() << again.error().message << "\n" << printed;
    return printed;
  }
  expect_same(p, *again);
  EXPECT_EQ(print(*again), printed);
  return printed;
}

TEST(RoundTrip, HoldsForEveryFileOfTheCorpus) {
  const auto files = corpus_files();
  EXPECT_GE(files.size(), 20);
  for (const auto& path : files) {
    SCOPED_TRACE(path);
    const auto p = parse_file(path.string());
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

// A fixed sequence of numbers: splitmix64.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  size_t below(size_t bound) {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<size_t>((z ^ (z >> 31)) % bound);
  }

 private:
  uint64_t state_;
};

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
  ParseOptions lenient;
  lenient.skips_invalid_lines = true;
  Numbers numbers(2024);
  int parsed_count = 0;
  int rejected_count = 0;
  for (const auto& path : corpus_files()) {
    const std::string text = text_of(path);
    if (text.size() > 4096) continue;
    const std::vector<std::string> tokens = tokens_of(text);
    for (int i = 0; i < 400; ++i) {
      const std::string mutant = mutated(tokens, numbers);
      SCOPED_TRACE(mutant);
      const auto p = parse(mutant, "m.ilk");
      if (p) {
        ++parsed_count;
        expect_round_trip(*p);
      } else {
        ++rejected_count;
        EXPECT_TRUE(std::regex_match(p.error().message, positioned)) << p.error().message;
        if (const auto rest = parse(mutant, "m.ilk", lenient)) expect_round_trip(*rest);
      }
      if (HasFailure()) return;
    }
  }
  // Most edits break something and many do not: both branches are exercised.
  EXPECT_GE(parsed_count, 500);
  EXPECT_GE(rejected_count, 500);
}

// What a strict parse accepts, a lenient one reads the same way.
TEST(RoundTrip, LenientAndStrictAgreeOnValidText) {
  ParseOptions lenient;
  lenient.skips_invalid_lines = true;
  for (const auto& path : corpus_files()) {
    if (std::filesystem::file_size(path) > 100'000) continue;
    EXPECT_EQ(print(*parse_file(path.string(), lenient)), print(*parse_file(path.string())));
  }
}

}  // namespace
}  // namespace interlock
