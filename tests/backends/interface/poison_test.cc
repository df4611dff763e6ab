// Poison: a read of freed or reset bytes goes wrong on every run, and nothing else does.
#include "backends/interface/poison.h"

#include <gtest/gtest.h>

#include <string>

#include "backends/cpu/cpu_backend.h"
#include "backends/reference/reference.h"
#include "fuzz/judge/replay.h"
#include "fuzz/testing/programs.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/shadow_machine.h"

namespace interlock::poison_test {
namespace {

// Whether issue order, with poison, ends unlike the reference, whose values last.
bool diverges(const std::string& text) {
  const Program program = program_of(text);
  CpuBackend cpu;
  const auto reference = reference_image(program, cpu);
  const auto run = cpu.run(program, reference_order_schedule(program), ExecutionMode::kWitness);
  EXPECT_TRUE(reference && run);
  return outputs_differ(program, *reference, *run);
}

constexpr const char* kStep = R"(
    memory arena 64
    tensor x f32[4] at arena+0
    tensor s f32[4] = random(1)
    tensor o f32[4]
    output o
    save: dispatch silu reads s writes x
    )";

TEST(Poison, MakesAUseAfterFreeDiverge) {
  EXPECT_TRUE(diverges(std::string(kStep) + "free x\nlate: dispatch silu reads x writes o"));
  EXPECT_FALSE(diverges(std::string(kStep) + "late: dispatch silu reads x writes o\nfree x"));
}

TEST(Poison, MakesAReadBehindAResetDivergeUnlessItIsPinned) {
  EXPECT_TRUE(diverges(std::string(kStep) + "reset arena\nlate: dispatch silu reads x writes o"));
  EXPECT_FALSE(diverges(std::string(kStep) +
                        "pin x\nreset arena\nlate: dispatch silu reads x writes o\nunpin x"));
}

// Of bytes that a donation has taken over a free of the old value takes nothing.
TEST(Poison, LeavesTheBytesOfOtherValues) {
  EXPECT_FALSE(diverges(std::string(kStep) + "tensor d f32[4] donates x\n"
                                             "in_place: dispatch silu reads x writes d\nfree x\n"
                                             "late: dispatch silu reads d writes o"));
}

TEST(Poison, FillsWhatIsEndedAtTheEndInEveryRun) {
  const std::string text = R"(
      memory m 64
      tensor x f32[4] at m+0
      tensor s f32[4] at m+16 = random(1)
      save: dispatch silu reads s writes x
      free x)";
  EXPECT_FALSE(diverges(text));  // All memories are compared.
  const Program program = program_of(text);
  CpuBackend cpu;
  const auto image = cpu.run(program, reference_order_schedule(program), ExecutionMode::kWitness);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->memories[0][0], kPoisonByte);
  EXPECT_EQ(image->memories[0][15], kPoisonByte);
  EXPECT_NE(image->memories[0][16], kPoisonByte);
}

// A dispatch that runs in pieces finds poison once: what its first piece wrote stays.
TEST(Poison, IsFilledWhenTheFirstPieceStarts) {
  const Program program = program_of(R"(
      memory m 65536
      tensor x f32[16384] at m+0
      free x
      save: dispatch fill writes x value=1
      clear: reset m
      late: dispatch silu reads x writes x)");
  Schedule schedule = reference_order_schedule(program);
  ASSERT_EQ(schedule.steps.back().dispatch, DispatchId(1));
  const Step whole = schedule.steps.back();
  schedule.steps.pop_back();
  CpuBackend cpu;
  ASSERT_GE(whole.slice_count, 2u);
  for (uint32_t slice = 0; slice < whole.slice_count; ++slice) {
    Step step = whole;
    step.first_slice = slice;
    step.slice_count = 1;
    schedule.steps.push_back(step);
  }
  const auto in_pieces = cpu.run(program, schedule, ExecutionMode::kWitness);
  const auto at_once = cpu.run(program, reference_order_schedule(program), ExecutionMode::kWitness);
  ASSERT_TRUE(in_pieces && at_once);
  EXPECT_EQ(in_pieces->memories, at_once->memories);
}

// A hazard whose damage is freed cannot be observed; strict runs see it all the same.
TEST(Poison, IsAHashOfItsOwnInTheShadowMachine) {
  const std::string text = R"(
      memory m 64
      tensor x u8[4] at m+0
      a: dispatch K writes x
      b: dispatch K writes x
      )";
  for (const bool is_freed : {false, true}) {
    const Program program = program_of(text + (is_freed ? "free x" : ""));
    Schedule reversed = reference_order_schedule(program);
    std::reverse(reversed.steps.begin(), reversed.steps.end());
    ShadowMachine machine(program);
    const auto differs = [&](ShadowMode mode) {
      return machine.run(reference_order_schedule(program), mode) != machine.run(reversed, mode);
    };
    EXPECT_TRUE(differs(ShadowMode::kStrict));
    EXPECT_EQ(differs(ShadowMode::kObservable), !is_freed);
  }
}

}  // namespace
}  // namespace interlock::poison_test
