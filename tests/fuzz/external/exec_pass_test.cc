// Planners and replay policies in other processes: what they may answer, and what is said of the
// rest.
#include "fuzz/external/exec_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

#include "encoder/assemble/build.h"
#include "encoder/plan/plan_by.h"
#include "encoder/program/check.h"
#include "encoder/replay/replay_by.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/external/external_passes.h"
#include "fuzz/external/opened_pass.h"
#include "fuzz/generate/replay_generator.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::exec_pass_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kStep = R"(interlock 1
memory m 64
tensor x f32[4] = random(1)
tensor h f32[4]
tensor v f32[2] view h+8
tensor y f32[4]
output y
dispatch K reads x m[0:4] writes h
barrier
dispatch K reads v writes y
)";

Program program_of(const std::string& text) {
  auto program = parse(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().message);
  return program ? std::move(*program) : Program{};
}

std::unique_ptr<OpenedPass> opened(PassKind kind, const std::string& fault, double seconds = 30) {
  auto pass = open_pass(kind, "exec:" FAULTY_PLANNER " " + fault,
                        {.exec_timeout_seconds = seconds, .stop = nullptr});
  EXPECT_TRUE(pass) << (pass ? "" : pass.error().message);
  return pass ? std::move(*pass) : nullptr;
}

Encoding planned(const std::string& fault) {
  const auto planner = opened(PassKind::kPlanner, fault);
  return plan_by(program_of(kStep), {.alignment_bytes = 16}, planner->planner).value();
}

TEST(PlanQuestion, HasTheOptionsTheSizesAndTheAccessesAndKeepsTheSync) {
  const Program given = spelled_out(program_of(kStep)).value();
  const std::string question =
      plan_question_text(given, remark_of({.alignment_bytes = 64, .keeps_inputs = true}));
  EXPECT_THAT(question,
              AllOf(HasSubstr("interlock 1\n# plan align=64 slack=0 antichain=0 keep-inputs=1 "
                              "opaque-in-place=1\nmemory m 64\n"),
                    HasSubstr("tensor x f32[4] = random(1)  # place 16\n"),
                    HasSubstr("tensor v f32[2] view h+8\n"),
                    HasSubstr("barrier\ndispatch K reads v writes y  # read h 8 16, write y 0 16"),
                    Not(HasSubstr("view h+8  #"))));
}

TEST(ExecPlanner, PlacesWhatIsUnplacedAndNothingElse) {
  const Encoding plan = planned("none");
  ASSERT_FALSE(plan.failure) << plan.failure->message;
  EXPECT_EQ(print(plan.program), R"(interlock 1
memory plan 52
memory m 64
tensor x f32[4] at plan+0 = random(1)
tensor h f32[4] at plan+16
tensor v f32[2] view h+8
tensor y f32[4] at plan+32
output y
dispatch K reads x m[0:4] writes h
barrier
dispatch K reads v writes y
)");
}

