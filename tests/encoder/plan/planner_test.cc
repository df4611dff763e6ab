// What planners make of a program: small ones, as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "encoder/plan/liveness_planner.h"
#include "encoder/plan/planner.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/matchers.h"
#include "tests/encoder/plan/byte_owners.h"

namespace interlock::planner_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PlanOptions aligned_to(uint64_t alignment_bytes) {
  PlanOptions options;
  options.alignment_bytes = alignment_bytes;
  return options;
}

std::string planned(std::string_view planner, const std::string& text,
                    const PlanOptions& options = aligned_to(4)) {
  const Result<Program> result = find_planner(planner)->plan(program_of(text), options);
  return result ? print(*result) : result.error().message;
}

// Four values, of which two live at a time.
constexpr const char* kChain = R"(interlock 1
tensor x f32[4] = random(1)
tensor a f32[4]
tensor b f32[8]
tensor y f32[4]
output y
first: dispatch K reads x writes a
second: dispatch K reads a writes b
third: dispatch K reads b writes y
)";

TEST(Fresh, GivesEveryValueBytesOfItsOwn) {
  EXPECT_EQ(planned("fresh", kChain), R"(interlock 1
memory pool 80
tensor x f32[4] at pool+0 = random(1)
tensor a f32[4] at pool+16
tensor b f32[8] at pool+32
tensor y f32[4] at pool+64
output y
first: dispatch K reads x writes a
second: dispatch K reads a writes b
third: dispatch K reads b writes y
)");
}

TEST(Liveness, GivesTheBytesOfTheDeadToTheLiving) {
  EXPECT_EQ(planned("liveness", kChain), R"(interlock 1
memory pool 48
tensor x f32[4] at pool+0 = random(1)
tensor a f32[4] at pool+0
tensor b f32[8] at pool+16
tensor y f32[4] at pool+0
output y
first: dispatch K reads x writes a
second: dispatch K reads a writes b
third: dispatch K reads b writes y
)");
}

TEST(Liveness, KeepsInputsIfToldSo) {
  PlanOptions options = aligned_to(4);
  options.keeps_inputs = true;
  EXPECT_THAT(planned("liveness", kChain, options), HasSubstr("memory pool 64\n"));
}

TEST(Liveness, TellsOpaqueDispatchesApartFromThoseInPlace) {
  PlanOptions options = aligned_to(4);
  options.is_opaque_in_place = false;
  const std::string text =
      "tensor x u8[4] = iota\ntensor y u8[4]\noutput y\n"
      "dispatch K reads x writes y\n";
  EXPECT_THAT(planned("liveness", text), HasSubstr("memory pool 4\n"));
  EXPECT_THAT(planned("liveness", text, options), HasSubstr("memory pool 8\n"));
}

TEST(Liveness, WritesInPlaceOnlyWhereTheContractAllowsIt) {
  const std::string declarations =
      "tensor x f32[4,4] = random(1)\ntensor w f32[4,4] = random(2)\ntensor y f32[4,4]\noutput y\n";
  EXPECT_THAT(planned("liveness", declarations + "dispatch add reads x w writes y\n"),
              HasSubstr("memory pool 128\n"));
  EXPECT_THAT(planned("liveness", declarations + "dispatch matmul_nn reads x w writes y\n"),
              HasSubstr("memory pool 192\n"));
}

// x is read twice; one of the reads has no contract with y.
TEST(Liveness, AsksForTheContractOfEveryOperandThatReadsTheValue) {
  const std::string declarations =
      "tensor x f32[1,4] = random(1)\ntensor w f32[4] view x+0\n"
      "tensor v f32[4] = ones\ntensor y f32[1,4]\noutput y\n";
  EXPECT_THAT(planned("liveness", declarations + "dispatch rms_norm reads x w writes y\n"),
              Not(HasSubstr("tensor y f32[1,4] at pool+0\n")));
  EXPECT_THAT(planned("liveness", declarations + "dispatch rms_norm reads x v writes y\n"),
              HasSubstr("tensor y f32[1,4] at pool+0\n"));
}

TEST(Liveness, KeepsViewsAndDonationsOnTheirValue) {
  const std::string text = planned("liveness", R"(tensor x f32[8] = random(1)
tensor half f32[4] view x+16
tensor next f32[8] donates x
tensor y f32[4]
tensor z f32[8]
output z
dispatch K reads half writes y
dispatch K updates next
dispatch K reads next y writes z
)");
  EXPECT_THAT(text, HasSubstr("tensor half f32[4] view x+16\n"));
  EXPECT_THAT(text, HasSubstr("tensor next f32[8] donates x\n"));
}

