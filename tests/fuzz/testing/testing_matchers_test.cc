// Every matcher matches and refuses, says what it claims, and explains a refusal with the report
// that `interlock check` prints. What cannot be judged fails the test, negated or not.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "encoder/program/words.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/text/files.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/matchers.h"
#include "simulator/report/check.h"
#include "simulator/report/report.h"
#include "tests/program_count.h"

namespace interlock::testing_matchers_test {
namespace {

using testing::AllOf;
using testing::DescribeMatcher;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Le;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::string_view kMissing = R"(
memory a 64
memory b 64
reduce: dispatch Reduce reads a writes b
vjp: dispatch Vjp writes a
)";

constexpr std::string_view kRepaired = R"(
memory a 64
memory b 64
reduce: dispatch Reduce reads a writes b
barrier
vjp: dispatch Vjp writes a
)";

constexpr std::string_view kOverdone = R"(
memory a 64
memory b 64
reduce: dispatch Reduce reads a writes b
fence: barrier
barrier
vjp: dispatch Vjp writes a
)";

// One barrier, as many as needed, where it orders nothing.
constexpr std::string_view kMisplaced = R"(
memory a 64
memory b 64
barrier
reduce: dispatch Reduce reads a writes b
vjp: dispatch Vjp writes a
)";

using ProgramClaim = testing::Matcher<const Program&>;

std::string claim_of(const ProgramClaim& matcher) {
  return DescribeMatcher<const Program&>(matcher);
}
std::string denial_of(const ProgramClaim& matcher) {
  return DescribeMatcher<const Program&>(matcher, true);
}
std::string explanation_of(const ProgramClaim& matcher, std::string_view text) {
  testing::StringMatchResultListener listener;
  matcher.MatchAndExplain(program_of(text), &listener);
  return listener.str();
}

std::string report_of(std::string_view text) {
  const Program program = program_of(text);
  return text_report(program, check(program), "-");
}

TEST(IsHazardFree, RefusesAHazardAndMatchesItsRepair) {
  EXPECT_THAT(program_of(kRepaired), IsHazardFree());
  EXPECT_THAT(program_of(kMissing), Not(IsHazardFree()));
  EXPECT_THAT(program_of(kMisplaced), Not(IsHazardFree()));
}

TEST(IsHazardFree, RefusesReorderedReadsAndAliases) {
  EXPECT_THAT(
      "memory a 64\ndispatch Late order=2 reads a\nbarrier\ndispatch Early order=1 writes a\n",
      Not(IsHazardFree()));
  EXPECT_THAT("memory a 64\ndispatch Shift reads a[0:32] writes a[16:48]\n", Not(IsHazardFree()));
}

TEST(IsHazardFree, ExplainsWithTheReport) {
  EXPECT_EQ(claim_of(IsHazardFree()), "is hazard free");
  EXPECT_EQ(denial_of(IsHazardFree()), "has a finding");
  EXPECT_EQ(explanation_of(IsHazardFree(), kMissing),
            "which has 1 finding:\n" + report_of(kMissing));
  EXPECT_THAT(
      report_of(kMissing),
      StartsWith("WAR hazard: vjp (dispatch 1) writes a[0:64], which reduce (dispatch 0) reads."));
  EXPECT_EQ(explanation_of(IsHazardFree(), kRepaired), "which has no findings");
}

TEST(HasHazard, TellsKindsAndDispatchesApart) {
  EXPECT_THAT(kMissing, HasHazard("WAR", "reduce", "vjp"));
  EXPECT_THAT(kMissing, HasHazard("WAR", 0, "vjp"));
  EXPECT_THAT(kMissing, HasHazard(FindingKind::kWriteAfterRead, 0, 1));
  EXPECT_THAT(kMissing, Not(HasHazard("RAW", "reduce", "vjp")));
  EXPECT_THAT(kMissing, Not(HasHazard("WAR", "vjp", "reduce")));
  EXPECT_THAT(kRepaired, Not(HasHazard("WAR", "reduce", "vjp")));
}

