// The exact gradient check, on passes that are right and on ones with planted mistakes.
#include "simulator/gradients/gradient_check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/backward/backward.h"
#include "encoder/text/parser.h"
#include "simulator/report/explain.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/differentiable_programs.h"

namespace interlock::gradient_check_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// x w w, as PyTorch #180952 has it.
constexpr std::string_view kSharedWeight = R"(interlock 1
tensor x f32[1,2] = values(1.1,-0.7)
tensor w f32[2,2] = values(0.4,-0.2,0.7,0.3)
tensor h f32[1,2]
tensor y f32[1,2]
mm1: dispatch matmul_nn reads x w writes h
mm2: dispatch matmul_nn reads h w writes y
)";

Program program_of(std::string_view text) {
  const auto program = parse(text);
  EXPECT_TRUE(program) << program.error().message;
  return *program;
}

using Edit = std::function<void(std::vector<ItemDraft>&)>;

// What the check finds of a pass, after an edit of what it appends.
std::vector<GradientFinding> findings_of(const Program& forward, const BackwardDraft& request,
                                         const Edit& edit, Program* result = nullptr) {
  auto items = backward_items(forward, request);
  EXPECT_TRUE(items) << items.error().message;
  edit(*items);
  ProgramDraft draft = draft_of(forward);
  draft.items.insert(draft.items.end(), items->begin(), items->end());
  const auto program = build(draft);
  EXPECT_TRUE(program) << program.error().message;
  if (result != nullptr) *result = *program;
  return check_gradients(*program, {pass_of(forward, *program, request)}).findings;
}

std::vector<GradientFinding> findings_of(const Program& forward, const BackwardDraft& request) {
  return findings_of(forward, request, [](std::vector<ItemDraft>&) {});
}

DispatchDraft* dispatch_of(std::vector<ItemDraft>& items, std::string_view label) {
  for (ItemDraft& item : items) {
    auto* dispatch = std::get_if<DispatchDraft>(&item);
    if (dispatch != nullptr && dispatch->label == label) return dispatch;
  }
  ADD_FAILURE() << "no " << label;
  return nullptr;
}

TEST(GradientCheck, FindsNothingInOneShotAndSplitOfASharedWeight) {
  const Program program = program_of(kSharedWeight);
  for (const char* mode : {"one-shot", "one-shot-stream", "split"}) {
    EXPECT_THAT(findings_of(program, {"y", {"x", "w"}, mode}), IsEmpty()) << mode;
  }
}

TEST(GradientCheck, SaysWhichProductPytorch180952CountsTwice) {
  const Program forward = program_of(kSharedWeight);
  Program program;
  const auto findings = findings_of(
      forward, {"y", {"x", "w"}, "split-pytorch-180952"}, [](std::vector<ItemDraft>&) {}, &program);
  ASSERT_EQ(findings.size(), 1u);
  const Finding finding = explain_gradient(program, findings[0]);
  EXPECT_EQ(
      finding.headline,
      "gradient: d_w counts the contribution of mm1 (dispatch 0) 2 times, the one-shot backward once.");
  EXPECT_THAT(
      finding.details,
      ElementsAre(
          "The term is that of mm1.vjp1 (dispatch 7).",
          "mm1.sum0 (dispatch 6) adds up two tensors that both hold the whole cotangent of h already.",
          "d_w is to be the gradient of y by w: every path between the two counts once. "
          "Nothing was rounded."));
  EXPECT_EQ(finding.fix,
            "go on from one of the two that mm1.sum0 (dispatch 6) adds up, and leave the sum out.");
  EXPECT_EQ(program.name(program.tensor(finding.tensor).name), "w");
}

// Of what the broken split makes of the gradient of y by w.
Finding explanation_of_split(const Program& forward) {
  Program program;
  const auto findings = findings_of(
      forward, {"y", {"w"}, "split-pytorch-180952"}, [](std::vector<ItemDraft>&) {}, &program);
  EXPECT_EQ(findings.size(), 1u);
  return findings.empty() ? Finding{} : explain_gradient(program, findings[0]);
}

