// The streaming VJPs: right in place where their contract says so, and wrong on every run where it
// does not. ggml's soft_max_back and rms_norm_back stream so, and its allocator takes them for safe
// in place: with the output of soft_max_back on the softmax, the largest error is 0.94 instead of
// 2.8e-9.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "backends/float64/kernel_oracles.h"
#include "encoder/plan/planner.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/report/check.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::streaming_kernels_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Gt;
using testing::IsEmpty;
using testing::Lt;

constexpr uint64_t kRows = 3;
constexpr uint64_t kCols = 70;

// A softmax and its VJP, with gx in memory `home`.
Program softmax_step(const std::string& kernel, const std::string& home) {
  return parsed(
      "interlock 1\nmemory x_bytes 840\nmemory y_bytes 840\nmemory g_bytes 840\nmemory own 840\n"
      "tensor x f32[3,70] at x_bytes+0 = random(1)\ntensor y f32[3,70] at y_bytes+0\n"
      "tensor g f32[3,70] at g_bytes+0 = random(2)\ntensor gx f32[3,70] at " +
      home + "+0\ndispatch softmax reads x writes y\nbarrier\ndispatch " + kernel +
      " reads y g writes gx\n");
}

std::vector<float> gx_of(const Program& program) {
  return values_of(program, image_after(program, reference_order_schedule(program)), "gx");
}

// The largest error of each row of gx in `home`, against float64.
std::vector<double> errors_of(const std::string& kernel, const std::string& home) {
  const Program apart = softmax_step(kernel, "own");
  const MemoryImage image = image_after(apart, reference_order_schedule(apart));
  OracleCase c{{}, {kRows, kCols, 1}, {}, kIeeeArithmetic};
  for (const char* input : {"y", "g"}) {
    const std::vector<float> values = values_of(apart, image, input);
    c.inputs.emplace_back(values.begin(), values.end());
  }
  const OracleTensor right = find_kernel_oracle("softmax_vjp")(c)[0];
  const std::vector<float> gx = gx_of(softmax_step(kernel, home));
  std::vector<double> errors(kRows);
  for (size_t i = 0; i < gx.size(); ++i) {
    errors[i / kCols] = std::max(errors[i / kCols], std::fabs(gx[i] - right[i].value));
  }
  return errors;
}

TEST(SoftmaxVjpStream, IsRightApartAndOnTheCotangent) {
  EXPECT_THAT(errors_of("softmax_vjp_stream", "own"), Each(Lt(1e-8)));
  EXPECT_THAT(errors_of("softmax_vjp_stream", "g_bytes"), Each(Lt(1e-8)));
  EXPECT_EQ(gx_of(softmax_step("softmax_vjp_stream", "g_bytes")),
            gx_of(softmax_step("softmax_vjp_stream", "own")));
}

TEST(SoftmaxVjpStream, IsFarOffOnTheSoftmaxWhereTheOtherBodyIsRight) {
  EXPECT_THAT(errors_of("softmax_vjp_stream", "y_bytes"), Each(Gt(0.7)));
  EXPECT_THAT(errors_of("softmax_vjp", "y_bytes"), Each(Lt(1e-8)));
}

// What is left of y when it is multiplied by is g - sum: so the result is a square.
TEST(SoftmaxVjpStream, IsWrongInTheSameWayInEveryOrderOfSlices) {
  const KernelCase c{"softmax_vjp_stream", 5, 41};
  const Program program = program_of(c, {{"gx", {"y", 0}}});
  const MemoryImage image = image_after(program, reference_order_schedule(program));
  for (const auto& slices : {descending_slices(program), shuffled_slices(program, 1)}) {
    EXPECT_EQ(image_after(program, slices_in_order(slices)), image);
  }
  for (const float gx : values_of(program, image, "gx")) EXPECT_GE(gx, 0.0f);
}

// gx = (x c (1 + w)) r: the cotangent itself is gone.
TEST(RmsNormVjpStream, IsWrongOnTheCotangentInTheSameWayInEveryOrderOfSlices) {
  const KernelCase c{"rms_norm_vjp_stream", 5, 41};
  const Program program = program_of(c, {{"gx", {"g", 0}}});
  const MemoryImage image = image_after(program, reference_order_schedule(program));
  for (const auto& slices : {descending_slices(program), shuffled_slices(program, 1)}) {
    EXPECT_EQ(image_after(program, slices_in_order(slices)), image);
  }
  const std::vector<float> right = gx_of(program_of(c));
  const std::vector<float> wrong = values_of(program, image, "gx");
  double error = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    error = std::max(error, std::fabs(double{right[i]} - double{wrong[i]}));
  }
  EXPECT_GT(error, 0.5);
}

std::vector<FindingKind> kinds_of(const Program& program) {
  std::vector<FindingKind> kinds;
  for (const Finding& finding : check(program).findings) kinds.push_back(finding.kind);
  return kinds;
}

TEST(StreamingKernels, OnInputsThatTheyStillNeedAreFoundByCheck) {
  EXPECT_THAT(kinds_of(softmax_step("softmax_vjp_stream", "y_bytes")),
              ElementsAre(FindingKind::kAlias));
  EXPECT_THAT(kinds_of(softmax_step("softmax_vjp_stream", "g_bytes")), IsEmpty());
  EXPECT_THAT(kinds_of(softmax_step("softmax_vjp", "y_bytes")), IsEmpty());
  for (const auto& [input, is_fine] :
       {std::pair{"x", true}, std::pair{"g", false}, std::pair{"gw_rows", false}}) {
    const Program program = program_of({"rms_norm_vjp_stream", 5, 41}, {{"gx", {input, 0}}});
    EXPECT_EQ(kinds_of(program).empty(), is_fine) << input;
  }
}

Program planned(std::string_view planner, const std::string& text) {
  Result<Program> program = find_planner(planner)->plan(parsed("interlock 1\n" + text), {});
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
  return *std::move(program);
}

// ggml looks for a source that is not needed any more, the cotangent first, and not at what the
// body does with it.
TEST(StreamingKernels, AreGivenAnInputThatTheyStillNeedByThePlannerThatKnowsNoContracts) {
  const std::string softmax =
      "tensor x f32[4,8] = random(1)\ntensor y f32[4,8]\ntensor g f32[4,8] = random(2)\n"
      "tensor gx f32[4,8]\noutput g gx\ndispatch softmax reads x writes y\n"
      "dispatch softmax_vjp_stream reads y g writes gx\n";
  const std::string norm =
      "tensor x f32[4,8] = random(1)\ntensor w f32[8] = ones\ntensor g f32[4,8]\n"
      "tensor s f32[4,8] = random(2)\ntensor gx f32[4,8]\ntensor rows f32[4,8]\n"
      "tensor sum f32[4,8]\noutput sum\noutput rows\ndispatch silu reads s writes g\n"
      "dispatch rms_norm_vjp_stream reads x w g writes gx rows\n"
      "dispatch add reads gx x writes sum\n";
  for (const std::string& text : {softmax, norm}) {
    EXPECT_EQ(find_alias_violations(planned("ggml", text)).size(), 1u);
    for (const char* planner : {"liveness", "donate", "ggml-undercount", "fresh"}) {
      EXPECT_THAT(find_alias_violations(planned(planner, text)), IsEmpty()) << planner;
    }
  }
}

}  // namespace
}  // namespace interlock::streaming_kernels_test
