// Encoders for several queues on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/command.h"

namespace interlock::queue_encoders_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kDiamond = R"(interlock 1
memory a 64
memory b 64
memory c 64
dispatch K writes a
dispatch K reads a writes b
barrier
dispatch K reads a writes c
dispatch K reads b c
)";

CommandResult encode(std::vector<std::string> options, const std::string& text) {
  options.insert(options.begin(), {"encode", "-"});
  return run_interlock(options, text);
}

TEST(EncodeCommand, PlacesWaitsOrEdgesThatCheckFindsClean) {
  for (const auto& options : std::vector<std::vector<std::string>>{
           {"--encoder=semaphores"}, {"--encoder=semaphores", "--queues=1"}, {"--encoder=edges"}}) {
    const CommandResult result = encode(options, kDiamond);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(run_interlock({"check", "-"}, result.out).status, 0);
  }
  EXPECT_THAT(encode({"--encoder=semaphores"}, kDiamond).out,
              AllOf(HasSubstr("wait s1=1 on q2\n"), HasSubstr("wait s2=1 on q1\n")));
}

TEST(EncodeCommand, KeepsTheQueuesThatAProgramSays) {
  const std::string text = encode({"--encoder=semaphores"}, kDiamond).out;
  EXPECT_EQ(encode({"--encoder=semaphores"}, text).out, text);
}

TEST(EncodeCommand, PutsWhatIsPlannedOnQueues) {
  const CommandResult result = encode({"--planner=fresh", "--encoder=edges"},
                                      "interlock 1\ntensor x f32[4]\noutput x\n"
                                      "dispatch K writes x\ndispatch K updates x\n");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("after 0 on q1"));
}

TEST(EncodeCommand, SaysWhichEncoderTakesQueues) {
  const CommandResult edges = encode({"--encoder=edges", "--queues=2"}, kDiamond);
  EXPECT_EQ(edges.status, 2);
  EXPECT_THAT(edges.err, HasSubstr("--queues=2 means nothing to the encoder 'edges'"));
  const CommandResult ours = encode({"--queues=2"}, kDiamond);
  EXPECT_EQ(ours.status, 2);
  EXPECT_THAT(ours.err, HasSubstr("--queues=2 means nothing to the encoder 'interlock'"));
  const CommandResult many = encode({"--encoder=semaphores", "--queues=1024"}, kDiamond);
  EXPECT_EQ(many.status, 2);
  EXPECT_THAT(many.err, HasSubstr("from 0 to 1023"));
}

TEST(EncodeCommand, RefusesAPlannerThatPlansOneQueue) {
  const CommandResult result =
      encode({"--encoder=edges", "--planner=ggml-serial-liveness"}, kDiamond);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("places sync for several"));
}

TEST(FuzzCommand, FindsWhatAnEncoderForSeveralQueuesMisses) {
  const CommandResult broken =
      run_interlock({"fuzz", "--encoder=mlx-cuda", "--runs=300", "--seed=1", "--max-finds=1"});
  EXPECT_EQ(broken.status, 1) << broken.err;
  EXPECT_THAT(broken.out, HasSubstr("(encoder mlx-cuda, seed 1)"));
  const CommandResult repaired =
      run_interlock({"fuzz", "--encoder=mlx-cuda-readers", "--runs=300", "--seed=1"});
  EXPECT_EQ(repaired.status, 0) << repaired.err;
}

TEST(FuzzCommand, TriesAnEncoderForSeveralQueuesAlone) {
  const CommandResult planned =
      run_interlock({"fuzz", "--encoder=edges", "--planner=liveness", "--runs=1"});
  EXPECT_EQ(planned.status, 2);
  EXPECT_THAT(planned.err, HasSubstr("the encoder 'edges' places sync for several queues"));
  const CommandResult counted =
      run_interlock({"fuzz", "--encoder=edges", "--deny-excess", "--runs=1"});
  EXPECT_EQ(counted.status, 2);
  EXPECT_THAT(counted.err, HasSubstr("an encoder for one queue"));
}

TEST(ListCommand, NamesEncodersForSeveralQueues) {
  EXPECT_THAT(run_interlock({"list", "encoders"}).out,
              AllOf(HasSubstr("\n  semaphores "), HasSubstr("\n  edges ")));
}

}  // namespace
}  // namespace interlock::queue_encoders_test