// The first product is also read by the third: only what comes through the second counts twice.
TEST(GradientCheck, SaysWhichPartOfACotangentIsAddedOnceMore) {
  const Program forward = program_on_squares({"a", "b", "y"}, R"(
m1: dispatch matmul_nn reads x w writes a
m2: dispatch matmul_nn reads a w writes b
m3: dispatch matmul_nn reads b a writes y
)");
  const Finding finding = explanation_of_split(forward);
  EXPECT_EQ(
      finding.headline,
      "gradient: d_w has no contribution of m1 (dispatch 0), but a term from m1.vjp0 (dispatch 10) that is no multiple of any.");
  ASSERT_FALSE(finding.details.empty());
  EXPECT_EQ(
      finding.details[0],
      "m1.sum0 (dispatch 9) adds to the whole cotangent of a what m2 (dispatch 1) contributes to it, which is in it already.");
  EXPECT_EQ(finding.fix,
            "go on from the whole cotangent of a, and leave the sum of m1.sum0 (dispatch 9) out.");
}

// Where m2 is dispatch 2.
void expect_that_m2_is_added_twice(const Program& forward) {
  const Finding finding = explanation_of_split(forward);
  ASSERT_FALSE(finding.details.empty());
  EXPECT_THAT(
      finding.details[0],
      HasSubstr(
          " adds to the whole cotangent of a what m2 (dispatch 2) contributes to it, which is in it already."));
}

// `add` gives what it reads its own cotangent, so that two values have that of `a`; and the second
// product is read by two.
TEST(GradientCheck, SaysWhichPartIsAddedOnceMoreBesideAResidual) {
  const Program forward = program_on_squares({"a0", "a", "b", "y"}, R"(
m1: dispatch matmul_nn reads x w writes a0
r: dispatch add reads a0 x writes a
m2: dispatch matmul_nn reads a w writes b
m3: dispatch matmul_nn reads b a writes y
)");
  expect_that_m2_is_added_twice(forward);
}

// Nor do raw bytes, which have no gradient, stand in the way.
TEST(GradientCheck, SaysWhichPartIsAddedOnceMoreBesidesRawBytes) {
  const Program forward = program_on_squares({"a", "b", "y"}, R"(
memory log 4
note: dispatch Note writes log
m1: dispatch matmul_nn reads x w writes a
m2: dispatch matmul_nn reads a w writes b
m3: dispatch matmul_nn reads b a writes y
)");
  expect_that_m2_is_added_twice(forward);
}

// Three products: the first counts three times, the second twice.
TEST(GradientCheck, CountsEachOfThreeUses) {
  const Program forward = program_of(R"(interlock 1
tensor x f32[1,2] = random(1)
tensor w f32[2,2] = random(2)
tensor a f32[1,2]
tensor b f32[1,2]
tensor y f32[1,2]
dispatch matmul_nn reads x w writes a
dispatch matmul_nn reads a w writes b
dispatch matmul_nn reads b w writes y
)");
  const auto findings = findings_of(forward, {"y", {"w"}, "split-pytorch-180952"});
  ASSERT_EQ(findings.size(), 1u);
  ASSERT_EQ(findings[0].counts.size(), 2u);
  EXPECT_THAT(findings[0].counts[0].dispatches, ElementsAre(DispatchId(0)));
  EXPECT_EQ(findings[0].counts[0].actual, 3u);
  EXPECT_THAT(findings[0].counts[1].dispatches, ElementsAre(DispatchId(1)));
  EXPECT_EQ(findings[0].counts[1].actual, 2u);
}

TEST(GradientCheck, FindsASumThatIsLeftOut) {
  const Program forward = program_of(kSharedWeight);
  Program program;
  const auto findings = findings_of(
      forward, {"y", {"w"}, "one-shot"}, [](std::vector<ItemDraft>& items) { items.pop_back(); },
      &program);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(explain_gradient(program, findings[0]).headline,
              HasSubstr("d_w leaves out the contribution of mm1 (dispatch 0)"));
}

TEST(GradientCheck, FindsAWrongOperand) {
  const Program forward = program_of(kSharedWeight);
  Program program;
  const auto findings = findings_of(
      forward, {"y", {"w"}, "one-shot"},
      [](std::vector<ItemDraft>& items) { dispatch_of(items, "mm1.vjp0")->operands[0].name = "h"; },
      &program);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].foreign, ElementsAre(DispatchId(4)));
  EXPECT_THAT(findings[0].counts, testing::SizeIs(1));
}

