// What the gradient check says of readers that contribute the same to a gradient.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/backward/backward.h"
#include "encoder/text/parser.h"
#include "simulator/gradients/gradient_check.h"
#include "simulator/report/explain.h"
#include "tests/simulator/programs/differentiable_programs.h"

namespace interlock::gradient_readers_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// The backward pass of y by w, without its last so many dispatches, and what the check finds of it.
struct PassCheck {
  PassCheck(const Program& forward, const std::string& mode, size_t left_out_count) {
    const BackwardDraft request{"y", {"w"}, mode};
    auto items = backward_items(forward, request).value();
    items.resize(items.size() - left_out_count);
    ProgramDraft draft = draft_of(forward);
    draft.items.insert(draft.items.end(), items.begin(), items.end());
    program = build(draft).value();
    findings = check_gradients(program, {pass_of(forward, program, request)}).findings;
  }

  Program program;
  std::vector<GradientFinding> findings;
};

// Nothing tells their terms apart, so both are named, whichever is left out.
TEST(GradientReaders, CountsReadersOfEqualContributionsTogether) {
  const Program forward = parse(R"(interlock 1
tensor w f32[2,2] = random(1)
tensor a f32[2,2]
tensor b f32[2,2]
tensor y f32[2,2]
one: dispatch silu reads w writes a
two: dispatch silu reads w writes b
sum: dispatch add reads a b writes y
)")
                              .value();
  const PassCheck right(forward, "one-shot", 0);
  EXPECT_THAT(right.findings, IsEmpty());
  const auto findings = PassCheck(forward, "one-shot", 1).findings;
  ASSERT_EQ(findings.size(), 1u);
  ASSERT_EQ(findings[0].counts.size(), 1u);
  EXPECT_THAT(findings[0].counts[0].dispatches, ElementsAre(DispatchId(0), DispatchId(1)));
  EXPECT_EQ(findings[0].counts[0].expected, 2u);
  EXPECT_EQ(findings[0].counts[0].actual, 1u);
}

// Parts that are equal are still parts of two readers.
TEST(GradientReaders, SaysOfWhichReadersASumAddsThePartsOnceMore) {
  const Program forward = program_on_squares({"a", "b", "c", "d", "e", "y"}, R"(
m1: dispatch matmul_nn reads x w writes a
one: dispatch matmul_nn reads a w writes b
two: dispatch matmul_nn reads a w writes c
both: dispatch add reads b c writes d
twice: dispatch add reads a a writes e
m3: dispatch matmul_nn reads d e writes y
)");
  const PassCheck split(forward, "split-pytorch-180952", 0);
  ASSERT_EQ(split.findings.size(), 1u);
  const Finding finding = explain_gradient(split.program, split.findings[0]);
  EXPECT_THAT(
      finding.details,
      Contains(
          "m1.sum0 (dispatch 19) adds to the whole cotangent of a what one (dispatch 1) and two (dispatch 2) contribute to it, which is in it already."));
}

}  // namespace
}  // namespace interlock::gradient_readers_test
