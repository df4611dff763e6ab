// Values of a run, as numbers and as a picture.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/cli/command.h"

namespace interlock::plot_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kHalves = R"(interlock 1
tensor x f32[3] = iota
tensor n i32[3] = iota
tensor y f32[3]
output y
dispatch scale reads x writes y factor=0.5
)";

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(PlotCommand, WritesEachValueAfterTheRun) {
  const CommandResult result =
      run_interlock({"plot", "-", "--tensor=y", "--names=half", "--x-label=step"}, kHalves);
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "step,half\n0,0\n1,0.5\n2,1\n");
}

TEST(PlotCommand, DrawsALineForEachFile) {
  const std::string path = testing::TempDir() + "plot_test.svg";
  const CommandResult result =
      run_interlock({"plot", "-", "--tensor=y", "--names=a<b", "--svg=" + path}, kHalves);
  EXPECT_EQ(result.status, 0);
  // Three points from the left to the right, from the bottom to the top.
  EXPECT_THAT(text_of(path), AllOf(HasSubstr("<path d=\"M64.0,364.0 L380.0,202.0 L696.0,40.0\""),
                                   HasSubstr(">a&lt;b</text>")));
}

TEST(PlotCommand, LeavesRoomAboveTheValues) {
  const std::string path = testing::TempDir() + "plot_room_test.svg";
  run_interlock({"plot", "-", "--tensor=y", "--y-max=2", "--svg=" + path}, kHalves);
  // The highest value is half as high as the axis.
  EXPECT_THAT(text_of(path), HasSubstr("<path d=\"M64.0,364.0 L380.0,283.0 L696.0,202.0\""));
}

TEST(PlotCommand, RejectsWhatItCannotDraw) {
  const CommandResult unknown = run_interlock({"plot", "-", "--tensor=z"}, kHalves);
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("the program has no tensor 'z'."));
  const CommandResult integers = run_interlock({"plot", "-", "--tensor=n"}, kHalves);
  EXPECT_EQ(integers.status, 2);
  EXPECT_THAT(integers.err, HasSubstr("tensor 'n' is i32; only f32 is drawn."));
  const CommandResult names = run_interlock({"plot", "-", "--tensor=y", "--names=a,b"}, kHalves);
  EXPECT_EQ(names.status, 2);
  EXPECT_THAT(names.err, HasSubstr("2 names are given for 1 files."));
}

TEST(PlotCommand, WritesPicturesAndNumbersToStandardOutput) {
  const CommandResult picture = run_interlock({"plot", "-", "--tensor=y", "--svg=-"}, kHalves);
  EXPECT_EQ(picture.status, 0);
  EXPECT_THAT(picture.out, AllOf(testing::StartsWith("<svg"), testing::EndsWith("</svg>\n")));
  const CommandResult numbers = run_interlock({"plot", "-", "--tensor=y", "--csv=-"}, kHalves);
  EXPECT_EQ(numbers.out, "element,-\n0,0\n1,0.5\n2,1\n");
  const CommandResult both =
      run_interlock({"plot", "-", "--tensor=y", "--csv=-", "--svg=-"}, kHalves);
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("--svg and --csv both name standard output"));
}

TEST(PlotCommand, RejectsAnAxisWithoutEnd) {
  for (const char* option : {"--y-max=nan", "--y-max=inf"}) {
    EXPECT_EQ(run_interlock({"plot", "-", "--tensor=y", option}, kHalves).status, 2) << option;
  }
}

}  // namespace
}  // namespace interlock::plot_test
