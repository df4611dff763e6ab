// interlock capture of calls that few applications make, each with all that orders it and without
// one dependency; and of what the command does with a capture. Without a Vulkan driver the tests
// say so and skip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/command.h"

namespace interlock::capture_calls_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class CaptureCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system(SAMPLE_APPLICATION " barrier >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "there is no Vulkan driver.";
    }
  }

  static CommandResult capture(const std::string& mode, std::vector<std::string> options = {}) {
    options.insert(options.begin(), "capture");
    options.insert(options.end(), {"--", SAMPLE_APPLICATION, mode});
    return run_interlock(options);
  }
};

TEST_F(CaptureCalls, AreJudgedAsTheyAre) {
  const std::pair<const char*, const char*> kFound[] = {
      {"events", "RAW hazard: s1.b0.c3 (dispatch 1) reads"},
      {"newer-events", "RAW hazard: s1.b0.c3 (dispatch 1) reads"},
      {"event-twice", "RAW hazard: s1.b0.c4 (dispatch 2) reads"},
      {"newer", "RAW hazard: s1.b0.c3 (dispatch 2) reads"},
      {"pushed", "RAW hazard: s1.b0.c1 (dispatch 1) reads"},
      {"simultaneous", "WAW hazard: s2.b0.c0 (dispatch 1) writes"},
      {"blit", "RAW hazard: s1.b0.c5 (dispatch 2) reads"},
      {"resolve", "RAW hazard: s1.b0.c5 (dispatch 2) reads"},
  };
  for (const auto& [name, found] : kFound) {
    const CommandResult ordered = capture(std::string("calls:") + name);
    EXPECT_EQ(ordered.status, 0) << name << "\n" << ordered.out << ordered.err;
    EXPECT_THAT(ordered.out, HasSubstr("no findings")) << name;
    EXPECT_THAT(ordered.out, Not(HasSubstr("not understood"))) << name;
    const CommandResult unordered = capture(std::string("unordered-calls:") + name);
    EXPECT_EQ(unordered.status, 1) << name << "\n" << unordered.out << unordered.err;
    EXPECT_THAT(unordered.out, HasSubstr(found)) << name;
    EXPECT_THAT(unordered.out, HasSubstr("; 1 finding.\n")) << name;
    EXPECT_THAT(unordered.err, Not(HasSubstr("ended with status"))) << name;
  }
}

// The driver has no families that are made up.
TEST_F(CaptureCalls, ReachADriverOfOneFamily) {
  for (const char* const name : {"events", "newer-events"}) {
    const CommandResult result = capture(std::string("calls:") + name, {"--pretend=queues"});
    EXPECT_EQ(result.status, 0) << name << "\n" << result.out << result.err;
  }
}

TEST_F(CaptureCalls, AreNotBegunWhereTheirProgramCannotBeWritten) {
  for (const char* const option : {"-o", "--keep-log"}) {
    const CommandResult result = run_interlock(
        {"capture", option, "/no/such/folder/a.ilk", "--", "touch", temporary_path("begun")});
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err,
                HasSubstr("cannot write '/no/such/folder/a.ilk': No such file or directory."));
    EXPECT_FALSE(std::filesystem::exists(temporary_path("begun")));
  }
  // The folder goes while the application runs.
  const std::string folder = temporary_path("gone");
  std::filesystem::create_directory(folder);
  const CommandResult gone =
      run_interlock({"capture", "-o", folder + "/a.ilk", "--", "bash", "-c",
                     "rmdir " + folder + "; exec " SAMPLE_APPLICATION " missing"});
  EXPECT_EQ(gone.status, 2) << gone.out << gone.err;
  EXPECT_THAT(gone.out, HasSubstr("RAW hazard: s1.b0.c1 (dispatch 1) reads"));
  EXPECT_THAT(gone.err, HasSubstr(folder + "/a.ilk"));
}

// The host reads what is mapped and coherent after the fence, and makes no call.
TEST_F(CaptureCalls, OfTheHostAreNoAdviceWhereItReadsUnseen) {
  const std::string file = temporary_path("waits.ilk");
  const CommandResult result = capture("barrier", {"-o", file});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("redundant")));
  EXPECT_THAT(result.out, HasSubstr("2 pieces of sync stand after the last dispatch of their "
                                    "queues: for what comes after this text, and no advice.\n"));
}

