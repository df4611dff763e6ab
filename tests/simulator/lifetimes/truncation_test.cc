// Every limit that ends a check: what is found after it does not pass for clean, and the report
// names the limit that it was.
#include "simulator/lifetimes/truncation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "simulator/report/report.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/program_text.h"

namespace interlock::truncation_test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Verdict verdict_on(const Program& program, const CheckReport& report) {
  return verdict_of(program, report, judge_expectations(program, report));
}

// Nested dependencies cut the memory into many runs of different reach; after all that a read
// follows its write without a barrier.
std::string nested_dependencies() {
  std::string text =
      "memory m 4096\nmemory q 16\nmemory z 4\n"
      "alias: dispatch Alias reads q[0:8] writes q[4:12]\nfill: dispatch Fill writes m\n";
  for (int round = 0; round < 12; ++round) {
    text += "barrier ";
    for (int i = 0; i < 40; ++i) {
      text += fmt::format("{}compute.write -> compute.read m[{}:{}]", i == 0 ? "" : ", ",
                          i + 40 * round, 4096 - i);
    }
    text += "\n";
  }
  return text +
         "dispatch Read reads m[2000:2010]\nx: dispatch X writes z\ny: dispatch Y reads z\n"
         "expect alias alias\n";
}

TEST(Truncation, OfTheSearchBesideScopedBarriersHidesNoHazard) {
  const Program program = program_of(nested_dependencies());
  const CheckReport report = check(program, {.scoped_step_limit = 1'000});
  EXPECT_THAT(report.truncations, ElementsAre(Truncation{TruncationCause::kScopedSearch, 1'000}));
  EXPECT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(verdict_on(program, report), Verdict::kNone);
  EXPECT_THAT(
      summary_of(report),
      EndsWith(
          "1 finding so far, and no verdict on the rest: the search for hazards beside scoped barriers takes more than 1000 steps, the limit; let dependencies name fewer ranges, or check the program in parts."));
  const CheckReport whole = check(program);
  EXPECT_THAT(whole.truncations, IsEmpty());
  EXPECT_THAT(whole.findings, SizeIs(2));
  EXPECT_EQ(verdict_on(program, whole), Verdict::kUnexpected);
}

TEST(Truncation, OfTheListOfHazardsIsNamed) {
  const Program program =
      program_on_abc("dispatch A writes a\ndispatch B writes a\ndispatch C writes a\n");
  const CheckReport report = check(program, {.pair_limit = 1});
  EXPECT_THAT(report.truncations, ElementsAre(Truncation{TruncationCause::kHazards, 1}));
  EXPECT_THAT(summary_of(report), HasSubstr("more hazards than 1, the limit; repair some"));
}

TEST(Truncation, OfTheListOfAliasesIsNamed) {
  const Program program = program_of(
      "memory q 16\none: dispatch Alias reads q[0:8] writes q[4:12]\nbarrier\n"
      "dispatch Alias reads q[0:8] writes q[4:12]\nexpect alias one\n");
  const CheckReport report = check(program, {.pair_limit = 1});
  EXPECT_THAT(report.truncations, ElementsAre(Truncation{TruncationCause::kAliases, 1}));
  EXPECT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(verdict_on(program, report), Verdict::kNone);
  EXPECT_THAT(summary_of(report), HasSubstr("against an alias contract than 1, the limit"));
  EXPECT_THAT(check(program, {.pair_limit = 2}).truncations, IsEmpty());
}

TEST(Truncation, OfLifetimesIsNamedApartFromThatOfHazards) {
  const Program program =
      program_of("tensor x u8[4]\ndispatch K reads x\ndispatch K reads x\ndispatch K reads x\n");
  const CheckReport report = check(program, {.pair_limit = 2});
  EXPECT_THAT(report.truncations, ElementsAre(Truncation{TruncationCause::kLifetimeFindings, 2}));
}

TEST(Truncation, ByTooManyHoldersSaysSo) {
  if (is_slow_build()) GTEST_SKIP() << "Checks up to a limit take seconds there.";
  std::string text = "memory m 16\ntensor x f32[4] at m+0\n";
  for (int i = 0; i < 1500; ++i) text += fmt::format("tensor a{} f32[4]\n", i);
  text += "w: dispatch W writes x\n";
  for (int i = 0; i < 1500; ++i) text += fmt::format("adopt a{} = x\n", i);
  const CheckReport report = check(program_of(text));
  EXPECT_THAT(
      summary_of(report),
      HasSubstr(
          "no findings so far, and no verdict: the tensors that hold values by adoption make lists of more than 1000000 entries, the limit; free those"));
}

TEST(Truncation, NamesEveryLimitThatWasReached) {
  EXPECT_THAT(
      text_of(std::vector<Truncation>{{TruncationCause::kAllPairs, 5},
                                      {TruncationCause::kGradients, 6}}),
      "listing every hazardous pair takes more than 5 looks at operands, the limit; check without --all; and judging the gradients takes more than 6 visits of dispatches, the limit; check fewer backward passes at a time");
  EXPECT_THAT(
      text_of(Truncation{TruncationCause::kLifetimeRuns, 7}),
      "following which value each byte holds takes more than 7 visits of runs of bytes, the limit; check the program in parts");
}

}  // namespace
}  // namespace interlock::truncation_test
