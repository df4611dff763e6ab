// Baselines: what is known again, what is new, and files that are none.
#include "simulator/report/baseline.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "encoder/text/parser.h"
#include "simulator/report/finding_identity.h"
#include "tests/corpus_files.h"
#include "tests/program_count.h"

namespace interlock::baseline_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

struct Checked {
  Program program;
  CheckReport report;
  ExpectationOutcome outcome;

  explicit Checked(const std::string& text)
      : program(parse(text, "a.ilk", every_queue()).value()),
        report(check(program)),
        outcome(judge_expectations(program, report)) {}

  BaselineOutcome against(const IdentityCounts& known) const {
    return judge_baseline(program, report, outcome, known);
  }
  Verdict verdict(const IdentityCounts& known) const {
    return verdict_of(program, report, outcome, against(known));
  }
};

// A recorded stream: kernels are numbered, and `before` shifts all that comes after.
std::string stream(const std::string& before, int number) {
  return fmt::format(
      "interlock 1\nmemory weights 4096\nmemory pool 4096\n{}"
      "dispatch MUL_MAT.{} reads weights[0:64] writes pool[0:64]\n"
      "dispatch CPY.{} reads pool[0:64] writes weights[128:192]\n",
      before, number, number + 1);
}

TEST(Baseline, KnowsAStreamThatIsRecordedAgain) {
  const IdentityCounts known = Checked(stream("", 7)).against({}).found;
  EXPECT_THAT(known, ElementsAre(Pair("RAW: MUL_MAT writes pool, CPY reads pool", 1)));
  const std::string before =
      "dispatch SCALE.0 reads weights[512:640] writes pool[1024:1088]\nbarrier\n";
  const Checked again(stream(before, 199));
  EXPECT_EQ(again.verdict({}), Verdict::kUnexpected);
  EXPECT_EQ(again.verdict(known), Verdict::kAsExpected);
  EXPECT_EQ(again.against(known).known_count(), 1u);
  EXPECT_THAT(again.against(known).stale, IsEmpty());
}

TEST(Baseline, CountsFindingsThatHaveTheSameWords) {
  const std::string twice = stream("", 1) + "barrier\n" +
                            "dispatch MUL_MAT.3 reads weights[0:64] writes pool[0:64]\n"
                            "dispatch CPY.4 reads pool[0:64] writes weights[128:192]\n";
  const Checked checked(twice);
  const std::string identity = "RAW: MUL_MAT writes pool, CPY reads pool";
  EXPECT_EQ(checked.verdict({{identity, 1}}), Verdict::kUnexpected);
  EXPECT_THAT(checked.against({{identity, 1}}).is_known, ElementsAre(true, false));
  EXPECT_EQ(checked.verdict({{identity, 2}}), Verdict::kAsExpected);
  EXPECT_THAT(checked.against({{identity, 5}, {"WAW: gone", 1}}).stale,
              ElementsAre(Pair(identity, 3), Pair("WAW: gone", 1)));
}

// What lines expect is told by them; what they do not is looked up.
TEST(Baseline, LeavesExpectLinesAlone) {
  const Checked expected(stream("", 1) + "expect RAW 0 1\n");
  EXPECT_THAT(expected.against({}).found, IsEmpty());
  EXPECT_EQ(expected.verdict({}), Verdict::kAsExpected);
  const std::string text =
      "interlock 1\nmemory a 64\nr: dispatch R reads a\nw: dispatch W writes a\n";
  const IdentityCounts known = {{"WAR: r reads a, w writes a", 1}};
  EXPECT_EQ(Checked(text).verdict(known), Verdict::kAsExpected);
  EXPECT_EQ(Checked(text + "expect clean\n").verdict(known), Verdict::kUnexpected);
  EXPECT_EQ(Checked(text + "expect encoder=none clean\n").verdict(known), Verdict::kUnexpected);
  EXPECT_EQ(Checked(text + "expect encoder=serial clean\n").verdict(known), Verdict::kAsExpected);
}

// Each program of the corpus, of all kinds of finding: everything of it is known by what it found.
TEST(Baseline, KnowsEveryFindingByItsOwnWords) {
  std::set<FindingKind> kinds;
  for (const auto& path : corpus_files({"bugs"})) {
    Program program = parse_file(path.string(), every_queue()).value();
    program.expectations.clear();
    const CheckReport report = check(program);
    const BaselineOutcome outcome = judge_baseline(program, report, {}, {});
    uint64_t count = 0;
    for (const auto& [identity, of_it] : outcome.found) count += of_it;
    EXPECT_EQ(count, report.findings.size()) << path;
    EXPECT_FALSE(judge_baseline(program, report, {}, outcome.found).has_new()) << path;
    for (const Finding& finding : report.findings) kinds.insert(finding.kind);
  }
  EXPECT_GE(kinds.size(), 6u);
}

