// The encoders against the simulator's exact checks, which share no logic with them: on random
// programs, and on streams recorded from a real system.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "encoder/encoder.h"
#include "encoder/text.h"
#include "simulator/barrier_bounds.h"
#include "simulator/happens_before.h"
#include "simulator/hazards.h"
#include "tests/encoder/dispatch_programs.h"
#include "tests/encoder/random_dispatches.h"

namespace interlock {
namespace {

using testing::Each;
using testing::Field;
using testing::IsEmpty;
using testing::Not;

Program encoded(const Program& program, std::string_view encoder) {
  return encode(program, *find_encoder(encoder)->create());
}

std::vector<Hazard> hazards_of(const Program& program) {
  return find_hazards(program, HappensBefore(program));
}

Program recorded(const std::string& name) {
  Result<Program> program =
      parse_file(INTERLOCK_SOURCE_DIR "/corpus/streams/ggml-" + name + ".ilk");
  EXPECT_TRUE(program.has_value()) << program.error().message;
  return *std::move(program);
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

Program parsed(const std::string& statements) {
  Result<Program> program =
      parse("interlock 1\nmemory a 64\nmemory b 64\nmemory c 64\n" + statements);
  EXPECT_TRUE(program.has_value()) << program.error().message;
  return *std::move(program);
}

TEST(Encoders, LeaveNoHazardInRandomProgramsUnlessTheyAreBroken) {
  TestRandom random(11);
  for (int i = 0; i < 4'000; ++i) {
    const Program program = program_of(random_dispatches(random), 12);
    for (const EncoderEntry& entry : encoder_registry()) {
      if (entry.is_broken) continue;
      const Program result = encoded(program, entry.name);
      ASSERT_THAT(hazards_of(result), IsEmpty()) << entry.name << "\n" << print(result);
    }
  }
}

// A random program is one in which each of them fails, with odds far above one half: over 4,000
// programs both must have failed.
TEST(Encoders, LeaveHazardsInRandomProgramsIfTheyAreBroken) {
  for (const EncoderEntry& entry : encoder_registry()) {
    if (!entry.is_broken) continue;
    TestRandom random(12);
    bool has_hazard = false;
    for (int i = 0; i < 4'000 && !has_hazard; ++i) {
      has_hazard =
          !hazards_of(encoded(program_of(random_dispatches(random), 12), entry.name)).empty();
    }
    EXPECT_TRUE(has_hazard) << entry.name;
  }
}

TEST(InterlockEncoder, PlacesTheFewestBarriersOfTheSimulatorsBound) {
  RandomDispatchesOptions options;
  options.max_dispatches = 40;
  TestRandom random(13);
  for (int i = 0; i < 4'000; ++i) {
    const Program program = program_of(random_dispatches(random, options), 12);
    const Program result = encoded(program, "interlock");
    ASSERT_EQ(result.barriers.size(), barrier_bounds(program).fewest_barriers) << print(result);
    ASSERT_THAT(hazards_of(result), IsEmpty()) << print(result);
  }
}

// What mlx-2024 leaves is WAR and nothing else, whatever the program.
TEST(Mlx2024, LeavesOnlyWriteAfterRead) {
  TestRandom random(14);
  RandomDispatchesOptions options;
  options.has_atomics = false;
  for (int i = 0; i < 4'000; ++i) {
    const Program result = encoded(program_of(random_dispatches(random, options), 12), "mlx-2024");
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
  const Program donated = parsed(tensors + "tensor gx f32[4,4] donates g" + dispatches);
  const std::vector<Hazard> hazards = hazards_of(encoded(donated, "mlx-2024"));
  ASSERT_EQ(hazards.size(), 1u);
  EXPECT_EQ(hazards[0].kind, FindingKind::kWriteAfterRead);
  EXPECT_EQ(hazards[0].first.dispatch, DispatchId(0));
  EXPECT_EQ(hazards[0].second.dispatch, DispatchId(1));
  EXPECT_EQ(hazards[0].overlap, (ByteRange{0, 64}));

  EXPECT_THAT(hazards_of(encoded(donated, "mlx-2026")), IsEmpty());
  const Program placed = parsed(tensors + "tensor gx f32[4,4] at c+0" + dispatches);
  EXPECT_THAT(hazards_of(encoded(placed, "mlx-2024")), IsEmpty());
}

// The last writer and a reader since: none leaves every kind.
TEST(NoneEncoder, LeavesEveryConflictAsAHazard) {
  EXPECT_EQ(
      hazards_of(encoded(parsed("dispatch A writes a\ndispatch B reads a\n"), "none"))[0].kind,
      FindingKind::kReadAfterWrite);
  EXPECT_EQ(
      hazards_of(encoded(parsed("dispatch A reads a\ndispatch B writes a\n"), "none"))[0].kind,
      FindingKind::kWriteAfterRead);
  EXPECT_EQ(
      hazards_of(encoded(parsed("dispatch A writes a\ndispatch B writes a\n"), "none"))[0].kind,
      FindingKind::kWriteAfterWrite);
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
    const Program result = encoded(recorded(name), "interlock");
    EXPECT_EQ(result.barriers.size(), minimum) << name;
    EXPECT_EQ(barrier_bounds(result).fewest_barriers, minimum) << name;
    EXPECT_THAT(hazards_of(result), IsEmpty()) << name;
  }
}

TEST(NoneEncoder, LeavesTheRecordedStreamFullOfHazards) {
  EXPECT_THAT(hazards_of(encoded(recorded("llama24-metal"), "none")), Not(IsEmpty()));
}

TEST(GgmlMetal, PlacesTheBarriersOfTheRecordedEncoder) {
  EXPECT_EQ(encoded(recorded("llama24-nobarrier"), "ggml-metal").barriers.size(), 455u);
  for (const std::string name :
       {"llama24-metal", "llama24-metal-reorder", "llama24-metal-64steps", "train-metal-4",
        "train-metal-30", "llama24kv-metal", "soft-max-back-alias", "rms-norm-back-alias"}) {
    const Program program = recorded(name);
    const Program result = encoded(program, "ggml-metal");
    EXPECT_EQ(barrier_places(result), barrier_places(program)) << name;
    EXPECT_THAT(hazards_of(result), IsEmpty()) << name;
  }
}

TEST(Mlx2026, LeavesNoHazardInRecordedStreams) {
  for (const std::string name : {"llama24-nobarrier", "llama24kv-metal", "train-metal-30"}) {
    EXPECT_THAT(hazards_of(encoded(recorded(name), "mlx-2026")), IsEmpty()) << name;
  }
}

}  // namespace
}  // namespace interlock