TEST(GradientCheck, FindsACotangentThatIsPassedOnTwice) {
  const Program forward = program_of(R"(interlock 1
tensor x f32[4] = random(1)
tensor s f32[4]
tensor y f32[4]
one: dispatch add reads x x writes s
two: dispatch silu reads s writes y
)");
  EXPECT_THAT(findings_of(forward, {"y", {"x"}, "one-shot"}), IsEmpty());
  const auto findings =
      findings_of(forward, {"y", {"x"}, "one-shot"}, [](std::vector<ItemDraft>& items) {
        DispatchDraft again;
        again.kernel = "accumulate";
        again.operands = {{AccessMode::kRead, "d_s", {}}, {AccessMode::kUpdate, "d_x", {}}};
        items.emplace_back(again);
      });
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].counts.front().expected, 2u);
  EXPECT_EQ(findings[0].counts.front().actual, 3u);
}

// The pass is written by hand, so that the check alone follows the adoption.
TEST(GradientCheck, FollowsAdoptions) {
  const Program forward = program_of(R"(interlock 1
tensor w f32[4] = random(1)
tensor y f32[4]
tensor a f32[4]
tensor l f32[4]
tensor d_l f32[4] = ones
tensor d_y f32[4]
tensor d_w f32[4]
tensor wrong f32[4] = zeros
f: dispatch silu reads w writes y
adopt a = y
g: dispatch silu reads a writes l
dispatch silu_vjp reads a d_l writes d_y
dispatch silu_vjp reads w d_y writes d_w
)");
  const auto findings_by = [&](uint32_t gradient) {
    Backward pass;
    pass.loss = TensorId(3);
    pass.wrt = {TensorId(0)};
    pass.gradients = {TensorId(gradient)};
    pass.first = forward.dispatches[2].statement;
    pass.statement_count = 2;
    pass.first_tensor = TensorId(4);
    pass.tensor_count = 4;
    return check_gradients(forward, {pass}).findings;
  };
  EXPECT_THAT(findings_by(6), IsEmpty());
  const auto findings = findings_by(7);
  ASSERT_EQ(findings.size(), 1u);
  ASSERT_EQ(findings[0].counts.size(), 1u);
  EXPECT_THAT(findings[0].counts[0].dispatches, ElementsAre(DispatchId(0)));
  EXPECT_EQ(findings[0].counts[0].actual, 0u);
}

TEST(GradientCheck, FollowsAnAdoptionBeforeAnyDispatchAndOneBehindAll) {
  const Program program = program_of(R"(interlock 1
tensor w f32[4] = random(1)
tensor p f32[4]
tensor y f32[4]
tensor loss f32[4]
adopt p = w
dispatch silu reads p writes y
adopt loss = y
backward loss wrt w p
)");
  ASSERT_EQ(program.backwards.size(), 1u);
  EXPECT_THAT(check_gradients(program, program.backwards).findings, IsEmpty());
  EXPECT_GT(program.backwards[0].statement_count, 0u);
}

// Written by hand, as the encoder refuses it: what is written raw between depends on nothing.
TEST(GradientCheck, FollowsNoGradientThroughBytesThatAreWrittenRaw) {
  const auto count_of = [](std::string_view first, std::string_view between, uint32_t wrt) {
    const Program program = program_of(fmt::format(
        "interlock 1\nmemory m 64\ntensor w f32[4] at m+0 = random(1)\ntensor y f32[4] at m+16\n"
        "tensor a f32[4]\ntensor l f32[4] at m+32\ntensor d_l f32[4] = ones\ntensor d_y f32[4]\n"
        "tensor d_w f32[4]\n"
        "{}f: dispatch scale reads w writes y factor=2\n"
        "adopt a = y\n"
        "{}g: dispatch scale reads a writes l factor=2\n"
        "z: dispatch Load writes m[48:64]\n"
        "dispatch scale reads d_l writes d_y factor=2\n"
        "dispatch scale reads d_y writes d_w factor=2\n",
        first, between));
    Backward pass;
    pass.loss = TensorId(3);
    pass.wrt = {TensorId(wrt)};
    pass.gradients = {TensorId(wrt == 0 ? 6 : 5)};
    pass.statement_count = 2;
    pass.first = program.dispatches[program.dispatches.size() - 2].statement;
    pass.first_tensor = TensorId(4);
    pass.tensor_count = 3;
    return check_gradients(program, {pass}).findings.size();
  };
  EXPECT_EQ(count_of("", "", 0), 0u);
  EXPECT_EQ(
      count_of("dispatch fill writes m value=0\n", "dispatch fill writes m[32:48] value=0\n", 0),
      0u);
  EXPECT_EQ(count_of("", "dispatch fill writes m[28:32] value=0\n", 0), 1u);
  EXPECT_EQ(count_of("", "dispatch fill writes m[0:4] value=0\n", 0), 1u);
  // Both names of the bytes hold what was written there.
  EXPECT_EQ(count_of("", "dispatch fill writes m[16:20] value=0\n", 1), 0u);
  EXPECT_EQ(count_of("", "dispatch fill writes m[16:20] value=0\n", 2), 0u);
}

