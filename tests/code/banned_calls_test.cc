// Words and numbers that may not appear in code, and why. The basic idea is that a rule is a few
// tokens, as they stand in the source: "time (" is a call of time, "*_distribution" any word with
// that end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::banned_calls_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct BannedTokens {
  std::vector<std::string_view> patterns;  // Tokens apart by one space; '*' at one end of a word.
  std::vector<std::string_view> folders;   // Path prefixes; empty: everywhere.
  std::string_view exempt;                 // A path prefix; empty: none.
  std::string_view why;
};

const std::vector<BannedTokens>& rules() {
  static const std::vector<BannedTokens> kRules = {
      {{"chrono", "time (", "clock (", "clock_gettime", "gettimeofday", "ctime", "*_clock"},
       {"encoder/", "simulator/"},
       "",
       "a clock makes results differ between runs"},
      {{"*_distribution"},
       {"encoder/", "simulator/"},
       "",
       "std distributions differ between standard libraries; use Choice::below"},
      {{"random_device", "mt19937*", "minstd_rand*", "default_random_engine", "rand (", "srand ("},
       {"encoder/", "simulator/"},
       "",
       "all randomness comes from one seeded Choice"},
      // The model of MLX keeps the containers of what it restates.
      {{"unordered_*"},
       {"encoder/", "simulator/"},
       "encoder/sync/mlx.",
       "its iteration order differs between standard libraries"},
      {{"exp (",  "expf (",  "exp2 (", "exp2f (", "expm1 (", "log (",  "logf (",
        "log2 (", "log1p (", "tanh (", "tanhf (", "sin (",   "sinf (", "cos (",
        "cosf (", "pow (",   "powf (", "erf (",   "erff (",  "fma (",  "fmaf ("},
       {"backends/kernels/"},
       "",
       "libm differs between machines; kernels have their own"},
      {{"0xbf58476d1ce4e5b9*", "0x94d049bb133111eb*", "0xff51afd7ed558ccd*", "0xc4ceb9fe1a85ec53*",
        "0x85ebca6b*", "0xc2b2ae35*", "0xcbf29ce484222325*", "0x100000001b3*", "0x811c9dc5*",
        "0x01000193*", "0x1000193*"},
       {},
       "encoder/program/hash.h",
       "it is of a hash; encoder/program/hash.h has them"},
      // A device compiles it, and no header of a host.
      {{"0x7feb352d*", "0x846ca68b*"},
       {},
       "backends/kernels/mix.h",
       "it is of the hash of mix; backends/kernels/mix.h has it"},
      {{"assert ("}, {}, "", "it vanishes in release builds; use INTERLOCK_CHECK"},
      {{"using namespace"}, {}, "", "it hides where a name comes from"},
  };
  return kRules;
}

struct Token {
  std::string_view text;
  std::size_t line = 0;
};

// Splits code into words and single marks.
std::vector<Token> tokens_of(std::string_view code) {
  const auto is_word = [&](std::size_t i) {
    return i < code.size() &&
           (std::isalnum(static_cast<unsigned char>(code[i])) != 0 || code[i] == '_');
  };
  std::vector<Token> tokens;
  std::size_t line = 1;
  std::size_t i = 0;
  while (i < code.size()) {
    std::size_t end = i + 1;
    if (is_word(i)) {
      while (is_word(end)) ++end;
    }
    if (code[i] == '\n') ++line;
    if (std::isspace(static_cast<unsigned char>(code[i])) == 0) {
      tokens.push_back({code.substr(i, end - i), line});
    }
    i = end;
  }
  return tokens;
}

bool matches(std::string_view pattern, std::string_view word) {
  if (pattern.starts_with('*')) return word.ends_with(pattern.substr(1));
  if (pattern.ends_with('*')) return word.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == word;
}

bool starts_with_pattern(const std::vector<Token>& tokens, std::size_t first,
                         std::string_view pattern) {
  const std::size_t space = pattern.find(' ');
  if (!matches(pattern.substr(0, space), tokens[first].text)) return false;
  if (space == std::string_view::npos) return true;
  return first + 1 < tokens.size() && matches(pattern.substr(space + 1), tokens[first + 1].text);
}

bool governs(const BannedTokens& rule, std::string_view path) {
  if (!rule.exempt.empty() && path.starts_with(rule.exempt)) return false;
  if (rule.folders.empty()) return true;
  for (const std::string_view folder : rule.folders) {
    if (path.starts_with(folder)) return true;
  }
  return false;
}

