// A unit test of an encoder, as docs/testing.md and README.md show it.
#include "fuzz/testing/matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
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
      if (before.memory == access.memory && (before.writes() || access.writes())) return true;
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

TEST(MyEncoder, FailsWithTheReportWhenItForgets) {
  EXPECT_NONFATAL_FAILURE(
      EXPECT_THAT(encode_with("mlx-2024", kLayerNormVjp),
                  AllOf(IsHazardFree(), HasFewestBarriers())),
      "WAR hazard: vjp (dispatch 1) writes g_bytes[0:4096] as gx, which reduce (dispatch 0) reads");
}

// What the documents show is the test above.
TEST(TestingDocument, ShowsTheTestThatIsCompiled) {
  const std::string source =
      content_of(INTERLOCK_SOURCE_DIR "/tests/fuzz/testing/testing_example_test.cc");
  const size_t begin = source.find("TEST(MyEncoder, OrdersEveryHazard)");
  const std::string shown = source.substr(begin, source.find("\n}\n", begin) + 3 - begin);
  EXPECT_THAT(content_of(INTERLOCK_SOURCE_DIR "/docs/testing.md"), HasSubstr(shown));
  std::string indented;
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) indented += "    " + line + "\n";
  EXPECT_THAT(content_of(INTERLOCK_SOURCE_DIR "/README.md"), HasSubstr(indented));
}

}  // namespace
}  // namespace interlock::testing_example_test