// The write in the middle hides the first one from the list of `check`, not from HasHazard().
TEST(HasHazard, SeesPairsThatTheReportHides) {
  constexpr std::string_view kThreeWrites = R"(
memory a 64
dispatch Write writes a
dispatch Write writes a
dispatch Write writes a
)";
  EXPECT_THAT(check(program_of(kThreeWrites)).findings, SizeIs(2));
  EXPECT_THAT(kThreeWrites, HasHazard("WAW", 0, 1));
  EXPECT_THAT(kThreeWrites, HasHazard("WAW", 0, 2));
  EXPECT_THAT(kThreeWrites, HasHazard("WAW", 1, 2));
}

TEST(HasHazard, NamesKindsThatConcernOneDispatchTwice) {
  EXPECT_THAT("memory a 64\ndispatch Shift reads a[0:32] writes a[16:48]\n",
              HasHazard("alias", 0, 0));
}

// A kind, and a program that has it between two dispatches.
struct KindCase {
  FindingKind kind;
  std::string text;
  std::string first;
  std::string second;
};

const std::vector<KindCase>& found_kinds() {
  static const std::vector<KindCase> cases = {
      {FindingKind::kReadAfterWrite, "memory a 64\ndispatch W writes a\ndispatch R reads a\n", "0",
       "1"},
      {FindingKind::kWriteAfterRead, "memory a 64\ndispatch R reads a\ndispatch W writes a\n", "0",
       "1"},
      {FindingKind::kWriteAfterWrite, "memory a 64\ndispatch V writes a\ndispatch W writes a\n",
       "0", "1"},
      {FindingKind::kReordered,
       "memory a 64\ndispatch Late order=2 reads a\nbarrier\ndispatch Early order=1 writes a\n",
       "0", "1"},
      {FindingKind::kClobber,
       "memory a 64\ntensor x f32[4] at a+0\ntensor y f32[4] at a+0\ndispatch W writes x\nbarrier\n"
       "dispatch V writes y\nbarrier\ndispatch R reads x\n",
       "1", "2"},
      {FindingKind::kUninitialized, "tensor x f32[4]\ndispatch R reads x\n", "0", "0"},
      {FindingKind::kUseAfterFree,
       "memory a 64\ntensor x f32[4] at a+0\ndispatch W writes x\nbarrier\nfree x\n"
       "dispatch R reads x\n",
       "1", "1"},
      {FindingKind::kAlias, "memory a 64\ndispatch Shift reads a[0:32] writes a[16:48]\n", "0",
       "0"},
      {FindingKind::kUndeclared,
       "memory a 64\nmemory b 64\ndispatch Scan writes a actual reads b\n", "0", "0"},
      {FindingKind::kGradient,
       print(program_in(INTERLOCK_SOURCE_DIR "/corpus/bugs/pytorch-180952.ilk")), "mm1.sum1",
       "mm1.sum1"}};
  return cases;
}

// Those that HasHazard() is not for, and what is.
const std::vector<std::pair<FindingKind, std::string>>& refused_kinds() {
  static const std::vector<std::pair<FindingKind, std::string>> refused = {
      {FindingKind::kDeadlock, "HasDeadlock() names them."},
      {FindingKind::kRedundant, "Not(HasNoUselessSync()) claims that there is some."},
      {FindingKind::kDivergence, "`interlock run` and `replay` show it."}};
  return refused;
}

TEST(HasHazard, FindsEachKindByItsWordOrSaysWhatIsForIt) {
  for (const KindCase& each : found_kinds()) {
    const std::string_view word = word_of(each.kind);
    EXPECT_THAT(each.text, HasHazard(word, each.first, each.second)) << word;
    EXPECT_THAT(kRepaired, Not(HasHazard(word, 0, 1))) << word;
  }
  for (const auto& refused : refused_kinds()) {
    const std::string_view word = word_of(refused.first);
    // Which fails in any case, so that its denial is what could pass for nothing.
    EXPECT_NONFATAL_FAILURE(EXPECT_THAT(kMissing, Not(HasHazard(word, 0, 1))), refused.second);
  }
  // There is no other: the next word would be one more.
  EXPECT_EQ(found_kinds().size() + refused_kinds().size(), std::size(kFindingWords));
}

