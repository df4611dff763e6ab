// Backward passes in other processes: what they may append, and that a wrong gradient is a find
// whose file fails again, be it wrong in which paths it counts or in numbers alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "encoder/assemble/append_backward_by.h"
#include "encoder/backward/backward.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/external/external_backward.h"
#include "fuzz/external/opened_pass.h"
#include "fuzz/judge/gradient_numbers.h"
#include "tests/program_count.h"

namespace interlock::external_backward_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kForward = R"(interlock 1
tensor x f32[2,2] = random(1)
tensor w f32[2,2] = random(2)
tensor y f32[2,2]
output y
dispatch matmul_nn reads x w writes y
)";

Program program_of(const std::string& text) {
  auto program = parse(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().message);
  return program ? std::move(*program) : Program{};
}

// What backward_answer_of() says of an answer with these lines after its tensors and at its end.
std::string error_of_answer(const std::string& tensors, const std::string& end) {
  std::string text = kForward;
  text.insert(text.find("output"), tensors);
  const auto answer =
      backward_answer_of(program_of(kForward), text + end, {{"x", "d_x"}, {"w", "d_w"}});
  return answer ? "" : answer.error().message;
}

constexpr const char* kTensors =
    "tensor d_x f32[2,2]\ntensor d_w f32[2,2]\ntensor g f32[2,2] = ones\n";
constexpr const char* kRightEnd =
    "dispatch matmul_nt reads g w writes d_x\ndispatch matmul_tn reads x g writes d_w\n";

TEST(BackwardQuestion, NamesTheLossAndTheGradientByEachTensor) {
  const BackwardDraft request{.loss = "y", .wrt = {"x", "w"}};
  const std::string remark = remark_of(request, {"d_x", "d_w.2"});
  EXPECT_EQ(remark, "backward loss=y wrt=x:d_x,w:d_w.2");
  const auto wanted = wanted_gradients(remark);
  ASSERT_THAT(wanted, SizeIs(2));
  EXPECT_EQ(wanted[1].tensor + " " + wanted[1].gradient, "w d_w.2");
  EXPECT_THAT(backward_question_text(program_of(kForward), remark),
              AllOf(HasSubstr("interlock 1\n# backward loss=y wrt=x:d_x,w:d_w.2\ntensor x"),
                    HasSubstr("writes y  # read x 0 16, read w 0 16, write y 0 16\n")));
}

TEST(BackwardAnswer, HasTensorsAndDispatchesOfItsOwnAfterTheProgram) {
  EXPECT_EQ(error_of_answer(kTensors, kRightEnd), "");
  const std::string with_view = std::string(kTensors) + "tensor v f32[4] view g+0\n";
  EXPECT_EQ(error_of_answer(with_view, kRightEnd), "");
}

struct IllegalAnswer {
  std::string tensors;
  std::string end;
  std::string message;
};

TEST(BackwardAnswer, IsIllegalWhereItDoesAnythingElse) {
  const std::string tensors = kTensors;
  const std::string end = kRightEnd;
  for (const IllegalAnswer& illegal : std::vector<IllegalAnswer>{
           {tensors, end + "barrier\n", "The answer appends 'barrier', and a backward pass has"},
           {tensors, end + "dispatch fill writes y value=0\n",
            "Dispatch 3 of the answer writes tensor 'y', which is not its own."},
           {tensors + "tensor v f32[4] view w+0\n", end + "dispatch fill writes v value=0\n",
            "Dispatch 3 of the answer writes tensor 'v', which is not its own."},
           {"memory m 64\n" + tensors, end + "dispatch fill writes m[0:4] value=0\n",
            "Without what it appends the answer is another program: it has 'memory m 64'"},
           {"memory m 64\n" + tensors + "tensor p f32[4] at m+0\n", end,
            "The answer gives its tensor 'p' a place, which planners do."},
           {"tensor d_x f32[2,2]\ntensor g f32[2,2] = ones\n",
            "dispatch matmul_nt reads g w writes d_x\n",
            "The answer has no tensor 'd_w' of its own, the gradient by 'w'."},
           {"tensor d_x f32[2,2]\ntensor d_w f32[4]\ntensor g f32[2,2] = ones\n",
            "dispatch matmul_nt reads g w writes d_x\n",
            "The gradient 'd_w' has not the shape and type of 'w', by which it is."},
           {tensors, "order\n", "<answer>:"},
       }) {
    EXPECT_THAT(error_of_answer(illegal.tensors, illegal.end), HasSubstr(illegal.message))
        << illegal.tensors << illegal.end;
  }
  std::string other = kForward;
  other.replace(other.find("matmul_nn reads x w"), 19, "matmul_nn reads w x");
  const auto answer = backward_answer_of(program_of(kForward), other, {});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("the answer is another program"));
  std::string early = kForward;
  early.insert(early.find("tensor y"), kTensors);
  const auto early_answer = backward_answer_of(program_of(kForward), early, {});
  ASSERT_FALSE(early_answer);
  EXPECT_THAT(early_answer.error().message, HasSubstr("its own come after all"));
}

// --- Processes
// --------------------------------------------------------------------------------------

