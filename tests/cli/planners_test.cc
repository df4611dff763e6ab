// Planners on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/cli/command.h"
#include "tests/program_count.h"

namespace interlock::planners_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kStep = R"(interlock 1
tensor x f32[4] = random(1)
tensor h f32[4]
tensor y f32[4]
output y
dispatch K reads x writes h
barrier
dispatch K reads h writes y
)";

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(EncodeCommand, PlacesTensorsAndKeepsTheSync) {
  const CommandResult result = run_interlock({"encode", "-", "--planner=fresh"}, kStep);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("memory pool 96\n"), HasSubstr("writes h\nbarrier\n")));
}

TEST(EncodeCommand, PlacesSyncBehindThePlan) {
  const CommandResult planned =
      run_interlock({"encode", "-", "--planner=liveness", "--encoder=none"}, kStep);
  EXPECT_THAT(planned.out, AllOf(HasSubstr("memory pool 32\n"), HasSubstr("writes h\ndispatch")));
  const CommandResult encoded =
      run_interlock({"encode", "-", "--planner=liveness", "--encoder=interlock"}, planned.out);
  EXPECT_EQ(run_interlock({"check", "-"}, encoded.out).status, 0);
}

TEST(EncodeCommand, NamesTheListOfPlanners) {
  const CommandResult result = run_interlock({"encode", "-", "--planner=best"}, kStep);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("there is no planner 'best'. `interlock list planners`"));
}

TEST(ListCommand, SaysWhichPlannersAreBroken) {
  const CommandResult result = run_interlock({"list", "planners"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("\n  liveness             ours:"),
                                HasSubstr("\n  ztensor-167          broken: ")));
}

// The picture and the numbers of docs/planners.md, as its command makes them.
TEST(PlanCommand, DrawsTheCurveThatTheDocumentShows) {
  if (is_slow_build()) GTEST_SKIP() << "Four large streams are planned.";
  const std::string svg = temporary_file("curve.svg", "");
  const std::string csv = temporary_file("curve.csv", "");
  const std::string root = INTERLOCK_SOURCE_DIR "/";
  const std::string streams = root + "corpus/streams/ggml-";
  const CommandResult result = run_interlock(
      {"plan", streams + "llama24-metal.ilk", streams + "llama24kv-metal.ilk",
       streams + "train-metal-4.ilk", streams + "train-metal-30.ilk", "--unplan=compute",
       "--no-opaque-in-place", "--curve=" + svg, "--data=" + csv});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("  liveness                    3988256       +0.0 %"));
  EXPECT_THAT(text_of(svg), StartsWith("<svg "));
  EXPECT_EQ(text_of(svg), text_of(root + "docs/plan-curve.svg"));
  EXPECT_EQ(text_of(csv), text_of(root + "docs/plan-curve.csv"));
}

TEST(FuzzCommand, ConvictsABrokenPlannerAndNoOther) {
  const CommandResult broken = run_interlock({"fuzz", "--planner=ztensor-167", "--runs=100"});
  EXPECT_EQ(broken.status, 1);
  EXPECT_THAT(broken.out, HasSubstr("(planner ztensor-167, seed 1)"));
  const CommandResult right = run_interlock({"fuzz", "--planner=ztensor", "--runs=100"});
  EXPECT_EQ(right.status, 0) << right.out;
  EXPECT_THAT(right.out, HasSubstr("; 0 with findings, 0 distinct (planner ztensor, seed 1)."));
}

TEST(FuzzCommand, TriesPlannersOnSeveralQueues) {
  const CommandResult broken =
      run_interlock({"fuzz", "--planner=stream-pool-unrecorded", "--runs=100"});
  EXPECT_EQ(broken.status, 1) << broken.err;
  EXPECT_THAT(broken.out, HasSubstr(", 1 distinct (planner stream-pool-unrecorded, seed 1)"));
  for (const char* planner : {"--planner=stream-pool", "--planner=liveness"}) {
    const CommandResult right = run_interlock({"fuzz", planner, "--queues", "--runs=100"});
    EXPECT_EQ(right.status, 0) << right.out << right.err;
  }
}