struct Fault {
  const char* name;
  const char* message;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class PlanFaults : public testing::TestWithParam<Fault> {};

TEST_P(PlanFaults, AreIllegalAnswers) {
  const Encoding plan = planned(GetParam().name);
  ASSERT_TRUE(plan.failure);
  EXPECT_EQ(plan.failure->kind, EncodeFailureKind::kIllegal);
  EXPECT_THAT(plan.failure->message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    ExecPlanner, PlanFaults,
    testing::Values(Fault{"leave", "gives tensor 'y' no place"},
                    Fault{"gap", "places tensor 'x' at 4, which is no multiple of 16"},
                    Fault{"declared", "places tensor 'x' in memory 'm', which is that of the"},
                    Fault{"rename",
                          "Without its places the answer is another program: it has "
                          "'dispatch Other'"},
                    Fault{"garble", "<answer>:1:1: error"}));

TEST(ExecPlanner, SaysInItsOwnNameThatItHangs) {
  const auto planner = opened(PassKind::kPlanner, "hang", 0.1);
  const Program program = program_of(
      "interlock 1\ntensor x f32[4]\ndispatch K writes x\ndispatch K updates x\ndispatch K reads "
      "x\n");
  const Encoding plan = plan_by(program, {}, planner->planner).value();
  ASSERT_TRUE(plan.failure);
  EXPECT_EQ(plan.failure->kind, EncodeFailureKind::kHang);
  EXPECT_EQ(plan.failure->message, "The planner did not answer within 0.1 s.");
}

TEST(PlanAnswerOf, TakesDonationsAndResetsOfMemoriesOfItsOwn) {
  const Program given = spelled_out(program_of(kStep)).value();
  const auto error_of_answer = [&](const std::string& tensors, const std::string& end) {
    const auto answer = plan_answer_of(
        given,
        "interlock 1\nmemory m 64\nmemory pool 64\n" + tensors +
            "output y\ndispatch K reads x m[0:4] writes h\nbarrier\ndispatch K reads v writes y\n" +
            end,
        4);
    return answer ? std::string() : answer.error().message;
  };
  const std::string input = "tensor x f32[4] at pool+0 = random(1)\n";
  const std::string rest = "tensor h f32[4] donates x\ntensor v f32[2] view h+8\n";
  const std::string last = "tensor y f32[4] at pool+32\n";
  EXPECT_EQ(error_of_answer(input + rest + last, ""), "");
  EXPECT_EQ(error_of_answer(last + input + rest, ""), "") << "Tensors may come in another order.";
  EXPECT_EQ(error_of_answer(input + rest + last, "reset pool\n"), "");
  EXPECT_THAT(error_of_answer(input + rest + last, "free y\n"), HasSubstr("it has 'free y'"));
  EXPECT_THAT(error_of_answer(input + rest + "tensor y f32[4] view x+0\n", ""),
              HasSubstr("makes tensor 'y' a view"));
  EXPECT_THAT(error_of_answer(input + rest + "tensor y f32[4] at pool+32 = zeros\n", ""),
              HasSubstr("'tensor y f32[4] = zeros' where there was 'tensor y f32[4]'"));
  EXPECT_THAT(error_of_answer(input + rest + "tensor y f32[4] at pool+60\n", ""),
              HasSubstr("<answer>:7"));
}

// Each of the three things that a policy may do with a first accumulation, and the two of this
// build do, is the same program whoever does it.
TEST(ExecReplay, DoesWhatThePoliciesOfThisBuildDo) {
  const auto adopting = opened(PassKind::kReplay, "adopt");
  const auto copying = opened(PassKind::kReplay, "copy");
  const auto keeping = opened(PassKind::kReplay, "keep");
  int changed_count = 0;
  for (uint64_t seed = 0; seed < (is_slow_build() ? 20 : 100); ++seed) {
    SeededChoice choice(seed);
    const Program program = build(generate_replays(choice)).value();
    const auto text_of = [&](const ReplayEntry& policy) {
      const Encoding replayed = replay_by(program, policy).value();
      EXPECT_FALSE(replayed.failure) << replayed.failure->message << print(program);
      return print(replayed.program);
    };
    EXPECT_EQ(text_of(adopting->replay), text_of(*find_replay("pytorch-181723")));
    EXPECT_EQ(text_of(copying->replay), text_of(*find_replay("pytorch")));
    EXPECT_EQ(text_of(keeping->replay), print(program));
    changed_count += text_of(copying->replay) != print(program);
  }
  EXPECT_GT(changed_count, 10);
}

TEST(ExecReplay, MayDoNothingElse) {
  const Program program = program_of(R"(interlock 1
tensor g f32[4]
tensor s f32[4] = zeros
output s
capture c
dispatch Backward writes g
end
replay c
dispatch accumulate reads g updates s
replay c
dispatch accumulate reads g updates s
)");
  for (const char* const fault : {"drop", "adopt-all"}) {
    const auto policy = opened(PassKind::kReplay, fault);
    const Encoding replayed = replay_by(program, policy->replay).value();
    ASSERT_TRUE(replayed.failure) << fault;
    EXPECT_EQ(replayed.failure->kind, EncodeFailureKind::kIllegal) << fault;
  }
}

TEST(OpenPass, SaysWhatCannotBeOpened) {
  const auto error_of = [](const std::string& name) {
    const auto pass = open_pass(PassKind::kPlanner, name, {});
    return pass ? std::string("none") : pass.error().message;
  };
  EXPECT_THAT(error_of("exec:"), HasSubstr("the planner 'exec:' names no command"));
  EXPECT_THAT(error_of("exec:./there-is-no-such-planner"), HasSubstr("with status 127"));
  EXPECT_THAT(error_of("lib:./mine.so"), HasSubstr("of libraries there are encoders alone"));
}

}  // namespace
}  // namespace interlock::exec_pass_test
