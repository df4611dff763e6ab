// interlock capture with a barrier left out, with synchronization validation beside it, and with
// the places where commands are asked for. Without a Vulkan driver the tests say so and skip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/command.h"

namespace interlock::capture_runs_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

bool has_driver() {
  static const int kStatus = std::system(SAMPLE_APPLICATION " barrier >/dev/null 2>&1");
  return kStatus == 0;
}

class CaptureRuns : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_driver()) GTEST_SKIP() << "there is no Vulkan driver.";
  }

  static CommandResult capture(const std::string& mode, std::vector<std::string> options) {
    options.insert(options.begin(), "capture");
    options.insert(options.end(), {"--", SAMPLE_APPLICATION, mode});
    return run_interlock(options);
  }

  static bool has_validation() {
    return std::filesystem::exists(
        "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json");
  }
};

TEST_F(CaptureRuns, LeaveOneBarrierOut) {
  EXPECT_EQ(capture("barrier", {}).status, 0);
  const std::string file = temporary_path("dropped.ilk");
  const CommandResult result = capture("barrier", {"--drop-barrier=0", "-o", file});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("RAW hazard: s1.b0.c2 (dispatch 1) reads"));
  EXPECT_THAT(result.out, HasSubstr("--drop-barrier=0: this barrier of the application is left "
                                    "out"));
  // The command that decides leaves the same barrier out.
  EXPECT_THAT(result.out, HasSubstr("What is touched decides: interlock capture --exact "
                                    "--drop-barrier=0 -o "));
  EXPECT_EQ(std::system(("head -4 " + file + " | grep -q '# --drop-barrier=0'").c_str()), 0);
  // Of the newer kind of barrier, too.
  EXPECT_EQ(capture("buffer-barrier-2", {"--drop-barrier=0"}).status, 1);
  // One that never came is no verdict.
  const CommandResult beyond = capture("barrier", {"--drop-barrier=1"});
  EXPECT_EQ(beyond.status, 2) << beyond.out << beyond.err;
  EXPECT_THAT(beyond.out, HasSubstr("No verdict: barrier 1 was to be left out, and the last one "
                                    "was 0."));
}

// The image is cleared and copied in the layouts that it is to be in; only nothing orders that.
TEST_F(CaptureRuns, KeepTheChangesOfLayoutOfABarrierThatIsLeftOut) {
  EXPECT_EQ(capture("picture", {}).status, 0);
  for (const char* const number : {"0", "1"}) {
    const std::string file = temporary_path("picture.ilk");
    const CommandResult result =
        capture("picture", {std::string("--drop-barrier=") + number, "-o", file});
    EXPECT_EQ(result.status, 1) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("and that nothing orders now: 1\n"));
    EXPECT_EQ(std::system(("grep -Eq 'n" + std::string(number) +
                           ": barrier none -> none (discards|transitions) ' " + file)
                              .c_str()),
              0)
        << number;
    EXPECT_THAT(result.err, Not(HasSubstr("ended with status")));
  }
}

// The render pass that nothing waits for changes the layout beside the copy after it.
TEST_F(CaptureRuns, FollowPassesOfGraphics) {
  const CommandResult ordered = capture("pass", {});
  EXPECT_EQ(ordered.status, 0) << ordered.out << ordered.err;
  EXPECT_THAT(ordered.out, HasSubstr("  graphics: 1 pass with 1 draw.\n"));
  const CommandResult unordered = capture("unordered-pass", {});
  EXPECT_EQ(unordered.status, 1) << unordered.out << unordered.err;
  EXPECT_THAT(unordered.out, HasSubstr("RAW hazard: s1.b0.c3 "));
  EXPECT_THAT(unordered.err, Not(HasSubstr("ended with status")));
}

TEST_F(CaptureRuns, AgreeWithSynchronizationValidation) {
  if (!has_validation()) GTEST_SKIP() << "there are no validation layers.";
  struct Case {
    const char* mode;
    std::vector<std::string> options;
    const char* agreement;
  };
  const Case cases[] = {
      {"missing", {}, ": both 1, only here 0, only there 0."},
      {"barrier", {}, ": both 0, only here 0, only there 0."},
      {"barrier", {"--drop-barrier=0"}, ": both 1, only here 0, only there 0."},
      {"unordered-copies", {}, ": both 1, only here 0, only there 0."},
      {"unordered-indirect", {}, ": both 1, only here 0, only there 0."},
      {"picture", {"--drop-barrier=1"}, ": both 2, only here 0, only there 0."},
      {"pass", {}, ": both 0, only here 0, only there 0."},
      {"unordered-pass", {}, ": both 1, only here 0, only there 0."},
      {"unordered-submissions", {}, ": both 1, only here 0, only there 0."},
      {"binary", {}, ": both 0, only here 0, only there 0."},
  };
  for (const Case& each : cases) {
    std::vector<std::string> options = each.options;
    options.emplace_back("--syncval");
    const CommandResult result = capture(each.mode, options);
    EXPECT_THAT(result.out, HasSubstr("agreement with Khronos Validation Layer "));
    EXPECT_THAT(result.out, HasSubstr(each.agreement)) << each.mode << "\n" << result.out;
  }
}

