// What the models of planners do wrong, each beside a planner that does not; and that the model of
// gallocr is gallocr, as far as the recorded streams tell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "encoder/plan/planner.h"
#include "encoder/plan/unplan.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/text/files.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/matchers.h"
#include "simulator/hazards/alias_contracts.h"
#include "tests/encoder/backward/training_step.h"
#include "tests/encoder/plan/byte_owners.h"
#include "tests/program_count.h"

namespace interlock::planner_models_test {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Program plan_with(std::string_view planner, const Program& program,
                  const PlanOptions& options = {}) {
  Result<Program> planned = find_planner(planner)->plan(program, options);
  EXPECT_TRUE(planned.has_value()) << (planned ? "" : planned.error().message);
  return *std::move(planned);
}

PlanReport report_with(std::string_view planner, const Program& program,
                       const PlanOptions& options = {}) {
  return *report_of(program, plan_with(planner, program, options), options);
}

Program graph_behind(const std::string& stream) {
  const Result<Program> program =
      parse_file(INTERLOCK_SOURCE_DIR "/corpus/streams/ggml-" + stream + ".ilk");
  EXPECT_TRUE(program.has_value());
  return *unplan(*program, "compute");
}

// The kernel copies x to its output first, and then still needs g, which is where that lies.
TEST(Ggml, WritesInPlaceWhereNoContractAllowsIt) {
  const std::string tensors =
      "tensor x f32[4,8] = random(1)\n"
      "tensor w f32[8] = random(2)\n"
      "tensor g f32[4,8] = random(3)\n"
      "tensor gx f32[4,8]\ntensor rows f32[4,8]\noutput gx\n";
  const Program program =
      program_of(tensors + "dispatch rms_norm_vjp_stream reads x w g writes gx rows\n");
  EXPECT_THAT(find_alias_violations(plan_with("ggml", program)), SizeIs(1));
  EXPECT_THAT(find_alias_violations(plan_with("ggml-undercount", program)), IsEmpty());
  EXPECT_THAT(find_alias_violations(plan_with("liveness", program)), IsEmpty());
  // The same in place, by a kernel that reads before it writes.
  const Program safe = program_of(tensors + "dispatch rms_norm_vjp reads x w g writes gx rows\n");
  EXPECT_EQ(report_with("ggml", safe).pool_bytes, report_with("ggml", program).pool_bytes);
  EXPECT_THAT(find_alias_violations(plan_with("ggml", safe)), IsEmpty());
}

// softmax_vjp_stream copies the cotangent: on it, the output is right. Where that lives on, it is
// put on the softmax.
TEST(Ggml, TriesTheCotangentFirst) {
  const std::string program =
      "tensor p f32[4,8] = random(1)\ntensor g f32[4,8] = random(2)\ntensor s f32[4,8]\n"
      "dispatch softmax_vjp_stream reads p g writes s\n";
  EXPECT_THAT(find_alias_violations(plan_with("ggml", program_of(program + "output s\n"))),
              IsEmpty());
  EXPECT_THAT(find_alias_violations(plan_with("ggml", program_of(program + "output g s\n"))),
              SizeIs(1));
}

// ggml multiplies by the gain in an operation of its own: RMS_NORM never writes to its bytes.
TEST(Ggml, PutsNoNormOnItsGain) {
  const std::string tensors =
      "tensor x f32[1,8] = random(1)\n"
      "tensor w f32[8] = random(2)\n"
      "tensor g f32[1,8] = random(3)\n"
      "tensor y f32[1,8]\ntensor rows f32[1,8]\n";
  for (const std::string& norm : std::vector<std::string>{
           "rms_norm reads x w writes y\noutput x y",
           "rms_norm_vjp reads x w g writes y rows\noutput x g y rows",
           "rms_norm_vjp_stream reads x w g writes y rows\noutput x g y rows"}) {
    const size_t split = norm.find('\n');
    const Program program =
        program_of(tensors + norm.substr(split + 1) + "\ndispatch " + norm.substr(0, split) + "\n");
    EXPECT_THAT(find_alias_violations(plan_with("ggml", program)), IsEmpty()) << norm;
  }
}

// h is saved for its VJP, which comes after its last consumer in the forward pass.
TEST(GgmlUndercount, FreesWhatTheBackwardPassStillNeeds) {
  const std::string declarations =
      "tensor h f32[4,8]\ntensor a f32[4,8]\ntensor s f32[8] = ones\ntensor g f32[4,8]\n"
      "tensor gh f32[4,8]\ntensor rows f32[4,8]\noutput gh\n"
      "dispatch Make writes h\ndispatch col_sum reads h writes s\n"
      "dispatch Loss reads s writes a\ndispatch Grad reads a writes g\n";
  const Program program =
      program_of(declarations + "dispatch rms_norm_vjp reads h s g writes gh rows\n");
  EXPECT_THAT(first_clobber(program, plan_with("ggml-undercount", program)), Not(IsEmpty()));
  EXPECT_THAT(first_clobber(program, plan_with("ggml", program)), IsEmpty());
  // The same consumer under another name is counted.
  const Program forward = program_of(declarations + "dispatch Use reads h s g writes gh rows\n");
  EXPECT_THAT(first_clobber(forward, plan_with("ggml-undercount", forward)), IsEmpty());
}

// B is dead after the second dispatch, and nothing orders that and the third one.
TEST(GgmlSerialLiveness, ReusesBytesUnderDispatchesThatMayOverlap) {
  const Program program = program_of(
      "tensor x u8[64] = iota\ntensor a u8[64]\ntensor b u8[64]\ntensor c u8[64]\n"
      "tensor y u8[64]\noutput y\n"
      "dispatch K writes a\ndispatch K reads a writes b[0:32]\n"
      "dispatch K reads x writes c\ndispatch K reads b[0:32] c writes y\n");
  InterlockEncoder encoder;
  const Program encoded = encode(program, encoder);
  EXPECT_THAT(plan_with("ggml-serial-liveness", encoded), Not(IsHazardFree()));
  EXPECT_THAT(plan_with("ggml-serial-liveness", program), Not(IsHazardFree()));
  // Reuse that adds no order needs no barrier that is not there.
  PlanOptions antichain;
  antichain.is_antichain = true;
  EXPECT_THAT(plan_with("liveness", encoded, antichain), IsHazardFree());
}

TEST(Ztensor167, LosesWhatWasSavedAndItsFixDoesNot) {
  PlanOptions options;
  options.region_dispatches = 12;
  const Program program = training_step({2, 1, 4, 8});
  EXPECT_THAT(first_clobber(program, plan_with("ztensor-167", program, options)), Not(IsEmpty()));
  EXPECT_THAT(first_clobber(program, plan_with("ztensor", program, options)), IsEmpty());
  EXPECT_THAT(first_clobber(program, plan_with("arena", program, options)), IsEmpty());
}

// The sizes of the memory `compute`, which ggml's own allocator chose.
TEST(Ggml, NeedsTheBytesThatGgmlTook) {
  EXPECT_EQ(report_with("ggml", graph_behind("llama24-metal")).pool_bytes, 24'576u);
  EXPECT_EQ(report_with("ggml", graph_behind("llama24kv-metal")).pool_bytes, 132'096u);
  EXPECT_EQ(report_with("ggml", graph_behind("train-metal-4")).pool_bytes, 641'088u);
  EXPECT_EQ(report_with("ggml", graph_behind("train-metal-30")).pool_bytes, 4'321'344u);
}

// The recorded placements and the model's cost the same barriers, too (corpus/streams/README.md).
TEST(Ggml, CostsTheBarriersOfTheRecordedPlacement) {
  EXPECT_EQ(report_with("ggml", graph_behind("llama24-metal")).barrier_count, 407u);
  EXPECT_EQ(report_with("ggml", graph_behind("llama24kv-metal")).barrier_count, 435u);
  EXPECT_EQ(report_with("ggml", graph_behind("train-metal-4")).barrier_count, 140u);
  EXPECT_EQ(report_with("ggml", graph_behind("train-metal-30")).barrier_count, 997u);
}

TEST(Liveness, ReachesTheLowerBoundOnTheGraphsBehindTheStreams) {
  PlanOptions options;
  options.is_opaque_in_place = false;  // ggml's kernels, of which we know only what they did.
  for (const char* stream : {"llama24-metal", "llama24kv-metal", "train-metal-4", "train-metal-30",
                             "llama24-metal-reorder", "vulkan-reorder-bad1"}) {
    const PlanReport report = report_with("liveness", graph_behind(stream), options);
    EXPECT_EQ(report.pool_bytes, report.lower_bound_bytes) << stream;
  }
}

TEST(Liveness, NeedsNoMoreMemoryThanGgml) {
  for (const char* stream : {"llama24-metal-64steps", "vulkan-reorder-ok1", "vulkan-reorder-ok2",
                             "vulkan-reorder-ok3", "vulkan-reorder-bad2", "vulkan-reorder-bad3"}) {
    if (is_slow_build() && std::string_view(stream) == "llama24-metal-64steps") continue;
    const Program graph = graph_behind(stream);
    EXPECT_LE(report_with("liveness", graph).pool_bytes, report_with("ggml", graph).pool_bytes)
        << stream;
  }
  for (const uint64_t layer_count : {1, 2, 3, 5, 8, 13, 30}) {
    for (const uint64_t batch_count : {1, 3}) {
      const Program step = training_step({layer_count, batch_count});
      const PlanReport report = report_with("liveness", step);
      EXPECT_LE(report.pool_bytes, report_with("ggml", step).pool_bytes) << layer_count;
      EXPECT_EQ(report.pool_bytes, report.lower_bound_bytes) << layer_count;
    }
  }
}

TEST(Unplan, FindsTheValuesThatWentThroughAMemory) {
  const Result<Program> graph = unplan(program_of(R"(memory w 16
memory c 32
dispatch First reads w c[0:8] writes c[8:16]
barrier
dispatch Second updates c[8:16]
dispatch Third reads c[4:12] writes c[0:8]
dispatch Last reads c[0:16] writes w
)"),
                                       "c");
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ(print(*graph), R"(interlock 1
memory w 16
tensor in0 u8[8] = iota
tensor v1 u8[8]
tensor v2 u8[8]
dispatch First reads w in0 writes v1
dispatch Second updates v1
dispatch Third reads in0[4:8] v1[0:4] writes v2
dispatch Last reads v2 v1 writes w
)");
}

TEST(Unplan, MakesOutputsOfWhatNobodyReads) {
  const Result<Program> graph = unplan(program_of("memory c 8\n"
                                                  "dispatch K writes c[0:4]\n"
                                                  "dispatch K reads c[0:4] writes c[4:8]\n"),
                                       "c");
  ASSERT_TRUE(graph.has_value());
  EXPECT_THAT(print(*graph), ::testing::HasSubstr("output v1\n"));
}

TEST(Unplan, RefusesMemoriesThatItCannotRead) {
  const Program program = program_of("memory c 8\ntensor x u8[4] at c+0\ndispatch K writes x\n");
  EXPECT_EQ(unplan(program, "c").error().message,
            "tensor 'x' is placed in memory 'c'; a graph is found behind raw ranges only.");
  EXPECT_EQ(unplan(program, "d").error().message,
            "the program has no memory 'd' to find the graph behind.");
}

}  // namespace
}  // namespace interlock::planner_models_test