TEST(Baseline, ReadsWhatItWrites) {
  Baseline baseline;
  baseline.files["a b/\"c\".ilk"] = {{"RAW: x", 3}, {"WAR: y", 1}};
  baseline.files["empty.ilk"] = {};
  const Baseline again = baseline_of(text_of(baseline), "f").value();
  EXPECT_EQ(again.files.size(), 1u);
  EXPECT_EQ(text_of(again), text_of(baseline));
  BarrierBudget budget;
  budget.files["x.ilk"] = 12;
  EXPECT_EQ(barrier_budget_of(text_of(budget), "f").value().files, budget.files);
  EXPECT_FALSE(barrier_budget_of(text_of(baseline), "f"));
  EXPECT_FALSE(baseline_of(text_of(budget), "f"));
}

// The names of files are any bytes; JSON is UTF-8.
TEST(Baseline, KeepsNamesThatAreNoUtf8) {
  BarrierBudget budget;
  const std::string names[] = {"a\xff.ilk", "a\\xff.ilk", "a\\\xff.ilk",  "\\x5cxff",
                               "\\",        "\\x",        "\xc3\xa9.ilk", "\xed\xa0\x80"};
  for (const std::string& name : names) budget.files[name] = 1;
  const std::string text = text_of(budget);
  EXPECT_EQ(barrier_budget_of(text, "f").value().files, budget.files) << text;
  EXPECT_THAT(text, HasSubstr("\"\xc3\xa9.ilk\": 1"));
  Baseline baseline;
  for (const std::string& name : names) baseline.files[name] = {{"RAW: x", 2}};
  EXPECT_EQ(baseline_of(text_of(baseline), "f").value().files, baseline.files);
}

// Hours for a million, if each key were looked for among those before it; minutes for a fifth.
TEST(Baseline, HasAMillionFindings) {
  Baseline baseline;
  IdentityCounts& counts = baseline.files["many.ilk"];
  for (int i = 0; i < share_count(1'000'000, 5); ++i) counts["RAW: " + std::to_string(i)] = 1;
  EXPECT_EQ(baseline_of(text_of(baseline), "f").value().files, baseline.files);
}

TEST(Baseline, RefusesWhatIsNone) {
  const auto message = [](const std::string& text) {
    const auto read = baseline_of(text, "b.json");
    return read ? std::string() : read.error().message;
  };
  EXPECT_THAT(message(""), HasSubstr("b.json:1:1: error: this is no JSON."));
  EXPECT_THAT(message("{\n  \"a\": }"), HasSubstr("b.json:2:8: error: this is no JSON."));
  EXPECT_THAT(message("[]"), HasSubstr("it has no number 'interlock_baseline'"));
  EXPECT_THAT(message(R"({"interlock_baseline": 2, "files": {}})"),
              HasSubstr("it has version 2, and this program reads 1."));
  EXPECT_THAT(message(R"({"interlock_baseline": 1})"), HasSubstr("it has no object 'files'."));
  EXPECT_THAT(message(R"({"interlock_baseline": 1, "files": {"a": {"b": -1}}})"),
              HasSubstr("'b' has no whole number."));
  EXPECT_THAT(message(R"({"interlock_baseline": 1, "files": {"a": 3}})"),
              HasSubstr("'a' has no whole number."));
  EXPECT_EQ(message(R"({"interlock_baseline": 1, "files": {}})"), "");
}

// Any damage of one byte is read, or an error.
TEST(Baseline, SurvivesDamage) {
  Baseline baseline;
  baseline.files["a.ilk"] = {{"RAW: x", 3}};
  const std::string text = text_of(baseline);
  uint64_t error_count = 0;
  const size_t step = is_slow_build() ? 5 : 1;
  for (size_t at = 0; at < text.size(); at += step) {
    for (const char byte : {'\0', '"', '{', ']', '9', '\xff', '-', 'e'}) {
      std::string damaged = text;
      damaged[at] = byte;
      error_count += !baseline_of(damaged, "f");
    }
    error_count += !baseline_of(text.substr(0, at), "f");
  }
  EXPECT_GT(error_count, 200u / step);
  EXPECT_FALSE(baseline_of(std::string(is_slow_build() ? 1u << 16 : 1u << 20, '['), "f"));
}

}  // namespace
}  // namespace interlock::baseline_test
