// A unit test of an encoder, as docs/testing.md and README.md show it.
#include "fuzz/testing/matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/recorder.h"
#include "encoder/sync/encoder.h"
#include "fuzz/testing/conformance.h"
#include "tests/encoder/recording.h"

namespace interlock::testing_example_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A barrier where a dispatch conflicts with one since the last barrier.
class MyEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    if (has_conflict(dispatch)) wait_for_all(sink);
    for (const Access& access : dispatch.accesses) since_.push_back({access, dispatch.atomic_op});
    sink.issue_dispatch(dispatch.id);
  }

  void wait_for_all(CommandSink& sink) override {
    sink.issue_barrier(BarrierKind::kFull);
    since_.clear();
  }

 private:
  struct Earlier {
    Access access;
    AtomicOp atomic_op;
  };

  bool has_conflict(const EncoderDispatch& dispatch) const {
    for (const Access& access : dispatch.accesses) {
      for (const Earlier& earlier : since_) {
        if (conflicts(earlier.access, access, earlier.atomic_op == dispatch.atomic_op)) return true;
      }
    }
    return false;
  }

  std::vector<Earlier> since_;
};

TEST(MyEncoder, OrdersEveryHazard) {
  EXPECT_THAT(encode_with(MyEncoder(), kLayerNormVjp), AllOf(IsHazardFree(), HasFewestBarriers()));
}

TEST(MyEncoder, OrdersAllThatOthersGetWrong) {
  for (const SampleProgram& sample : sample_programs()) {
    EXPECT_THAT(encode_with(MyEncoder(), sample.text), AllOf(IsHazardFree(), HasFewestBarriers()))
        << sample.name << ": " << sample.trap;
  }
}

INTERLOCK_CONFORMANCE(MyEncoder);

// Atomics of one operation may overlap each other and nothing else.
TEST(MyEncoder, OrdersAtomics) {
  EXPECT_THAT(encode_with(MyEncoder(), R"(
memory sum 64
dispatch Add atomics sum atomic=add
dispatch Add atomics sum atomic=add
dispatch Max atomics sum atomic=max
dispatch Use reads sum
)"),
              AllOf(IsHazardFree(), HasBarrierCount(2)));
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
      work += (access.writes_plainly() ? " writes " : " reads ") + given.text_of(access);
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

// A test or a class of this file as it stands here.
std::string source_of(const std::string& first_line, const std::string& end = "\n}\n") {
  const std::string source =
      content_of(INTERLOCK_SOURCE_DIR "/tests/fuzz/testing/testing_example_test.cc");
  const size_t begin = source.find(first_line);
  return source.substr(begin, source.find(end, begin) + end.size() - begin);
}

// What the documents show are tests above.
TEST(TestingDocument, ShowsTheTestsThatAreCompiled) {
  const std::string shown = source_of("TEST(MyEncoder, OrdersEveryHazard)");
  const std::string document = content_of(INTERLOCK_SOURCE_DIR "/docs/testing.md");
  EXPECT_THAT(document, HasSubstr(shown));
  EXPECT_THAT(document, HasSubstr(source_of("class MyEncoder final", "\n};\n")));
  EXPECT_THAT(document, HasSubstr(source_of("TEST(MyEncoder, OrdersAllThatOthersGetWrong)")));
  for (const auto& [language, name] :
       {std::pair("cmake", "CMakeLists.txt"), std::pair("cpp", "my_encoder_test.cc")}) {
    const std::string file =
        content_of(std::string(INTERLOCK_SOURCE_DIR "/docs/examples/encoder_test/") + name);
    EXPECT_THAT(document, HasSubstr(std::string("```") + language + "\n" + file + "```\n")) << name;
  }
  // What the package test does, without its indentation.
  std::string fetched = content_of(INTERLOCK_SOURCE_DIR "/tests/package/CMakeLists.txt");
  fetched = fetched.substr(fetched.find("  include(FetchContent)"));
  fetched = fetched.substr(0, fetched.find("elseif"));
  std::istringstream fetched_lines(fetched);
  for (std::string line; std::getline(fetched_lines, line);) {
    EXPECT_THAT(document, HasSubstr("\n" + line.substr(2) + "\n"));
  }
  EXPECT_THAT(document, HasSubstr(source_of("TEST(MyStreams, OrderEveryHazardWithOneWait)")));
  std::string indented;
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) indented += "    " + line + "\n";
  EXPECT_THAT(content_of(INTERLOCK_SOURCE_DIR "/README.md"), HasSubstr(indented));
}

}  // namespace
}  // namespace interlock::testing_example_test
