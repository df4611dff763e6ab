// Words and numbers that may not appear in code, and why. The basic idea is that a rule is a few
// tokens, as they stand in the source: "time (" is a call of time, "*_distribution" any word with
// that end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"
#include "tests/code/tokens.h"

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
  const std::vector<CodeToken> tokens = tokens_of(code);
  for (const BannedTokens& rule : rules()) {
    if (!governs(rule, file.path)) continue;
    for (const std::string_view pattern : rule.patterns) {
      for (const CodeToken& token : tokens_like(pattern, tokens)) {
        complaints.push_back(
            complaint(file, token.line, std::string(token.text) + ": " + std::string(rule.why)));
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
  const std::vector<CodeToken> tokens = tokens_of(file.text);
  for (const std::string& mark : unfinished_marks()) {
    for (const CodeToken& token : tokens_like(mark, tokens)) {
      complaints.push_back(complaint(file, token.line, mark + ": do it, or say what is missing"));
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