// The last barrier of the application stands after its last transfer.
TEST_F(CaptureCalls, SayHowManyOfTheBarriersDo) {
  EXPECT_THAT(capture("barrier").out, HasSubstr("\nbarriers: 1; each is needed.\n"));
  const std::string file = temporary_path("many.ilk");
  constexpr const char* kAllButTheLast = "\nbarriers: 999; each is needed.\n";
  EXPECT_THAT(capture("many", {"-o", file}).out, HasSubstr(kAllButTheLast));
  EXPECT_THAT(run_interlock({"check", "--advice", file}).out, HasSubstr(kAllButTheLast));
  // Those that come with a pass of graphics are none of them.
  const CommandResult pass = capture("pass", {"-o", file});
  EXPECT_THAT(pass.out, Not(HasSubstr("\nbarriers: ")));
  EXPECT_THAT(run_interlock({"check", "--advice", "--possible", file}).out,
              HasSubstr("\nbarriers: "));
}

// It is for what the host reads, which makes no call.
TEST_F(CaptureCalls, ThatNameTheHostAreNoAdviceWhereItReadsUnseen) {
  const CommandResult result = capture("host-barrier");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("redundant")));
  EXPECT_THAT(result.out, HasSubstr("3 pieces of sync stand after the last dispatch of their "
                                    "queues: for what comes after this text, and no advice.\n"));
  EXPECT_THAT(result.out, HasSubstr("\nbarriers: 1; each is needed.\n"));
}

TEST_F(CaptureCalls, CountHazardsAfterOwnReadsWhereAskedTo) {
  const CommandResult told = capture("in-place");
  EXPECT_EQ(told.status, 0) << told.out << told.err;
  EXPECT_THAT(told.out, HasSubstr("--deny=own-read counts"));
  EXPECT_EQ(capture("in-place", {"--deny=own-read"}).status, 1);
}

TEST_F(CaptureCalls, AreToldUpToALimit) {
  const std::string kept = temporary_path("frames-limit.ilog");
  const CommandResult all = capture("frames", {"--keep-log", kept});
  EXPECT_THAT(all.out, HasSubstr("RAW hazard: s4.b0.c1 "));
  const CommandResult one = run_interlock({"capture", "--max-findings=1", "--log", kept});
  EXPECT_EQ(one.status, 1);
  EXPECT_THAT(one.out, HasSubstr("RAW hazard: s1.b0.c1 "));
  EXPECT_THAT(one.out, Not(HasSubstr("RAW hazard: s4.b0.c1 ")));
  EXPECT_THAT(one.out, HasSubstr("… and 1 more finding.\n"));
  EXPECT_THAT(one.out, HasSubstr("(--max-findings=0 prints them all.)"));
}

// A copy of two regions lacks one barrier.
TEST_F(CaptureCalls, AreToldOnceForEachPairOfThem) {
  const CommandResult result = capture("unordered-copies");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("RAW hazard: s1.b0.c3.r0 "));
  EXPECT_THAT(result.out, Not(HasSubstr("RAW hazard: s1.b0.c3.r1 ")));
  EXPECT_THAT(result.out, HasSubstr("2 findings are between 1 pair of commands, each told once."));
  const CommandResult all = capture("unordered-copies", {"--max-findings=0"});
  EXPECT_THAT(all.out, HasSubstr("RAW hazard: s1.b0.c3.r1 "));
}

TEST_F(CaptureCalls, AreNotRepairedWhereTheyAreOnlyPossible) {
  const std::string file = temporary_path("possible.ilk");
  EXPECT_EQ(capture("missing", {"-o", file}).status, 1);
  const CommandResult fixed = run_interlock({"fix", file});
  EXPECT_THAT(fixed.err, HasSubstr("No certain hazard, and 1 is only possible: `check --possible` "
                                   "tells it."));
}

}  // namespace
}  // namespace interlock::capture_calls_test
