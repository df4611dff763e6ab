// What a campaign says of wrong gradients: of those alone, each by the kernel that counts wrongly,
// and in lines that a check agrees with.
#include "fuzz/judge/evidence.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/signature.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"

namespace interlock::gradient_evidence_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Program parsed(const std::string& text) {
  auto program = parse("interlock 1\n" + text);
  EXPECT_TRUE(program) << program.error().message;
  return std::move(program).value();
}

// Two weights, each of them read twice on one path: the broken split counts the first of the two
// readers twice.
constexpr const char* kForward =
    "tensor x f32[2,2] = random(1)\ntensor w f32[2,2] = random(2)\n"
    "tensor v f32[2,2] = random(3)\ntensor a f32[2,2]\ntensor b f32[2,2]\n"
    "tensor c f32[2,2]\ntensor y f32[2,2]\n"
    "one: dispatch mul reads x w writes a\ntwo: dispatch matmul_nn reads a w writes b\n"
    "three: dispatch matmul_nt reads b v writes c\nfour: dispatch mul reads c v writes y\n";

Program with_pass(const std::string& wrt, const std::string& mode) {
  return parsed(fmt::format("{}backward y wrt {} mode={}\n", kForward, wrt, mode));
}

std::vector<std::string> signatures_of(const Program& program) {
  std::vector<std::string> signatures;
  for (const GradientFinding& finding : find_wrong_gradients(program)) {
    signatures.push_back(signature_of(program, finding));
  }
  return signatures;
}

TEST(FindWrongGradients, FindsThemInBrokenPassesAlone) {
  EXPECT_THAT(find_wrong_gradients(parsed(kForward)), IsEmpty());
  for (const char* mode : {"one-shot", "one-shot-stream", "split"}) {
    EXPECT_THAT(find_wrong_gradients(with_pass("w v", mode)), IsEmpty()) << mode;
  }
  EXPECT_EQ(find_wrong_gradients(with_pass("w v", "split-pytorch-180952")).size(), 2u);
}

// The pass of a program is its own: a wrong one after a right one, and the other way round.
TEST(FindWrongGradients, JudgesEachPassOfAProgram) {
  for (const char* modes : {"one-shot split-pytorch-180952", "split-pytorch-180952 one-shot"}) {
    const std::string both(modes);
    const size_t space = both.find(' ');
    const Program program =
        parsed(fmt::format("{}backward y wrt w mode={}\nbackward y wrt v mode={}\n", kForward,
                           both.substr(0, space), both.substr(space + 1)));
    std::vector<std::string> names;
    for (const GradientFinding& finding : find_wrong_gradients(program)) {
      names.emplace_back(program.name(program.tensor(finding.tensor).name));
    }
    EXPECT_THAT(names, ElementsAre(both.starts_with("one-shot") ? "v" : "w"));
  }
}

TEST(SignatureOfGradient, NamesTheKernelOfTheFirstReaderThatCountsWrongly) {
  const Program program = with_pass("w v", "split-pytorch-180952");
  EXPECT_THAT(signatures_of(program), ElementsAre("gradient-mul", "gradient-matmul_nt"));
  GradientFinding finding;  // What was written is no contribution at all.
  finding.foreign = {DispatchId{0}};
  EXPECT_EQ(signature_of(program, finding), "gradient");
  finding.counts.emplace_back();
  EXPECT_EQ(signature_of(program, finding), "gradient");
  finding.counts[0].dispatches = {DispatchId{2}, DispatchId{0}};
  finding.counts.push_back({{DispatchId{3}}, 1, 2, {}});
  EXPECT_EQ(signature_of(program, finding), "gradient-matmul_nt");
}

TEST(SignatureOfGradient, IsToldFromAllOthers) {
  EXPECT_TRUE(is_of_gradient("gradient"));
  EXPECT_TRUE(is_of_gradient("gradient-mul"));
  for (const char* other : {"", "RAW-donation", "clobber-replay", "reordered", "alias-gradient"}) {
    EXPECT_FALSE(is_of_gradient(other)) << other;
  }
}

std::vector<std::string> gradients_expected_by(const Program& program) {
  std::vector<std::string> names;
  for (const ItemDraft& item : draft_of(program).items) {
    const auto* expect = std::get_if<ExpectDraft>(&item);
    if (expect != nullptr && expect->kind == FindingKind::kGradient) names.push_back(expect->first);
  }
  return names;
}

void expect_as_expected(const Program& program) {
  const CheckReport report = check(program);
  EXPECT_TRUE(is_as_expected(program, report, judge_expectations(program, report)))
      << print(program);
}

// The lines that were there speak of another program: nothing of them is left.
TEST(GradientExpectations, AreOneForEachFindingAndReplaceThoseThatWereThere) {
  const Program stale =
      parsed(fmt::format("{}backward y wrt w v mode=split-pytorch-180952\n"
                         "witness two before one\nexpect clean\nexpect WAW one four\n",
                         kForward));
  const Program program = with_gradient_expectations(stale);
  EXPECT_THAT(gradients_expected_by(program), ElementsAre("w", "v"));
  EXPECT_THAT(program.witness, IsEmpty());
  expect_as_expected(program);
  EXPECT_THAT(find_wrong_gradients(program),
              ElementsAre(find_wrong_gradients(stale)[0], find_wrong_gradients(stale)[1]));
}

TEST(GradientExpectations, AreThoseOfTheHazardsWhereNoGradientIsWrong) {
  const Program program = with_gradient_expectations(with_pass("w", "split"));
  EXPECT_THAT(gradients_expected_by(program), IsEmpty());
  EXPECT_FALSE(program.expectations.empty());
  expect_as_expected(program);
}

}  // namespace
}  // namespace interlock::gradient_evidence_test