// Whoever reads the header learns of each word; docs/json.md has those of findings.
TEST(HasHazard, NamesEachWordWhereItIsDocumented) {
  const std::string header = read_file(INTERLOCK_SOURCE_DIR "/fuzz/testing/matchers.h").value();
  const std::string document = read_file(INTERLOCK_SOURCE_DIR "/docs/testing.md").value();
  for (const std::string_view word : kFindingWords) {
    EXPECT_THAT(header, HasSubstr("\"" + std::string(word) + "\""));
    EXPECT_THAT(document, HasSubstr("`" + std::string(word) + "`"));
  }
}

TEST(HasHazard, ExplainsWithTheReport) {
  const ProgramClaim matcher = HasHazard("WAR", "reduce", 1);
  EXPECT_EQ(claim_of(matcher), "has the WAR hazard between reduce and 1");
  EXPECT_EQ(denial_of(matcher), "does not have the WAR hazard between reduce and 1");
  EXPECT_EQ(claim_of(HasHazard("alias", 0, 0)), "has the alias between 0 and 0");
  EXPECT_EQ(explanation_of(matcher, kRepaired), "which has no findings");
  EXPECT_THAT(explanation_of(HasHazard("RAW", 0, 1), kMissing),
              AllOf(StartsWith("which has other findings:\nWAR hazard: vjp"),
                    HasSubstr("1 hazardous pair: RAW 0, WAR 1, WAW 0.")));
  EXPECT_THAT(explanation_of(matcher, kMissing), StartsWith("in which there is a WAR hazard: vjp"));
}

TEST(HasHazard, FailsForWhatIsNotThere) {
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(kMissing, Not(HasHazard("WAR", "redcue", "vjp"))),
                          "The program has no dispatch 'redcue'.");
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(kMissing, Not(HasHazard("WAR", 0, 2))),
                          "The program has no dispatch '2'.");
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(kMissing, Not(HasHazard("war", 0, 1))),
                          "No finding is of kind 'war'.");
}

TEST(HasBarrierCount, TakesANumberOrAMatcher) {
  EXPECT_THAT(kMissing, HasBarrierCount(0));
  EXPECT_THAT(kOverdone, HasBarrierCount(2));
  EXPECT_THAT(kOverdone, Not(HasBarrierCount(1)));
  EXPECT_THAT(kRepaired, HasBarrierCount(Le(1u)));
  EXPECT_THAT(kOverdone, Not(HasBarrierCount(Le(1u))));
  EXPECT_EQ(claim_of(HasBarrierCount(2)), "has a number of barriers that is equal to 2");
  EXPECT_EQ(denial_of(HasBarrierCount(2)), "has a number of barriers that isn't equal to 2");
  EXPECT_EQ(explanation_of(HasBarrierCount(2), kRepaired), "which has 1");
}

TEST(HasFewestBarriers, RefusesMoreAndLess) {
  EXPECT_THAT(kRepaired, HasFewestBarriers());
  EXPECT_THAT(kOverdone, Not(HasFewestBarriers()));
  EXPECT_THAT(kMissing, Not(HasFewestBarriers()));
  EXPECT_THAT(kMisplaced, AllOf(HasFewestBarriers(), Not(IsHazardFree())));
}

TEST(HasFewestBarriers, CountsNoneAfterTheLastDispatch) {
  const std::string frame = std::string(kRepaired) + "\nbarrier\n";
  EXPECT_THAT(frame, AllOf(HasFewestBarriers(), HasNoUselessSync(), HasBarrierCount(2)));
  EXPECT_THAT(std::string(kOverdone) + "\nbarrier\n",
              AllOf(Not(HasFewestBarriers()), Not(HasNoUselessSync())));
}

TEST(HasFewestBarriers, ExplainsWithTheReport) {
  EXPECT_EQ(claim_of(HasFewestBarriers()), "has the fewest barriers");
  EXPECT_EQ(denial_of(HasFewestBarriers()), "does not have the fewest barriers");
  EXPECT_EQ(explanation_of(HasFewestBarriers(), kOverdone),
            "which has 2 barriers, where its conflicts need 1:\n" + report_of(kOverdone));
  EXPECT_THAT(report_of(kOverdone), HasSubstr("fewest for this order 1"));
  EXPECT_EQ(explanation_of(HasFewestBarriers(), kRepaired), "which has 1 barrier, the fewest");
}

