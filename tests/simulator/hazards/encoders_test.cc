// The encoders against the simulator's exact checks, which share no logic with them: on random
// programs, and on streams recorded from a real system.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "encoder/sync/encoder.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/matchers.h"
#include "simulator/barriers/barrier_bounds.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "tests/encoder/sync/dispatch_programs.h"
#include "tests/encoder/sync/random_dispatches.h"
#include "tests/program_count.h"

namespace interlock::encoders_test {
namespace {

using testing::Each;
using testing::Field;
using testing::IsEmpty;
using testing::Not;

std::vector<Hazard> hazards_of(const Program& program) {
  return find_hazards(program, HappensBefore(program)).hazards;
}

Program recorded(const std::string& name) {
  return program_in(INTERLOCK_SOURCE_DIR "/corpus/streams/ggml-" + name + ".ilk");
}

// Indices of the dispatches that a barrier stands before.
std::vector<size_t> barrier_places(const Program& program) {
  std::vector<size_t> places;
  size_t dispatch_count = 0;
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kBarrier) {
      places.push_back(dispatch_count);
    } else {
      ++dispatch_count;
    }
  }
  return places;
}

Program on_abc(const std::string& statements) {
  return program_of("memory a 64\nmemory b 64\nmemory c 64\n" + statements);
}

TEST(Encoders, LeaveNoHazardInRandomProgramsUnlessTheyAreBroken) {
  TestRandom random(11);
  for (int i = 0; i < share_count(4'000, 3); ++i) {
    const Program program = program_of(random_dispatches(random), 12);
    for (const EncoderEntry& entry : encoder_registry()) {
      if (entry.is_broken) continue;
      const Program result = encode_with(entry.name, program);
      ASSERT_THAT(hazards_of(result), IsEmpty()) << entry.name << "\n" << print(result);
    }
  }
}

// A random program is one in which each of them fails, with odds far above one half: over 4,000
// programs both must have failed. What goes wrong with views needs tensors (ggml_vulkan_test.cc).
TEST(Encoders, LeaveHazardsInRandomProgramsIfTheyAreBroken) {
  for (const EncoderEntry& entry : encoder_registry()) {
    if (!entry.is_broken || entry.name == "ggml-vulkan-27805") continue;
    TestRandom random(12);
    bool has_hazard = false;
    for (int i = 0; i < 4'000 && !has_hazard; ++i) {
      has_hazard =
          !hazards_of(encode_with(entry.name, program_of(random_dispatches(random), 12))).empty();
    }
    EXPECT_TRUE(has_hazard) << entry.name;
  }
}

TEST(InterlockEncoder, PlacesTheFewestBarriersOfTheSimulatorsBound) {
  RandomDispatchesOptions options;
  options.max_dispatches = 40;
  TestRandom random(13);
  for (int i = 0; i < share_count(4'000, 3); ++i) {
    const Program program = program_of(random_dispatches(random, options), 12);
    const Program result = encode_with("interlock", program);
    ASSERT_EQ(result.barriers.size(), barrier_bounds(program).fewest_barriers) << print(result);
    ASSERT_THAT(hazards_of(result), IsEmpty()) << print(result);
  }
}

// What mlx-2024 leaves is WAR and nothing else, whatever the program.
TEST(Mlx2024, LeavesOnlyWriteAfterRead) {
  TestRandom random(14);
  RandomDispatchesOptions options;
  options.has_atomics = false;
  for (int i = 0; i < program_count(4'000); ++i) {
    const Program result =
        encode_with("mlx-2024", program_of(random_dispatches(random, options), 12));
    ASSERT_THAT(hazards_of(result), Each(Field(&Hazard::kind, FindingKind::kWriteAfterRead)))
        << print(result);
  }
}

// MLX #3630, and the two smallest repairs: another encoder, or a buffer of its own for gx.
TEST(Mlx2024, LeavesAHazardThroughADonation) {
  const std::string tensors = R"(
tensor g f32[4,4] at a+0 = random(1)
tensor gb f32[4] at b+0
)";
  const std::string dispatches = R"(
reduce: dispatch col_sum reads g writes gb
vjp: dispatch Vjp writes gx
)";
  const Program donated = on_abc(tensors + "tensor gx f32[4,4] donates g" + dispatches);
  EXPECT_THAT(donated, EncodedBy("mlx-2024", HasHazard("WAR", "reduce", "vjp")));
  EXPECT_THAT(donated, EncodedBy("mlx-2026", IsHazardFree()));
  const Program placed = on_abc(tensors + "tensor gx f32[4,4] at c+0" + dispatches);
  EXPECT_THAT(placed, EncodedBy("mlx-2024", IsHazardFree()));
}

// The last writer and a reader since: none leaves every kind.
TEST(NoneEncoder, LeavesEveryConflictAsAHazard) {
  EXPECT_THAT(on_abc("dispatch A writes a\ndispatch B reads a\n"),
              EncodedBy("none", HasHazard("RAW", 0, 1)));
  EXPECT_THAT(on_abc("dispatch A reads a\ndispatch B writes a\n"),
              EncodedBy("none", HasHazard("WAR", 0, 1)));
  EXPECT_THAT(on_abc("dispatch A writes a\ndispatch B writes a\n"),
              EncodedBy("none", HasHazard("WAW", 0, 1)));
}

TEST(InterlockEncoder, PlacesTheMinimumOnRecordedStreams) {
  const std::vector<std::pair<std::string, size_t>> minimums = {
      {"llama24-nobarrier", 407},       {"llama24-metal", 407},
      {"llama24-metal-reorder", 383},   {"llama24-vulkan", 407},
      {"llama24kv-metal", 459},         {"llama24kv-vulkan-reorder", 435},
      {"llama24-metal-64steps", 29439}, {"train-metal-4", 140},
      {"train-metal-30", 997},          {"soft-max-back-alias", 1},
      {"rms-norm-back-alias", 2},       {"vulkan-reorder-min", 3}};
  for (const auto& [name, minimum] : minimums) {
    const Program result = encode_with("interlock", recorded(name));
    EXPECT_EQ(result.barriers.size(), minimum) << name;
    EXPECT_EQ(barrier_bounds(result).fewest_barriers, minimum) << name;
    EXPECT_THAT(hazards_of(result), IsEmpty()) << name;
  }
}

TEST(NoneEncoder, LeavesTheRecordedStreamFullOfHazards) {
  EXPECT_THAT(recorded("llama24-metal"), EncodedBy("none", Not(IsHazardFree())));
}

TEST(GgmlMetal, PlacesTheBarriersOfTheRecordedEncoder) {
  EXPECT_THAT(recorded("llama24-nobarrier"), EncodedBy("ggml-metal", HasBarrierCount(455)));
  for (const std::string name :
       {"llama24-metal", "llama24-metal-reorder", "llama24-metal-64steps", "train-metal-4",
        "train-metal-30", "llama24kv-metal", "soft-max-back-alias", "rms-norm-back-alias"}) {
    const Program program = recorded(name);
    const Program result = encode_with("ggml-metal", program);
    EXPECT_EQ(barrier_places(result), barrier_places(program)) << name;
    EXPECT_THAT(hazards_of(result), IsEmpty()) << name;
  }
}

TEST(Mlx2026, LeavesNoHazardInRecordedStreams) {
  for (const std::string name : {"llama24-nobarrier", "llama24kv-metal", "train-metal-30"}) {
    EXPECT_THAT(recorded(name), EncodedBy("mlx-2026", IsHazardFree())) << name;
  }
}

}  // namespace
}  // namespace interlock::encoders_test
