// The example of docs/recording.md, compiled as C99 and as C++, records what the checks then judge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "encoder/text/parser.h"
#include "simulator/report/check.h"
#include "simulator/report/report.h"
#include "tests/encoder/recording.h"

namespace interlock::recorder_example_test {
namespace {

using testing::HasSubstr;

// Runs a build of the example. Returns the file that it recorded.
std::string recorded_by(const std::string& executable, const std::string& arguments) {
  const std::string path = recording_path("example");
  EXPECT_EQ(std::system((executable + " " + path + " " + arguments).c_str()), 0) << executable;
  std::string text = content_of(path);
  std::remove(path.c_str());
  return text;
}

std::string report_on(const std::string& text) {
  const Result<Program> program = parse(text);
  if (!program) return program.error().message;
  return text_report(*program, check(*program), "step.ilk");
}

TEST(RecorderExample, RecordsAProgramWithoutFindings) {
  const std::string text = recorded_by(RECORDER_EXAMPLE_C99, "");
  EXPECT_EQ(text,
            "interlock 1\nmemory x 4096\nmemory g 4096\nmemory gb 4096\n"
            "reduce: dispatch Col_reduce_f32 reads g writes gb[0:256]\n"
            "barrier\n"
            "vjp: dispatch Vjp_layer_norm_f32 reads x updates g\n");
  EXPECT_THAT(report_on(text),
              HasSubstr("1 barrier; fewest for this order 1, longest chain 1; no findings."));
}

TEST(RecorderExample, RecordsTheHazardOfAForgottenBarrier) {
  const std::string text = recorded_by(RECORDER_EXAMPLE_C99, "forget");
  EXPECT_THAT(
      report_on(text),
      HasSubstr(
          "WAR hazard: vjp (dispatch 1) updates g[0:4096], which reduce (dispatch 0) reads."));
}

TEST(RecorderExample, RecordsTheSameWhenCompiledAsCxx) {
  for (const char* const arguments : {"", "forget"}) {
    EXPECT_EQ(recorded_by(RECORDER_EXAMPLE_CXX, arguments),
              recorded_by(RECORDER_EXAMPLE_C99, arguments));
  }
}

TEST(RecorderExample, FailsWhereItCannotWrite) {
  const std::string command = std::string(RECORDER_EXAMPLE_C99) + " /dev/full 2>/dev/null";
  EXPECT_NE(std::system(command.c_str()), 0);
}

TEST(RecordingDocument, ShowsTheExampleThatIsCompiled) {
  const std::string source = content_of(INTERLOCK_SOURCE_DIR "/tests/encoder/recorder_example.c");
  ASSERT_NE(source, "");
  EXPECT_LE(std::count(source.begin(), source.end(), '\n'), 40);
  EXPECT_THAT(content_of(INTERLOCK_SOURCE_DIR "/docs/recording.md"),
              HasSubstr("```c\n" + source + "```\n"));
}

}  // namespace
}  // namespace interlock::recorder_example_test
