#include "simulator/explore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/happens_before.h"
#include "simulator/shadow_machine.h"
#include "tests/simulator/program_text.h"

namespace interlock {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// MLX #3630: a donation makes the writer's memory the reader's.
constexpr std::string_view kDonation = R"(
    memory b 4096
    memory c 256
    tensor g  f32[16,64] at b+0 = random(2)
    tensor gx f32[16,64] donates g
    tensor gb f32[64]    at c+0
    output gb gx
    reduce: dispatch col_sum reads g writes gb
    {}
    vjp: dispatch Vjp writes gx
)";

std::vector<std::string> witness_of(const Program& program, const Exploration& exploration) {
  std::vector<std::string> lines;
  for (const Displacement& d : exploration.witness) lines.push_back(text_of(program, d));
  return lines;
}

TEST(Explore, FindsAndShrinksAWitnessByEveryStrategy) {
  const Program program = program_of(fmt::format(fmt::runtime(kDonation), ""));
  for (const Strategy strategy : {Strategy::kThree, Strategy::kDirected, Strategy::kRandom}) {
    SCOPED_TRACE(word_of(strategy));
    const Exploration exploration = explore(program, {strategy, 100, 1});
    EXPECT_GT(exploration.observable_count, 0u);
    ASSERT_TRUE(exploration.first_different.has_value());
    EXPECT_TRUE(exploration.tried[*exploration.first_different].differs_observably);
    EXPECT_EQ(exploration.witness.size(), 1u);
  }
  EXPECT_THAT(witness_of(program, explore(program, {Strategy::kDirected})),
              ElementsAre("vjp before reduce"));
}

TEST(Explore, FindsNothingBehindABarrier) {
  const Program program = program_of(fmt::format(fmt::runtime(kDonation), "barrier"));
  for (const Strategy strategy : {Strategy::kThree, Strategy::kDirected, Strategy::kRandom}) {
    SCOPED_TRACE(word_of(strategy));
    const Exploration exploration = explore(program, {strategy, 100, 1});
    EXPECT_EQ(exploration.strict_count, 0u);
    EXPECT_FALSE(exploration.first_different.has_value());
    EXPECT_THAT(exploration.witness, IsEmpty());
  }
}

TEST(Explore, PrefersAnObservableDifferenceToAnEarlierOneThatIsNot) {
  const Exploration exploration = explore(program_of(R"(
      memory m 4
      memory n 8
      tensor y u8[4] at n+4
      output y
      dispatch A writes m
      dispatch B writes m
      barrier
      w: dispatch W writes n[0:4]
      r: dispatch R reads n[0:4] writes y)"),
                                          {Strategy::kDirected});
  ASSERT_EQ(exploration.tried.size(), 2u);
  EXPECT_TRUE(exploration.tried[0].differs_strictly);
  EXPECT_FALSE(exploration.tried[0].differs_observably);
  EXPECT_EQ(exploration.first_different, 1u);
}

// Y reads the bytes too, behind the live X, so the latest conflict of W is with the dead reader.
TEST(Explore, SinksEveryPairNotOnlyTheLatest) {
  const Exploration exploration = explore(program_of(R"(
      memory m 8
      tensor out u8[4] at m+4
      output out
      x: dispatch X reads m[0:4] writes out
      y: dispatch Y reads m[0:4]
      w: dispatch W writes m[0:4])"),
                                          {Strategy::kDirected});
  EXPECT_EQ(exploration.observable_count, 1u);
}

TEST(Explore, IsAFunctionOfTheSeed) {
  const Program program = program_of(R"(
      memory m 16
      dispatch A writes m[0:8]
      dispatch B updates m[4:12]
      dispatch C reads m[8:16]
      dispatch D reads m[0:4] writes m[12:16])");
  const auto differences = [&program](uint64_t seed) {
    std::vector<bool> result;
    for (const TriedSchedule& tried : explore(program, {Strategy::kRandom, 64, seed}).tried) {
      result.push_back(tried.differs_strictly);
    }
    return result;
  };
  EXPECT_EQ(differences(5), differences(5));
  EXPECT_NE(differences(5), differences(6));  // Equal with odds far below 2^-20.
}

TEST(Strategy, HasAWordThatNamesIt) {
  for (const Strategy strategy : {Strategy::kThree, Strategy::kDirected, Strategy::kRandom}) {
    EXPECT_EQ(strategy_of(word_of(strategy)), strategy);
  }
  EXPECT_FALSE(strategy_of("best").has_value());
}

}  // namespace
}  // namespace interlock
