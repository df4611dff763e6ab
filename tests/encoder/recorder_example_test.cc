// The examples of docs/recording.md, compiled as C99 and as C++, record what the checks then judge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "encoder/recorder.h"
#include "encoder/text/parser.h"
#include "simulator/report/check.h"
#include "simulator/report/report.h"
#include "tests/encoder/recording.h"

namespace interlock::recorder_example_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kExampleC99 = "recorder_example_c99";

// Runs a build of an example. Returns the file that it recorded.
std::string recorded_by(const std::string& name, const std::string& arguments) {
  const std::string path = recording_path("example");
  const std::string executable = std::string(RECORDER_EXAMPLES) + "/" + name;
  EXPECT_EQ(std::system((executable + " " + path + " " + arguments).c_str()), 0) << executable;
  std::string text = content_of(path);
  std::remove(path.c_str());
  return text;
}

std::string report_on(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  const Result<Program> program = parse(text, "step.ilk", options);
  if (!program) return program.error().message;
  return text_report(*program, check(*program), "step.ilk");
}

TEST(RecorderExample, RecordsAProgramWithoutFindings) {
  const std::string text = recorded_by(kExampleC99, "");
  EXPECT_EQ(text,
            "interlock 1\nmemory x 4096\nmemory g 4096\nmemory gb 4096\n"
            "reduce: dispatch Col_reduce_f32 reads g writes gb[0:256]\n"
            "barrier\n"
            "vjp: dispatch Vjp_layer_norm_f32 reads x updates g\n");
  EXPECT_THAT(report_on(text),
              HasSubstr("1 barrier; fewest for this order 1, longest chain 1; no findings."));
}

TEST(RecorderExample, RecordsTheHazardOfAForgottenBarrier) {
  const std::string text = recorded_by(kExampleC99, "forget");
  EXPECT_THAT(
      report_on(text),
      HasSubstr(
          "WAR hazard: vjp (dispatch 1) updates g[0:4096], which reduce (dispatch 0) reads."));
}

TEST(RecorderExample, RecordsTwoStreams) {
  EXPECT_THAT(
      report_on(recorded_by("recorder_streams_example_c99", "")),
      HasSubstr("WAR hazard: copy (dispatch 2) writes input[0:4096], which Forward (dispatch "
                "1) reads."));
  EXPECT_THAT(report_on(recorded_by("recorder_streams_example_c99", "wait")),
              HasSubstr("2 queues; no findings."));
}

TEST(RecorderExample, RecordsTheHost) {
  EXPECT_THAT(
      report_on(recorded_by("recorder_frame_example_c99", "")),
      HasSubstr(
          "RAW hazard: host reads (statement 8) reads result[0:4096], which scale (dispatch 1)"));
  EXPECT_THAT(report_on(recorded_by("recorder_frame_example_c99", "host")),
              HasSubstr("2 accesses of the host, 1 queue; no findings."));
}

TEST(RecorderExample, RecordsTheSameWhenCompiledAsCxx) {
  for (const std::string name :
       {"recorder_example", "recorder_streams_example", "recorder_frame_example"}) {
    for (const char* const arguments : {"", "once"}) {
      EXPECT_EQ(recorded_by(name + "_cxx", arguments), recorded_by(name + "_c99", arguments));
    }
  }
}

TEST(RecorderExample, FailsWhereItCannotWrite) {
  const std::string command =
      std::string(RECORDER_EXAMPLES) + "/" + kExampleC99 + " /dev/full 2>/dev/null";
  EXPECT_NE(std::system(command.c_str()), 0);
}

// Every block of C, and no other.
TEST(RecordingDocument, ShowsTheExamplesThatAreCompiled) {
  std::string document = content_of(INTERLOCK_SOURCE_DIR "/docs/recording.md");
  for (const std::string name :
       {"recorder_example", "recorder_streams_example", "recorder_frame_example"}) {
    const std::string source = content_of(INTERLOCK_SOURCE_DIR "/tests/encoder/" + name + ".c");
    EXPECT_LE(std::count(source.begin(), source.end(), '\n'), 50);
    const std::string block = "```c\n" + source + "```\n";
    const size_t at = document.find(block);
    ASSERT_NE(at, std::string::npos) << name;
    document.erase(at, block.size());
  }
  EXPECT_THAT(document, Not(HasSubstr("```c\n")));
}

TEST(RecordingDocument, SaysWhatARecorderTakes) {
  const std::string document = content_of(INTERLOCK_SOURCE_DIR "/docs/recording.md");
  const auto kib = std::to_string(sizeof(interlock_recorder) >> 10);
  EXPECT_THAT(document, HasSubstr("the recorder takes " + kib + " KiB"));
  // Its times are those of another page.
  EXPECT_THAT(document, Not(HasSubstr(" ns")));
}

}  // namespace
}  // namespace interlock::recorder_example_test