TEST(FuzzCommand, RefusesPlannersThatAreNotThereAndDevicesBesideThem) {
  const CommandResult events =
      run_interlock({"fuzz", "--planner=liveness", "--encoder=events", "--runs=1"});
  EXPECT_EQ(events.status, 2) << events.out;
  EXPECT_THAT(events.err, HasSubstr("the encoder 'events' has one queue"));
  const CommandResult of_one = run_interlock(
      {"fuzz", "--planner=stream-pool-unrecorded", "--encoder=interlock", "--runs=1"});
  EXPECT_EQ(of_one.status, 2) << of_one.out;
  EXPECT_THAT(of_one.err, HasSubstr("is wrong on several queues alone, and with these passes"));
  for (const char* queues : {"--queues", "--encoder=semaphores"}) {
    const CommandResult of_several = run_interlock({"fuzz", "--planner=ggml", queues, "--runs=1"});
    EXPECT_EQ(of_several.status, 2) << of_several.out;
    EXPECT_THAT(of_several.err, HasSubstr("the planner 'ggml' plans programs of one queue"));
  }
  const CommandResult unknown = run_interlock({"fuzz", "--planner=best", "--runs=1"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("there is no planner 'best'. `interlock list planners`"));
  const CommandResult device =
      run_interlock({"fuzz", "--planner=arena", "--backend=vulkan", "--runs=1"});
  EXPECT_EQ(device.status, 2);
  EXPECT_THAT(device.err, HasSubstr("Give one of them."));
}

TEST(EncodeCommand, RefusesOptionsThatMeanNothing) {
  for (const char* option : {"--slack=10", "--antichain", "--align=64", "--region=4"}) {
    const CommandResult result = run_interlock({"encode", "-", option}, kStep);
    EXPECT_EQ(result.status, 2) << option;
    EXPECT_THAT(result.err, HasSubstr(" is for planners; give a --planner, too."));
  }
  for (const char* option : {"--slack=10", "--antichain", "--region=4"}) {
    const CommandResult result = run_interlock({"encode", "-", "--planner=fresh", option}, kStep);
    EXPECT_EQ(result.status, 2) << option;
    EXPECT_THAT(result.err, HasSubstr(" means nothing to the planner 'fresh';"));
  }
  EXPECT_EQ(run_interlock({"encode", "-", "--planner=liveness", "--antichain"}, kStep).status, 0);
  EXPECT_EQ(run_interlock({"encode", "-", "--planner=ztensor", "--region=4"}, kStep).status, 0);
  EXPECT_EQ(run_interlock({"encode", "-", "--planner=fresh", "--align=64"}, kStep).status, 0);
}

TEST(FuzzCommand, CountsExcessBarriersOfEncodersOnly) {
  for (const char* pass : {"--planner=fresh", "--backward=split", "--replay=pytorch"}) {
    const CommandResult result =
        run_interlock({"fuzz", pass, "--encoder=serial", "--deny-excess", "--runs=1"});
    EXPECT_EQ(result.status, 2) << pass;
    EXPECT_THAT(result.err, HasSubstr("--deny-excess counts the barriers of an encoder"));
  }
}

TEST(FuzzCommand, LeavesFilesOfOthersAlone) {
  const std::string folder = testing::TempDir() + "finds_of_others";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string theirs = folder + "/lifetime-replay.ilk";
  std::ofstream(theirs) << "interlock 1\n# Mine.\n";
  for (const char* seed : {"--seed=1", "--seed=1", "--seed=2"}) {
    const CommandResult result = run_interlock(
        {"fuzz", "--replay=pytorch-181723", seed, "--runs=50", "--max-finds=1", "--out=" + folder});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.out, HasSubstr("interlock check " + folder + "/lifetime-replay.2.ilk\n"));
  }
  EXPECT_EQ(text_of(theirs), "interlock 1\n# Mine.\n");
  EXPECT_FALSE(std::filesystem::exists(folder + "/lifetime-replay.3.ilk"));
}

}  // namespace
}  // namespace interlock::planners_test
