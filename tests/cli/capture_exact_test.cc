// interlock capture --exact: an application whose shaders note what they touch. Each pair of
// dispatches that touch other parts of the same bindings stands beside one that shares a part.
// Without a Vulkan driver the tests say so and skip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/cli/command.h"

namespace interlock::capture_exact_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class CaptureExact : public testing::Test {
 protected:
  void SetUp() override {
    // As it is without us.
    static const int kStatus = std::system(EXACT_APPLICATION " halves-same >/dev/null 2>&1");
    if (kStatus != 0) GTEST_SKIP() << "there is no Vulkan driver.";
  }

  static CommandResult capture(const std::string& mode, std::vector<std::string> options) {
    options.insert(options.begin(), "capture");
    options.insert(options.end(), {"--", EXACT_APPLICATION, mode});
    const CommandResult result = run_interlock(options);
    // The application looks at its results.
    EXPECT_THAT(result.err, Not(HasSubstr("ended with status"))) << mode;
    return result;
  }
};

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(CaptureExact, IsCleanWhereDispatchesTouchOtherParts) {
  for (const char* const mode :
       {"halves-apart", "fields-apart", "atomics-apart", "texels-apart", "elements-apart"}) {
    const CommandResult bounded = capture(mode, {});
    EXPECT_EQ(bounded.status, 1) << mode << "\n" << bounded.out;
    EXPECT_THAT(bounded.out, HasSubstr("possible ")) << mode;
    EXPECT_THAT(bounded.out, HasSubstr("\nWhat is touched decides: interlock capture --exact -- " +
                                       std::string(EXACT_APPLICATION) + " " + mode + "\n"));
    // Nothing can be measured where nothing is executed.
    const CommandResult dry = run_interlock({"capture", "--dry", "--", EXACT_APPLICATION, mode});
    EXPECT_THAT(dry.out, Not(HasSubstr("What is touched decides"))) << mode;
    const CommandResult exact = capture(mode, {"--exact"});
    EXPECT_EQ(exact.status, 0) << mode << "\n" << exact.out << exact.err;
    EXPECT_THAT(exact.out, HasSubstr("no findings")) << mode;
    EXPECT_THAT(exact.out, HasSubstr("  exact: 2 of 2 dispatches with the ranges")) << mode;
    EXPECT_THAT(exact.out, Not(HasSubstr("approximate"))) << mode;
  }
}

TEST_F(CaptureExact, IsCertainWhereDispatchesShareAPart) {
  for (const char* const mode :
       {"halves-same", "fields-same", "atomics-same", "texels-same", "elements-same"}) {
    const std::string file = temporary_path(std::string(mode) + ".ilk");
    const CommandResult exact = capture(mode, {"--exact", "-o", file});
    EXPECT_EQ(exact.status, 1) << mode << "\n" << exact.out << exact.err;
    EXPECT_THAT(exact.out, Not(HasSubstr("possible"))) << mode;
    EXPECT_THAT(exact.out, HasSubstr("; 1 finding.")) << mode;
    // So the file says, too, without a word more.
    EXPECT_EQ(run_interlock({"check", file}).status, 1) << mode;
  }
}

TEST_F(CaptureExact, WritesTheBytesThatWereTouched) {
  const auto program_of = [](const std::string& mode) {
    const std::string file = temporary_path("bytes.ilk");
    EXPECT_NE(capture(mode, {"--exact", "-o", file}).status, 2) << mode;
    return text_of_file(file);
  };
  // Memory 1 is that of lists[0], 2 of lists[1], 3 of the cells, 4 of the numbers, 5 of the
  // picture.
  const std::string halves = program_of("halves-same");
  EXPECT_THAT(halves, HasSubstr("uniform m4[24:28] writes m1[0:512]\n"));
  EXPECT_THAT(halves, HasSubstr("reads m1[256:768] writes m2[256:768]\n"));
  const std::string fields = program_of("fields-same");
  EXPECT_THAT(fields, HasSubstr("writes m3[8:616 rows 16 pitch 40 width 8]\n"));
  EXPECT_THAT(fields, HasSubstr("reads m3[12:616 rows 16 pitch 40 width 4] writes m2[0:64]\n"));
  const std::string atomics = program_of("atomics-same");
  EXPECT_THAT(atomics, HasSubstr("updates m1[0:4]\n"));
  const std::string texels = program_of("texels-same");
  EXPECT_THAT(texels, HasSubstr("writes m5[0:128]\n"));
  EXPECT_THAT(texels, HasSubstr("reads m5[96:224] writes m2[96:224]\n"));
  const std::string elements = program_of("elements-same");
  EXPECT_THAT(elements, HasSubstr("writes m1[0:508 rows 64 pitch 8 width 4] "
                                  "m2[4:512 rows 64 pitch 8 width 4]\n"));
}

