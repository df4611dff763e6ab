// Captures, replays and what frameworks do with them, on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/command.h"

namespace interlock::replays_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kMicroBatches = R"(interlock 1
tensor g f32[4] = random(1)
tensor buffer f32[4]
tensor grad f32[4] = zeros
output grad
capture step
run: dispatch silu reads g writes buffer
end
replay step
dispatch accumulate reads buffer updates grad
replay step
sum: dispatch accumulate reads buffer updates grad
)";

TEST(ListCommand, SaysWhichReplayPoliciesAreBroken) {
  const CommandResult result = run_interlock({"list", "replays"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("\n  pytorch              PyTorch's "),
                                HasSubstr("\n  pytorch-181723       broken: ")));
}

TEST(EncodeCommand, AppliesAReplayPolicyBeforeItPlacesSync) {
  const CommandResult broken =
      run_interlock({"encode", "-", "--replay=pytorch-181723"}, kMicroBatches);
  EXPECT_THAT(broken.out, AllOf(HasSubstr("replay step\nadopt grad = buffer\nreplay step\n"),
                                Not(HasSubstr("barrier"))));
  const CommandResult encoded = run_interlock({"encode", "-"}, broken.out);
  const CommandResult checked = run_interlock({"check", "-"}, encoded.out);
  EXPECT_EQ(checked.status, 1);
  EXPECT_THAT(checked.out, AllOf(HasSubstr("clobber: sum"), HasSubstr("run@2")));
  const CommandResult fixed =
      run_interlock({"encode", "-", "--replay=pytorch", "--encoder=interlock"}, kMicroBatches);
  EXPECT_EQ(run_interlock({"check", "-"}, fixed.out).status, 0);
}

TEST(EncodeCommand, NamesTheListOfReplayPolicies) {
  const CommandResult result = run_interlock({"encode", "-", "--replay=torch"}, kMicroBatches);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("there is no replay policy 'torch'. Did you mean 'pytorch'? "
                                    "`interlock list replays`"));
}

}  // namespace
}  // namespace interlock::replays_test