// The first dispatch writes half of y: the other half is read before anybody writes it.
TEST(Liveness, KeepsWhatNobodyWroteBeforeItIsRead) {
  const std::string text =
      "tensor x u8[8] = iota\ntensor a u8[8]\ntensor y u8[8]\noutput a y\n"
      "dispatch K reads x writes a\n";
  EXPECT_THAT(planned("liveness", text + "dispatch K writes y[0:4] partial\n"),
              HasSubstr("memory pool 16\n"));
  EXPECT_THAT(planned("liveness", text + "dispatch K writes y[0:4]\ndispatch K writes y[4:8]\n"),
              HasSubstr("memory pool 16\n"));
}

TEST(Liveness, KeepsEverythingIfThereAreNoOutputs) {
  EXPECT_THAT(planned("liveness",
                      "tensor a u8[4]\ntensor b u8[4]\ndispatch K writes a\n"
                      "dispatch K reads a writes b\n"),
              HasSubstr("memory pool 8\n"));
}

// A free may poison the bytes where it stands: b comes later, c before.
TEST(Liveness, LetsAValueOwnItsBytesUntilItIsFreed) {
  const std::string declarations =
      "tensor a u8[4]\ntensor b u8[4]\ntensor c u8[4]\noutput c\n"
      "dispatch K writes a\n";
  EXPECT_THAT(planned("liveness", declarations + "dispatch K writes b\nfree a\n"
                                                 "dispatch K reads b writes c\n"),
              HasSubstr("memory pool 8\n"));
  EXPECT_THAT(planned("liveness", declarations + "free a\ndispatch K writes b\n"
                                                 "dispatch K reads b writes c\n"),
              HasSubstr("memory pool 4\n"));
}

TEST(Donate, NamesTheDonorAndDeclaresItFirst) {
  EXPECT_EQ(planned("donate", R"(interlock 1
tensor y f32[4]
tensor h f32[4]
tensor x f32[4] = random(1)
output y
dispatch scale reads x writes h factor=2
dispatch silu reads h writes y
)"),
            R"(interlock 1
memory buffer0 16
tensor x f32[4] at buffer0+0 = random(1)
tensor h f32[4] donates x
tensor y f32[4] donates h
output y
dispatch scale reads x writes h factor=2
dispatch silu reads h writes y
)");
}

TEST(RightPlanners, RoundValuesAsTheLowerBoundDoes) {
  const Program program = program_of(kChain);
  for (const PlannerEntry& entry : planner_registry()) {
    if (entry.is_broken) continue;
    const Result<Program> plan = entry.plan(program, aligned_to(64));
    ASSERT_TRUE(plan.has_value()) << entry.name;
    const Result<PlanReport> report = report_of(program, *plan, aligned_to(64));
    ASSERT_TRUE(report.has_value()) << entry.name;
    EXPECT_EQ(report->pool_bytes % 64, 0U) << entry.name;
    EXPECT_GE(report->pool_bytes, report->lower_bound_bytes) << entry.name;
    EXPECT_EQ(report->fresh_bytes, 4U * 64) << entry.name;
  }
}

TEST(Planners, PlaceAReorderedProgramInScratchMemory) {
  const std::string text = "tensor a u8[4]\ntensor b u8[4]\noutput b\n";
  EXPECT_THAT(planned("liveness", text + "dispatch K order=1 writes a\n"
                                         "dispatch K order=0 writes b\n"),
              HasSubstr("memory pool 4 scratch\n"));
  EXPECT_THAT(planned("liveness", text + "dispatch K order=0 writes a\n"
                                         "dispatch K order=1 writes b\n"),
              HasSubstr("memory pool 4\n"));
}

TEST(Planners, FindANameThatNothingHas) {
  EXPECT_THAT(planned("fresh", "memory pool 8\ntensor pool.2 u8[4]\ndispatch K writes pool.2\n"),
              HasSubstr("memory pool.3 4\ntensor pool.2 u8[4] at pool.3+0\n"));
}

TEST(Planners, LeaveAProgramWithoutUnplacedTensorsAsItIs) {
  const std::string text =
      "interlock 1\nmemory a 64\ntensor x f32[4] at a+0\noutput x\n"
      "dispatch K writes x\nbarrier\ndispatch K reads x\n";
  for (const PlannerEntry& planner : planner_registry())
    EXPECT_EQ(planned(planner.name, text), text);
}