// Nobody can tell, so neither a claim nor its denial passes.
TEST(ProgramMatchers, FailWhereACheckHasNoVerdict) {
  if (is_slow_build()) GTEST_SKIP() << "Checks up to a limit take seconds there.";
  static std::string text = "memory m 16\ntensor x f32[4] at m+0\n";
  for (int i = 0; i < 1500; ++i) text += "tensor a" + std::to_string(i) + " f32[4]\n";
  text += "dispatch W writes x\n";
  for (int i = 0; i < 1500; ++i) text += "adopt a" + std::to_string(i) + " = x\n";
  text += "dispatch V writes x\n";
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(text, Not(HasHazard("RAW", 0, 1))),
                          "There is no verdict on the program: the tensors that hold values");
  EXPECT_THAT(text, HasHazard("WAW", 0, 1));
  static const std::string clean = text.substr(0, text.rfind("dispatch V"));
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(clean, Not(IsHazardFree())), "There is no verdict");
}

TEST(HasNoUselessSync, RefusesABarrierThatCanGo) {
  EXPECT_THAT(kRepaired, HasNoUselessSync());
  EXPECT_THAT(kMissing, HasNoUselessSync());
  EXPECT_THAT(kOverdone, Not(HasNoUselessSync()));
  EXPECT_THAT(kMisplaced, Not(HasNoUselessSync()));
}

TEST(HasNoUselessSync, ExplainsWithTheReport) {
  EXPECT_EQ(claim_of(HasNoUselessSync()), "has no useless sync");
  EXPECT_EQ(denial_of(HasNoUselessSync()), "has useless sync");
  EXPECT_EQ(explanation_of(HasNoUselessSync(), kOverdone),
            "which has 2 barriers that can go:\n" + report_of(kOverdone));
  EXPECT_THAT(report_of(kOverdone), HasSubstr("fence"));
  EXPECT_EQ(explanation_of(HasNoUselessSync(), kRepaired), "of which no barrier can go");
}

TEST(EncodedBy, MatchesWhatTheEncoderMakes) {
  EXPECT_THAT(kLayerNormVjp, EncodedBy("mlx-2024", HasHazard("WAR", "reduce", "vjp")));
  EXPECT_THAT(kLayerNormVjp, EncodedBy("mlx-2026", AllOf(IsHazardFree(), HasFewestBarriers())));
  EXPECT_THAT(kOverdone, EncodedBy("none", HasBarrierCount(0)));
}

TEST(EncodedBy, ExplainsAsTheInnerMatcher) {
  const ProgramClaim matcher = EncodedBy("none", IsHazardFree());
  EXPECT_EQ(claim_of(matcher), "encoded by none is hazard free");
  EXPECT_EQ(denial_of(matcher), "encoded by none has a finding");
  EXPECT_EQ(explanation_of(matcher, kRepaired),
            "encoded which has 1 finding:\n" + report_of(kMissing));
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(kMissing, Not(EncodedBy("mlx-2025", IsHazardFree()))),
                          "There is no encoder 'mlx-2025'. Did you mean 'mlx-2024'?");
}

TEST(ProgramMatchers, TakeTextInAnyForm) {
  EXPECT_THAT("memory a 64\n", IsHazardFree());
  EXPECT_THAT(std::string("interlock 1\nmemory a 64\n"), IsHazardFree());
  EXPECT_THAT("# A comment.\n\n  interlock 1\nmemory a 64\n", IsHazardFree());
  EXPECT_THAT("", IsHazardFree());
}

TEST(ProgramMatchers, FailOnTextThatDoesNotParse) {
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT("memory a 64\nbarier", Not(IsHazardFree())),
                          "<test>:3:1: error: found 'barier'");
}

TEST(ProgramMatchers, PrintTheProgramThatTheyRefuse) {
  EXPECT_EQ(testing::PrintToString(program_of(kMissing)),
            "the program\ninterlock 1" + std::string(kMissing));
  std::string long_text;
  for (int i = 0; i < 100; ++i) long_text += "barrier\n";
  EXPECT_THAT(testing::PrintToString(program_of(long_text)), EndsWith("… and 41 more lines\n"));
}

}  // namespace
}  // namespace interlock::testing_matchers_test