// What it does not know is said: the older version takes two submissions that a timeline orders for
// unordered.
TEST_F(CaptureRuns, ExplainWhereSynchronizationValidationDisagrees) {
  if (!has_validation()) GTEST_SKIP() << "there are no validation layers.";
  const CommandResult result = capture("timeline", {"--syncval"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("there is no known reason"))) << result.out;
}

TEST_F(CaptureRuns, KnowThatValidationFollowsNoAddresses) {
  if (!has_validation()) GTEST_SKIP() << "there are no validation layers.";
  const CommandResult result = capture("addresses", {"--syncval"});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("  only here, 1: one of the two commands finds its buffers by "
                                    "their addresses, which it does not follow (whether it "
                                    "finds these so is not checked).\n"));
}

TEST_F(CaptureRuns, KnowThatReadsBetweenTwoWritesHideTheFirstFromValidation) {
  if (!has_validation()) GTEST_SKIP() << "there are no validation layers.";
  const CommandResult result = capture("reads-between", {"--syncval"});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr(": both 0, only here 1, only there 0.\n"
                                    "  only here, 1: it holds a write against the reads since the "
                                    "last write alone, and all of these bytes are read or "
                                    "written again in between.\n"
                                    "    WAW at s1.b0.c4, after s1.b0.c0\n"));
}

// The read is held against the dispatch alone, and the fill before it is forgotten.
TEST_F(CaptureRuns, KnowThatAWriteHidesEarlierOnesFromValidation) {
  if (!has_validation()) GTEST_SKIP() << "there are no validation layers.";
  const CommandResult result = capture("overwritten", {"--syncval"});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out,
              HasSubstr(": both 1, only here 1, only there 0.\n"
                        "  only here, 1: it keeps the last write to each byte and the reads since, "
                        "and all of these bytes are written again in between.\n"
                        "    RAW at s1.b0.c3, after s1.b0.c0\n"));
}

// In place, as a transform does it: of two dispatches that write it tells nothing.
TEST_F(CaptureRuns, KnowThatValidationTellsNoWriteOfADispatchAfterAnother) {
  if (!has_validation()) GTEST_SKIP() << "there are no validation layers.";
  const CommandResult result = capture("in-place", {"--syncval"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("possible WAW hazard after own read: s1.b0.c2 "));
  EXPECT_THAT(result.out,
              HasSubstr(": both 0, only here 1, only there 0.\n"
                        "  only here, 1: of a write of a dispatch after one of another dispatch of "
                        "the same command buffer it tells nothing.\n"));
}

TEST_F(CaptureRuns, SayWhereBothEndsWereAskedFor) {
  const CommandResult result = capture("labels", {"--backtrace"});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out, ContainsRegex("  s1\\.b0\\.c0: sample_application\\+0x[0-9a-f]+.*, below "
                                        "the label 'frame / horizontal'\n"));
  EXPECT_THAT(result.out, ContainsRegex("  s1\\.b0\\.c1: sample_application\\+0x[0-9a-f]+.*, below "
                                        "the label 'frame / vertical'\n"));
  EXPECT_THAT(result.out, ContainsRegex("  s1: sample_application\\+0x[0-9a-f]+.*, below the label "
                                        "'first batch'\n"));
  // Labels are told in any case; places in code only where they are asked for.
  const CommandResult plain = capture("labels", {});
  EXPECT_THAT(plain.out, HasSubstr("  s1.b0.c0: below the label 'frame / horizontal'\n"));
}

TEST_F(CaptureRuns, NameFunctionsWhereTheyAreKnown) {
  if (std::system("addr2line --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "there is no addr2line.";
  }
  const CommandResult result = capture("labels", {"--backtrace"});
  EXPECT_THAT(result.out, HasSubstr("record_labelled"));
}

TEST_F(CaptureRuns, ExecuteNoDispatchOfADryRun) {
  // Its own check finds that nothing was computed.
  const CommandResult result = capture("missing", {"--dry"});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("ended with status 1."));
  EXPECT_THAT(result.out, HasSubstr("--dry: dispatches were recorded, and not executed"));
  EXPECT_THAT(result.out, HasSubstr("RAW hazard: s1.b0.c1 (dispatch 1) reads"));
  EXPECT_EQ(capture("missing", {"--dry", "--syncval"}).status, 2);
}

