// A unit test of an encoder, as docs/testing.md and README.md show it.
#include "fuzz/testing/matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/recorder.h"
#include "encoder/sync/encoder.h"
#include "tests/encoder/recording.h"

namespace interlock::testing_example_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A barrier where a memory was accessed since the last one and one of both writes.
class MyEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    for (const Access& access : dispatch.accesses) {
      if (!has_conflict(access)) continue;
      sink.issue_barrier(BarrierKind::kFull);
      since_.clear();
      break;
    }
    since_.insert(since_.end(), dispatch.accesses.begin(), dispatch.accesses.end());
    sink.issue_dispatch(dispatch.id);
  }

 private:
  bool has_conflict(const Access& access) const {
    for (const Access& before : since_) {
      if (before.memory == access.memory && (before.has_write_side() || access.has_write_side()))
        return true;
    }
    return false;
  }

  std::vector<Access> since_;
};

TEST(MyEncoder, OrdersEveryHazard) {
  EXPECT_THAT(encode_with(MyEncoder(), kLayerNormVjp), AllOf(IsHazardFree(), HasFewestBarriers()));
}

// As the recorder's calls stand in a runtime.
void record_a_step(const std::string& path) {
  interlock_recorder* const r = interlock_recorder_open(path.c_str());
  const interlock_memory x = interlock_recorder_memory(r, "x", 0, 64, 0);
  for (int i = 0; i < 2; ++i) {
    if (i > 0) interlock_recorder_barrier(r, nullptr);
    interlock_recorder_dispatch(r, "scale", nullptr);
    interlock_recorder_access(r, INTERLOCK_UPDATE, x, 0, 64);
    interlock_recorder_end(r);
  }
  EXPECT_EQ(interlock_recorder_close(r), INTERLOCK_OK);
}

TEST(MyRuntime, RecordsAStepWithoutHazards) {
  const std::string path = recording_path("step");
  record_a_step(path);
  EXPECT_THAT(program_in(path), AllOf(IsHazardFree(), HasNoUselessSync()));
  std::remove(path.c_str());
}

constexpr std::string_view kUploadAndUse = R"(
memory a 64
memory b 64
upload: dispatch Upload writes a
use: dispatch Use reads a writes b
)";

// Each dispatch on a stream of its own, which waits for the one before.
std::string my_streams(std::string_view text) {
  const Program given = program_of(text);
  std::string streams = "memory a 64\nmemory b 64\n";
  std::string work;
  for (size_t i = 0; i < given.dispatches.size(); ++i) {
    const std::string stream = "stream" + std::to_string(i);
    const Dispatch& dispatch = given.dispatches[i];
    streams += stream + ": queue serial\n";
    if (i > 0) work += "wait done=" + std::to_string(i) + " on " + stream + "\n";
    work += "dispatch " + std::string(given.name(dispatch.kernel_name));
    for (const Access& access : given.accesses_of(dispatch)) {
      work += (access.has_write_side() ? " writes " : " reads ") + given.text_of(access);
    }
    work += " on " + stream + "\n";
    if (i + 1 < given.dispatches.size()) {
      work += "signal done=" + std::to_string(i + 1) + " on " + stream + "\n";
    }
  }
  return streams + work;
}

TEST(MyStreams, OrderEveryHazardWithOneWait) {
  EXPECT_THAT(my_streams(kUploadAndUse),
              AllOf(IsHazardFree(), HasWaitCount(1), HasNoUselessSync()));
}

TEST(MyEncoder, FailsWithTheReportWhenItForgets) {
  EXPECT_NONFATAL_FAILURE(
      EXPECT_THAT(encode_with("mlx-2024", kLayerNormVjp),
                  AllOf(IsHazardFree(), HasFewestBarriers())),
      "WAR hazard: vjp (dispatch 1) writes g_bytes[0:4096] as gx, which reduce (dispatch 0) reads");
}

// A test of this file as it stands here.
std::string source_of(const std::string& first_line) {
  const std::string source =
      content_of(INTERLOCK_SOURCE_DIR "/tests/fuzz/testing/testing_example_test.cc");
  const size_t begin = source.find(first_line);
  return source.substr(begin, source.find("\n}\n", begin) + 3 - begin);
}

// What the documents show are tests above.
TEST(TestingDocument, ShowsTheTestsThatAreCompiled) {
  const std::string shown = source_of("TEST(MyEncoder, OrdersEveryHazard)");
  const std::string document = content_of(INTERLOCK_SOURCE_DIR "/docs/testing.md");
  EXPECT_THAT(document, HasSubstr(shown));
  EXPECT_THAT(document, HasSubstr(source_of("TEST(MyStreams, OrderEveryHazardWithOneWait)")));
  std::string indented;
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) indented += "    " + line + "\n";
  EXPECT_THAT(content_of(INTERLOCK_SOURCE_DIR "/README.md"), HasSubstr(indented));
}

}  // namespace
}  // namespace interlock::testing_example_test