TEST(GradientCheck, JudgesEachOfThreeStepsByTheWeightsOfItsTime) {
  std::string text =
      "interlock 1\ntensor x f32[4] = random(1)\ntensor w f32[4] = random(2)\n"
      "tensor b f32[4] = random(3)\ntensor h f32[4]\ntensor l f32[4]\n";
  for (const char* suffix : {"", ".2", ".3"}) {
    text +=
        "dispatch mul reads x w writes h\ndispatch mul reads h b writes l\nbackward l wrt w b\n";
    for (const char* weight : {"w", "b"}) {
      text += fmt::format("dispatch sgd reads d_{0}{1} updates {0} lr=0.5\n", weight, suffix);
    }
  }
  const Program program = program_of(text);
  ASSERT_EQ(program.backwards.size(), 3u);
  EXPECT_THAT(check_gradients(program, program.backwards).findings, IsEmpty());
  // That of another step is another one.
  Backward mixed = program.backwards[2];
  mixed.gradients = program.backwards[1].gradients;
  EXPECT_THAT(check_gradients(program, {mixed}).findings, testing::SizeIs(2));
}

// w.2 has the gradient d_w.2, and that of w is d_w.3 then.
TEST(GradientCheck, ComparesTheGradientsThatThePassHasRecorded) {
  const Program program = program_of(R"(interlock 1
tensor w f32[4] = random(1)
tensor w.2 f32[4] = random(2)
tensor d_w f32[4]
tensor y f32[4]
f: dispatch mul reads w w.2 writes y
backward y wrt w.2 w
backward y wrt w w.2
)");
  EXPECT_THAT(check_gradients(program, program.backwards).findings, IsEmpty());
}

// Every right pass of a random program.
void expect_silence_on(const Program& forward, const DifferentiableProgram& random) {
  for (const char* mode : {"one-shot", "one-shot-stream", "split"}) {
    EXPECT_THAT(findings_of(forward, {random.loss, random.wrt, mode}), IsEmpty()) << mode << "\n"
                                                                                  << random.text;
  }
}

TEST(GradientCheck, IsSilentOnRandomPassesThroughAdoptions) {
  for (uint32_t seed = 0; seed < (is_slow_build() ? 12 : 40); ++seed) {
    const DifferentiableProgram random = with_adoptions(random_differentiable_program(seed, 12));
    expect_silence_on(program_of(random.text), random);
  }
}

// Every kernel with a VJP, tied and shared at random; then one dispatch of the pass reads another
// tensor of the same shape. What is planted changes a gradient, unless it changes nothing that
// reaches one: half of all would be far too few.
TEST(GradientCheck, IsSilentOnRandomPassesAndFindsPlantedMistakes) {
  int planted = 0;
  int found = 0;
  for (uint32_t seed = 0; seed < (is_slow_build() ? 30 : 120); ++seed) {
    const DifferentiableProgram random = random_differentiable_program(seed, 12);
    const Program forward = program_of(random.text);
    expect_silence_on(forward, random);
    bool has_planted = false;
    const auto findings = findings_of(
        forward, {random.loss, random.wrt, "one-shot"}, [&](std::vector<ItemDraft>& items) {
          for (size_t i = items.size(); i-- > 0 && !has_planted;) {
            auto* dispatch = std::get_if<DispatchDraft>(&items[i]);
            if (dispatch == nullptr || dispatch->kernel != "accumulate") continue;
            items.insert(items.begin() + static_cast<std::ptrdiff_t>(i), items[i]);
            std::get<DispatchDraft>(items[i]).label = "planted";
            has_planted = true;
          }
        });
    planted += has_planted;
    found += has_planted && !findings.empty();
  }
  EXPECT_GT(planted, is_slow_build() ? 8 : 40);
  EXPECT_EQ(found, planted);
}

}  // namespace
}  // namespace interlock::gradient_check_test