std::vector<std::string> banned_call_complaints(const SourceFile& file) {
  std::vector<std::string> complaints;
  const std::string code = code_only(file.text);
  const std::vector<Token> tokens = tokens_of(code);
  for (const BannedTokens& rule : rules()) {
    if (!governs(rule, file.path)) continue;
    for (const std::string_view pattern : rule.patterns) {
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (!starts_with_pattern(tokens, i, pattern)) continue;
        complaints.push_back(complaint(file, tokens[i].line,
                                       std::string(tokens[i].text) + ": " + std::string(rule.why)));
      }
    }
  }
  return complaints;
}

// Spelled in halves, or this file would complain of itself.
const std::vector<std::string>& unfinished_marks() {
  static const std::vector<std::string> kMarks = {
      "TO"
      "DO",
      "FIX"
      "ME",
      "X"
      "XX"};
  return kMarks;
}

// Unlike the rules above this reads comments: that is where the marks are.
std::vector<std::string> unfinished_complaints(const SourceFile& file) {
  std::vector<std::string> complaints;
  for (const Token& token : tokens_of(file.text)) {
    for (const std::string& mark : unfinished_marks()) {
      if (token.text == mark) {
        complaints.push_back(complaint(file, token.line, mark + ": do it, or say what is missing"));
      }
    }
  }
  return complaints;
}

std::vector<std::string> header_complaints(const SourceFile& file) {
  if (!file.path.ends_with(".h")) return {};
  const std::string code = code_only(file.text);
  for (const std::string_view line : lines_of(code)) {
    if (line == "#pragma once") return {};
  }
  return {complaint(file, 1, "a header needs #pragma once")};
}

TEST(BannedCalls, AreNowhere) {
  for (const SourceFile& file : own_sources()) {
    EXPECT_THAT(banned_call_complaints(file), IsEmpty());
  }
}

TEST(BannedCalls, AreFoundWhereTheyArePlanted) {
  for (const BannedTokens& rule : rules()) {
    const std::string folder(rule.folders.empty() ? "fuzz/" : rule.folders.front());
    for (const std::string_view pattern : rule.patterns) {
      std::string text(pattern);
      if (const std::size_t star = text.find('*'); star != std::string::npos) text[star] = 'x';
      EXPECT_THAT(banned_call_complaints({folder + "a.cc", "\n" + text + " x;"}),
                  ElementsAre(HasSubstr(folder + "a.cc:2: ")))
          << "The pattern '" << pattern << "' is never found.";
    }
  }
}

TEST(BannedCalls, AreFoundInIncludesAndBehindQualifiers) {
  EXPECT_THAT(banned_call_complaints({"simulator/a.cc", "#include <chrono>\n"}), SizeIs(1));
  EXPECT_THAT(banned_call_complaints({"backends/kernels/a.h", "y = std::exp(x);"}), SizeIs(1));
}

TEST(BannedCalls, AreAllowedWhereNoRuleGoverns) {
  EXPECT_THAT(banned_call_complaints({"encoder/sync/mlx.h", "std::unordered_map<int, int> m;"}),
              IsEmpty());
  EXPECT_THAT(banned_call_complaints({"fuzz/campaign/campaign.cc", "#include <chrono>\n"}),
              IsEmpty());
  EXPECT_THAT(banned_call_complaints({"backends/kernels/a.h", "y = exp_f32(x);"}), IsEmpty());
}

TEST(BannedCalls, DoNotCountInCommentsStringsOrOtherWords) {
  EXPECT_THAT(banned_call_complaints({"encoder/a.cc",
                                      "// time(0)\nf(\"rand()\"); int time = 0;\n"
                                      "static_assert(true);"}),
              IsEmpty());
}

TEST(UnfinishedMarks, AreNowhere) {
  for (const SourceFile& file : own_sources()) EXPECT_THAT(unfinished_complaints(file), IsEmpty());
}

TEST(UnfinishedMarks, AreFoundInComments) {
  for (const std::string& mark : unfinished_marks()) {
    EXPECT_THAT(unfinished_complaints({"encoder/a.cc", "\n// " + mark + ": later"}),
                ElementsAre(HasSubstr("encoder/a.cc:2: " + mark)));
  }
}

TEST(Headers, HavePragmaOnce) {
  for (const SourceFile& file : own_sources()) EXPECT_THAT(header_complaints(file), IsEmpty());
}

TEST(Headers, WithoutPragmaOnceAreFound) {
  EXPECT_THAT(header_complaints({"encoder/a.h", "// #pragma once\nint x;\n"}), SizeIs(1));
  EXPECT_THAT(header_complaints({"encoder/a.h", "// A.\n#pragma once\nint x;\n"}), IsEmpty());
}

}  // namespace
}  // namespace interlock::banned_calls_test
