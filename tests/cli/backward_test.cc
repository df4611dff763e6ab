// Backward passes on the command line: a wrong one is reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/command.h"

namespace interlock::backward_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kProductOfThree = R"(interlock 1
tensor x f32[1,2] = random(1)
tensor w f32[2,2] = random(2)
tensor h f32[1,2]
tensor y f32[1,2]
mm1: dispatch matmul_nn reads x w writes h
mm2: dispatch matmul_nn reads h w writes y
)";

constexpr const char* kWrong =
    "gradient: d_w counts the contribution of mm1 (dispatch 0) 2 times, the one-shot backward once.\n";

CommandResult encoded(const std::string& mode) {
  return run_interlock({"encode", "-", "--backward=" + mode, "--loss=y", "--wrt=x,w",
                        "--planner=liveness", "--encoder=interlock"},
                       kProductOfThree);
}

TEST(EncodeCommand, SaysThatAGradientIsWrong) {
  const CommandResult wrong = encoded("split-pytorch-180952");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err, AllOf(StartsWith(kWrong), HasSubstr("written all the same")));
  EXPECT_EQ(run_interlock({"check", "-"}, wrong.out).status, 0);  // Nothing states it any more.
  const CommandResult right = encoded("split");
  EXPECT_EQ(right.status, 0);
  EXPECT_THAT(right.err, IsEmpty());
}

TEST(EncodeCommand, JudgesTheStatementsThatItSpellsOut) {
  const std::string text =
      std::string(kProductOfThree) + "backward y wrt x w mode=split-pytorch-180952\n";
  const CommandResult unexpected = run_interlock({"encode", "-"}, text);
  EXPECT_EQ(unexpected.status, 1);
  EXPECT_THAT(unexpected.err, StartsWith(kWrong));
  const CommandResult expected = run_interlock(
      {"encode", "-"}, text + "expect gradient w\nexpect encoder=interlock gradient w\n");
  EXPECT_EQ(expected.status, 0);
  EXPECT_THAT(expected.err, StartsWith(kWrong));
  // Its statement is gone, and with it what was expected of it.
  EXPECT_THAT(expected.out, Not(HasSubstr("expect")));
  EXPECT_EQ(run_interlock({"check", "-"}, expected.out).status, 0);
}

TEST(EncodeCommand, NeedsALossAndWhatToDifferentiateBy) {
  for (const char* option : {"--loss=y", "--wrt=w"}) {
    const CommandResult result =
        run_interlock({"encode", "-", "--backward=split", option}, kProductOfThree);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, StartsWith("error: --backward needs --loss and --wrt"));
  }
}

TEST(GenerateCommand, SaysThatAGradientIsWrong) {
  const CommandResult wrong = run_interlock(
      {"generate", "mlp", "--layers=1", "--steps=2", "--backward=split-pytorch-180952"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err, StartsWith("gradient: d_w counts the contribution of "));
  EXPECT_THAT(wrong.out, StartsWith("interlock 1\n"));
  EXPECT_EQ(run_interlock({"generate", "mlp", "--steps=2", "--backward=split"}).status, 0);
}

TEST(GenerateCommand, JudgesMoreWeightsThanALineHolds) {
  const CommandResult result = run_interlock({"generate", "transformer", "--layers=100"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, IsEmpty());
}

TEST(GenerateCommand, WritesForwardPassesAlone) {
  const CommandResult result = run_interlock({"generate", "mlp", "--backward=none", "--losses"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("output losses\n"), Not(HasSubstr(".vjp"))));
}

TEST(GenerateCommand, RefusesABackwardPassWithoutAName) {
  const CommandResult attached = run_interlock({"generate", "mlp", "--backward=", "--losses"});
  EXPECT_EQ(attached.status, 2);
  EXPECT_EQ(attached.err, "error: --backward= has no value after it.\n");
  const CommandResult apart = run_interlock({"generate", "mlp", "--backward", ""});
  EXPECT_EQ(apart.status, 2);
  EXPECT_THAT(apart.err, HasSubstr("--backward has an empty name; 'none' writes forward passes"));
}

}  // namespace
}  // namespace interlock::backward_test