TEST_F(CaptureExact, ClampsToTheBindingAndHasNoVerdict) {
  const CommandResult result = capture("past-the-end", {"--exact"});
  EXPECT_EQ(result.status, 2) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("No verdict: hazards may hide in what was not understood: a "
                                    "binding that was reached past its end"));
}

// The same words again in the second submission; and bounds where two of them run at once.
TEST_F(CaptureExact, ReadsEachSubmissionByItself) {
  const CommandResult twice = capture("twice", {"--exact"});
  EXPECT_THAT(twice.out, HasSubstr("  exact: 4 of 4 dispatches")) << twice.err;
  EXPECT_THAT(twice.out, Not(HasSubstr("s2.b0.c1 (dispatch 3) reads")));
  const CommandResult at_once = capture("at-once", {"--exact"});
  EXPECT_THAT(at_once.out, HasSubstr(" of 4 dispatches with the ranges")) << at_once.err;
  EXPECT_EQ(at_once.status, 1);
  EXPECT_THAT(at_once.out, HasSubstr("WAW hazard"));
  const CommandResult together = capture("together", {"--exact"});
  EXPECT_THAT(together.out, HasSubstr("  exact: 0 of 4 dispatches")) << together.err;
  EXPECT_EQ(together.status, 1);
  const CommandResult secondary = capture("secondary", {"--exact"});
  EXPECT_EQ(secondary.status, 0) << secondary.out << secondary.err;
  EXPECT_THAT(secondary.out, HasSubstr("  exact: 2 of 2 dispatches"));
}

TEST_F(CaptureExact, BindsBesideSetsOfOtherLayouts) {
  const CommandResult result = capture("between-others", {"--exact"});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("  exact: 4 of 4 dispatches"));
  EXPECT_THAT(result.out, Not(HasSubstr("not understood")));
}

TEST_F(CaptureExact, LeavesAShaderAsItIsWhoseLayoutIsFull) {
  const CommandResult result = capture("full", {"--exact"});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("  a shader as it is: the device allows its layout no buffer more: 1\n"));
  EXPECT_THAT(result.out, HasSubstr("  exact: 0 of 2 dispatches"));
}

TEST(CaptureExactCommand, MeasuresNothingInALog) {
  const CommandResult result = run_interlock({"capture", "--exact", "--log", "x.ilog"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--exact measures while a command runs"));
}

TEST(CaptureExactCommand, TakesNoOptionOfARunWithALog) {
  for (const char* const each :
       {"--drop-barrier=1", "--dry", "--backtrace", "--syncval", "--pretend=queues"}) {
    const std::string option = each;
    const CommandResult result = run_interlock({"capture", option, "--log", "x.ilog"});
    EXPECT_EQ(result.status, 2) << option;
    EXPECT_THAT(result.err, HasSubstr(option.substr(0, option.find('=')) +
                                      " is about the run of a command: a log has what it has."));
  }
}

TEST(CaptureExactCommand, GoesNotWithSynchronizationValidation) {
  const CommandResult result = run_interlock({"capture", "--exact", "--syncval", "--", "true"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--syncval would look at what --exact adds: run one after the "
                                    "other."));
}

}  // namespace
}  // namespace interlock::capture_exact_test