bool has_python() { return std::system("python3 -c '' >/dev/null 2>&1") == 0; }

// The example of docs/exec.md with `wrong` in the place of `right`, which it has once.
std::string changed_example(const std::string& name, const std::string& right,
                            const std::string& wrong) {
  std::ifstream file(INTERLOCK_SOURCE_DIR "/docs/examples/exec_backward.py");
  std::string script{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const size_t place = script.find(right);
  EXPECT_NE(place, std::string::npos);
  if (place != std::string::npos) script.replace(place, right.size(), wrong);
  const std::string path = testing::TempDir() + "backward_" + name + ".py";
  std::ofstream(path) << script;
  return path;
}

std::unique_ptr<OpenedPass> opened(const std::string& script) {
  auto pass = open_pass(PassKind::kBackward, "exec:python3 " + script,
                        {.exec_timeout_seconds = 60, .stop = nullptr});
  EXPECT_TRUE(pass) << (pass ? "" : pass.error().message);
  return pass ? std::move(*pass) : nullptr;
}

CampaignReport report_on(const OpenedPass& pass, uint64_t run_count) {
  CampaignOptions options;
  options.backward = &pass.backward;
  options.run_count = run_count;
  auto report = run_campaign(options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  if (!report) return {};
  EXPECT_THAT(report->disagreements, IsEmpty());
  return *report;
}

const std::string kExample = INTERLOCK_SOURCE_DIR "/docs/examples/exec_backward.py";

TEST(ExternalBackwardCampaign, FindsNothingInTheExample) {
  if (!has_python()) GTEST_SKIP() << "There is no python3.";
  const auto pass = opened(kExample);
  const uint64_t run_count = is_slow_build() ? 40 : 300;
  const CampaignReport report = report_on(*pass, run_count);
  EXPECT_EQ(report.run_count, run_count);
  EXPECT_THAT(report.finds, IsEmpty()) << report.finds[0].text;
}

// Three faults: of a product one factor counts twice, of a matrix product the wrong factor is
// turned, and a sum of rows is taken for one of columns. The gradient check sees the first two; of
// the last it does not see the shapes, where both have the same: numbers do.
TEST(ExternalBackwardCampaign, RefutesPassesThatAreWrong) {
  if (!has_python()) GTEST_SKIP() << "There is no python3.";
  struct Fault {
    const char* name;
    const char* right;
    const char* wrong;
    const char* message;
    uint64_t run_count;  // As few as find it.
  };
  for (const Fault& fault : {Fault{"factor", "mul g p1 > d0; mul g p0 > d1",
                                   "mul g p1 > d0; mul g p1 > d1", "gradient: d_", 60},
                             Fault{"turned", "matmul_nt g p1 > d0; matmul_tn p0 g > d1",
                                   "matmul_nn g p1 > d0; matmul_tn p0 g > d1", "gradient: d_", 60},
                             Fault{"summed", "row_sum_vjp g > d0", "col_sum_vjp g > d0",
                                   " differ from those of one-shot in float64: ", 150}}) {
    const auto pass = opened(changed_example(fault.name, fault.right, fault.wrong));
    const CampaignReport report = report_on(*pass, fault.run_count);
    const auto find = std::ranges::find(report.finds, "wrong-gradient", &CampaignFind::signature);
    ASSERT_NE(find, report.finds.end()) << fault.name;
    EXPECT_LE(find->dispatch_count, 4u) << find->text;
    EXPECT_THAT(find->failure, HasSubstr(fault.message));
    EXPECT_THAT(find->text, AllOf(Not(HasSubstr("\nbackward ")),
                                  HasSubstr("# Again with: interlock encode --backward='exec:"),
                                  HasSubstr(" --loss="), HasSubstr(" --wrt=")));
  }
}

// The numbers are a second method: each pass of this build that is right passes it, and that which
// is wrong does not, on programs at random.
TEST(DifferingNumbers, AgreeWithTheGradientCheckOnPassesOfThisBuild) {
  const Program forward = program_of(
      "interlock 1\ntensor x f32[2,3] = random(1)\ntensor w f32[3] = random(2)\n"
      "tensor h f32[2,3]\ntensor y f32[2,3]\ndispatch layer_norm reads x w w writes h\n"
      "dispatch layer_norm reads h w w writes y\n");
  const BackwardDraft request{.loss = "y", .wrt = {"x", "w"}};
  const auto with = [&](std::string mode) {
    BackwardDraft draft = request;
    draft.mode = std::move(mode);
    return append_backward(forward, draft).value();
  };
  const AppendedBackward reference = with("one-shot");
  EXPECT_EQ(differing_numbers(with("split"), reference), std::nullopt);
  EXPECT_EQ(differing_numbers(with("one-shot-stream"), reference), std::nullopt);
  const auto wrong = differing_numbers(with("split-pytorch-180952"), reference);
  ASSERT_TRUE(wrong);
  EXPECT_THAT(*wrong, HasSubstr("of 3 values of d_w differ from those of one-shot in float64"));
}

}  // namespace
}  // namespace interlock::external_backward_test
