// Encoders for several queues on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/command.h"
#include "tests/program_count.h"

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

// The sync of the program says what its order is; where that is none, there is nothing to keep.
TEST(EncodeCommand, TakesTheOrderOfTheRun) {
  const std::string head =
      "interlock 1\nmemory x 4096\nmemory y 4096\na: queue serial\nb: queue serial\n";
  const CommandResult result = encode(
      {"--encoder=semaphores"}, head +
                                    "wait e=1 on b\nuse: dispatch copy reads x writes y on b\n"
                                    "make: dispatch fill writes x value=7 on a\nsignal e=1 on a\n");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("make: dispatch fill writes x value=7 on a\nsignal s1=1 on a\n"
                                    "wait s1=1 on b\nuse: dispatch copy reads x writes y on b\n"));
  const CommandResult refused = encode(
      {"--encoder=edges"}, head +
                               "wait e=1 on b\nsignal f=1 on b\nwait f=1 on a\nsignal e=1 on a\n"
                               "dispatch K writes x on a\n");
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("error: the program has a deadlock, and so no order"));
}

// A block of `main` is read on `side`, and `main` does not wait for that.
constexpr const char* kSideStream = R"(interlock 1
tensor x u8[64]
tensor o u8[64]
tensor y u8[64]
output o
main: queue serial
side: queue serial
dispatch Make writes x on main
signal made=1 on main
wait made=1 on side
dispatch Use reads x writes o on side
dispatch Next writes y on main
)";

TEST(EncodeCommand, PlansValuesOfSeveralQueuesByTheirSync) {
  for (const char* planner : {"--planner=liveness", "--planner=stream-pool"}) {
    const CommandResult planned = encode({planner}, kSideStream);
    EXPECT_EQ(planned.status, 0) << planned.err;
    EXPECT_THAT(planned.out, HasSubstr("signal made=1 on main\nwait made=1 on side\n"));
    EXPECT_EQ(run_interlock({"check", "-"}, planned.out).status, 0) << planned.out;
  }
  const std::string unrecorded = encode({"--planner=stream-pool-unrecorded"}, kSideStream).out;
  const CommandResult found = run_interlock({"check", "-"}, unrecorded);
  EXPECT_EQ(found.status, 1) << unrecorded;
  EXPECT_THAT(found.out, HasSubstr("WAR hazard: "));
  // Others would give the same bytes to two queues at a time, and barriers would replace the sync.
  EXPECT_EQ(encode({"--planner=ggml"}, kSideStream).status, 2);
  EXPECT_EQ(encode({"--planner=liveness", "--encoder=interlock"}, kSideStream).status, 2);
}

TEST(EncodeCommand, KeepsTheEndsOfCommandBuffers) {
  const std::string text =
      "interlock 1\nmemory a 64\ndispatch A reads a\nsplit\n"
      "dispatch B writes a\n";
  EXPECT_THAT(encode({"--encoder=interlock"}, text).out,
              HasSubstr("dispatch A reads a\nsplit\nbarrier\ndispatch B writes a\n"));
  EXPECT_THAT(encode({"--encoder=interlock-scoped"}, text).out,
              HasSubstr("split\nbarrier compute -> compute\ndispatch B writes a\n"));
  EXPECT_THAT(encode({"--encoder=mlx-fences"}, text).out,
              HasSubstr("wait s1=1 on q2\ndispatch B writes a on q2\n"));
  EXPECT_EQ(encode({"--encoder=interlock", "--planner=fresh"}, text).status, 2);
}

TEST(EncodeCommand, TakesIndirectDispatchesAndRows) {
  const std::string text =
      "interlock 1\nmemory a 64\nmemory b 64\ndispatch A writes a[0:64 rows 4 pitch 16 width 8]\n"
      "dispatch B reads a[8:64 rows 3 pitch 16 width 8] writes b\ndispatch C indirect b[0:12]\n";
  EXPECT_EQ(
      encode({"--encoder=interlock-scoped"}, text).out,
      "interlock 1\nmemory a 64\nmemory b 64\ndispatch A writes a[0:64 rows 4 pitch 16 width 8]\n"
      "dispatch B reads a[8:64 rows 3 pitch 16 width 8] writes b\n"
      "barrier compute.write -> indirect.read\ndispatch C indirect b[0:12]\n");
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
      run_interlock({"fuzz", "--encoder=mlx-cuda-readers",
                     is_slow_build() ? "--runs=50" : "--runs=300", "--seed=1"});
  EXPECT_EQ(repaired.status, 0) << repaired.err;
}

TEST(FuzzCommand, TriesAnEncoderForSeveralQueuesAloneOrBeforeAPlanner) {
  const CommandResult planned =
      run_interlock({"fuzz", "--encoder=edges", "--planner=liveness", "--runs=20"});
  EXPECT_EQ(planned.status, 0) << planned.err;
  EXPECT_THAT(planned.out, HasSubstr("(planner liveness and encoder edges, seed 1)"));
  const CommandResult behind =
      run_interlock({"fuzz", "--encoder=edges", "--backward=split", "--runs=1"});
  EXPECT_EQ(behind.status, 2);
  EXPECT_THAT(behind.err, HasSubstr("the encoder 'edges' places sync for several queues"));
  const CommandResult counted =
      run_interlock({"fuzz", "--encoder=edges", "--deny-excess", "--runs=1"});
  EXPECT_EQ(counted.status, 2);
  EXPECT_THAT(counted.err, HasSubstr("an encoder for one queue"));
}

TEST(FuzzCommand, JudgesProgramsOfSeveralQueuesAsTheyStand) {
  const CommandResult found =
      run_interlock({"fuzz", "--queues", "--runs=40", "--seed=1", "--max-finds=1"});
  EXPECT_EQ(found.status, 1) << found.err;
  EXPECT_THAT(found.out, HasSubstr("(several queues, as they stand, seed 1)"));
  const CommandResult with_encoder =
      run_interlock({"fuzz", "--queues", "--encoder=interlock", "--runs=1"});
  EXPECT_EQ(with_encoder.status, 2);
  EXPECT_THAT(with_encoder.err, HasSubstr("--queues judges programs with sync of their own"));
}

TEST(ListCommand, NamesEncodersForSeveralQueues) {
  EXPECT_THAT(run_interlock({"list", "encoders"}).out,
              AllOf(HasSubstr("\n  semaphores "), HasSubstr("\n  edges ")));
}

}  // namespace
}  // namespace interlock::queue_encoders_test