TEST_F(CaptureRuns, LogWhatTwoThreadsDoAtOnce) {
  const CommandResult result = capture("threads", {"--backtrace"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("100 transfers, 100 barriers, 100 submissions, 1 queue."));
}

// Recordings of others are replayed below the layer.
TEST_F(CaptureRuns, JudgeWhatGfxreconstructRecorded) {
  if (std::system("gfxrecon-replay --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "there is no gfxrecon-replay (Debian's gfxreconstruct).";
  }
  const std::string folder = INTERLOCK_SOURCE_DIR "/tests/capture/gfxrecon/";
  const CommandResult missing =
      run_interlock({"capture", "--", "gfxrecon-replay", folder + "template.gfxr"});
  EXPECT_EQ(missing.status, 1) << missing.out << missing.err;
  EXPECT_THAT(missing.out, HasSubstr("RAW hazard: s1.b0.c1 (dispatch 1) reads"));
  EXPECT_THAT(missing.out, Not(HasSubstr("not understood")));
  const CommandResult clean =
      run_interlock({"capture", "--", "gfxrecon-replay", folder + "picture.gfxr"});
  EXPECT_EQ(clean.status, 0) << clean.out << clean.err;
  EXPECT_THAT(clean.out, HasSubstr("2 transfers, 2 barriers, 1 submission, 1 queue."));
  EXPECT_THAT(clean.out, Not(HasSubstr("not understood")));
  // Without the layer the driver crashes where GFXReconstruct asks what it can do for others.
  const CommandResult filter =
      run_interlock({"capture", "--", "gfxrecon-replay", folder + "ffmpeg.gfxr"});
  EXPECT_EQ(filter.status, 1) << filter.out << filter.err;
  EXPECT_THAT(filter.out, HasSubstr("RAW hazard: s5.b0.c4 (dispatch 33) reads"));
  EXPECT_THAT(filter.out, HasSubstr("; 1 finding.\n"));
  EXPECT_THAT(filter.out, Not(HasSubstr("not understood")));
  // What is recorded can be tried without one of its barriers.
  EXPECT_EQ(run_interlock(
                {"capture", "--drop-barrier=1", "--", "gfxrecon-replay", folder + "picture.gfxr"})
                .status,
            1);
}

TEST_F(CaptureRuns, TellTheApplicationWhatIsNotSoOfTheDevice) {
  // It asks for two families of queues, and ends where there is one.
  EXPECT_EQ(std::system(SAMPLE_APPLICATION " queues >/dev/null 2>&1") >> 8, 4);
  const CommandResult ordered = capture("queues", {"--pretend=queues,integrated"});
  EXPECT_EQ(ordered.status, 0) << ordered.out << ordered.err;
  EXPECT_THAT(ordered.out, HasSubstr("2 submissions, 2 queues."));
  EXPECT_THAT(ordered.out, HasSubstr("--pretend=queues,integrated: "));
  const CommandResult unordered = capture("unordered-queues", {"--pretend=queues,integrated"});
  EXPECT_EQ(unordered.status, 1) << unordered.out << unordered.err;
  EXPECT_THAT(unordered.out, HasSubstr("RAW hazard: s2.b0.c0 (dispatch 1) reads"));
  EXPECT_EQ(capture("queues", {"--pretend=colour"}).status, 2);
}

TEST_F(CaptureRuns, PretendFeaturesAndTakeThemOutAgain) {
  // All features that it is told of are asked for.
  const CommandResult result = capture("all-features", {"--pretend=features"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_NE(std::system(SAMPLE_APPLICATION " all-features >/dev/null 2>&1"), 0);
}

// A log that was kept has all of it; here no driver is needed.
TEST(CaptureRunLogs, SayInTheCorpusWhatWasAgreedOn) {
  const CommandResult log =
      run_interlock({"capture", "--log", INTERLOCK_SOURCE_DIR "/corpus/captured/validated.ilog"});
  EXPECT_EQ(log.status, 1) << log.out << log.err;
  EXPECT_THAT(log.out, HasSubstr("  s1.b0.c1: below the label 'frame / vertical'\n"));
  EXPECT_THAT(log.out,
              HasSubstr("agreement with Khronos Validation Layer 239: both 1, only here 0, "
                        "only there 0.\n"));
}

}  // namespace
}  // namespace interlock::capture_runs_test