TEST(Planners, RefuseOptionsThatMakeNoSense) {
  EXPECT_EQ(planned("liveness", kChain, aligned_to(24)),
            "the alignment is 24 bytes; expected a power of two from 4 to 1048576.");
  PlanOptions options;
  options.slack_percent = 10'001;
  EXPECT_EQ(planned("liveness", kChain, options),
            "the slack is 10001 percent; expected at most 10000.");
}

TEST(Planners, RefuseMoreBytesThanAPlanTakes) {
  EXPECT_THAT(planned("fresh",
                      "tensor a u8[281474976710656]\ntensor b u8[4]\noutput b\n"
                      "dispatch K writes b\n"),
              HasSubstr("more than 281474976710656 bytes together"));
}

TEST(Antichain, HandsOnNoBytesThroughAValueWithoutUses) {
  PlanOptions options;
  options.alignment_bytes = 4;
  options.is_antichain = true;
  // Nothing orders Other after Use, and `dead`, which nobody uses, not either.
  const std::string text = planned("liveness",
                                   "tensor x u8[64]\ntensor out u8[4]\ntensor dead u8[64]\n"
                                   "tensor z u8[64]\noutput out\ndispatch Make writes x\n"
                                   "dispatch Use reads x writes out\ndispatch Mid reads out\n"
                                   "free dead\ndispatch Other writes z\n",
                                   options);
  EXPECT_THAT(text, HasSubstr("memory pool 196\n"));
}

// Also where only the end of a value's bytes must wait.
TEST(BarrierCountOf, IsWhatTheEncoderPlaces) {
  const Program program = parse(R"(interlock 1
tensor s f32[4] = random(1)
tensor o f32[4]
output o
dispatch silu reads s writes o
destroy s
)")
                              .value();
  InterlockEncoder encoder;
  EXPECT_EQ(encode(program, encoder).barriers.size(), 1u);
  EXPECT_EQ(barrier_count_of(program), 1u);
  const auto report = report_of(program, plan_fresh(program, {}).value(), {});
  EXPECT_EQ(report.value().barrier_count, 1u);
  EXPECT_EQ(report.value().fresh_barrier_count, 1u);
}

TEST(FindPlanner, KnowsTheNamesOfTheRegistry) {
  for (const PlannerEntry& planner : planner_registry()) {
    EXPECT_EQ(find_planner(planner.name), &planner);
  }
  EXPECT_EQ(find_planner("best"), nullptr);
}

// The twin of each other: two regions of three dispatches, h is needed in the second.
constexpr const char* kSavedForBackward = R"(interlock 1
tensor x f32[4,4] = random(1)
tensor w f32[4,4] = random(2)
tensor h f32[4,4]
tensor a f32[4,4]
tensor ga f32[4,4]
tensor b f32[4,4]
tensor gh f32[4,4]
output gh
up: dispatch matmul_nn reads x w writes h
act: dispatch silu reads h writes a
loss: dispatch scale reads a writes ga factor=2
vjp: dispatch mul reads x x writes b
grad: dispatch mul reads b h writes gh
)";

TEST(Arena, PinsWhatLivesAcrossAReset) {
  PlanOptions options = aligned_to(4);
  options.region_dispatches = 3;
  const std::string text = planned("arena", kSavedForBackward, options);
  EXPECT_THAT(text, HasSubstr("pin h\nreset arena\nvjp:"));
  EXPECT_THAT(text, HasSubstr("gh\nunpin h\n"));
  const Program program = program_of(kSavedForBackward);
  EXPECT_EQ(first_clobber(program, program_of(text)), "");
}

TEST(Arena, ResetsWhereTheProgramDoes) {
  const std::string text = planned("arena",
                                   "memory m 4\ntensor a u8[4]\ntensor b u8[4]\n"
                                   "tensor c u8[4]\noutput c\ndispatch K writes a\n"
                                   "reset m\ndispatch K writes b\n"
                                   "dispatch K reads b writes c\n");
  EXPECT_THAT(text, HasSubstr("writes a\nreset arena\nreset m\n"));
  EXPECT_THAT(text, HasSubstr("memory arena 4\nmemory heap 4\n"));
}

}  // namespace
}  // namespace interlock::planner_test
