#include "simulator/schedules/explore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/order/happens_before.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/shadow_machine.h"
#include "tests/simulator/programs/program_text.h"

namespace interlock::explore_test {
namespace {

using ::testing::AnyOf;
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

constexpr Strategy kAllStrategies[] = {Strategy::kThree, Strategy::kDirected, Strategy::kExhaustive,
                                       Strategy::kRandom, Strategy::kPct};

std::vector<std::string> witness_of(const Program& program, const Exploration& exploration) {
  std::vector<std::string> lines;
  for (const Displacement& d : exploration.witness) lines.push_back(text_of(program, d));
  return lines;
}

TEST(Explore, FindsAndShrinksAWitnessByEveryStrategy) {
  const Program program = program_of(fmt::format(fmt::runtime(kDonation), ""));
  for (const Strategy strategy : kAllStrategies) {
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
  for (const Strategy strategy : kAllStrategies) {
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

// Y reads the bytes too, after the live X, so the latest conflict of W is with the dead reader.
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
  for (const Strategy strategy : {Strategy::kRandom, Strategy::kPct}) {
    SCOPED_TRACE(word_of(strategy));
    const auto differences = [&program, strategy](uint64_t seed) {
      std::vector<bool> result;
      for (const TriedSchedule& tried : explore(program, {strategy, 64, seed}).tried) {
        result.push_back(tried.differs_strictly);
      }
      return result;
    };
    EXPECT_EQ(differences(5), differences(5));
    EXPECT_NE(differences(5), differences(6));  // Equal with odds far below 2^-20.
  }
}

// What `explore` says before it starts and when it is done.
std::string words_of(std::string_view body, const ExploreOptions& given) {
  ExploreOptions options = given;
  std::string text;
  options.announce = [&text](std::string_view lines) { text += lines; };
  const Exploration exploration = explore(program_of(body), options);
  return text + exploration.claim;
}

constexpr std::string_view kTwoGroups = R"(
    memory m 8
    dispatch A writes m[0:4]
    dispatch B writes m[0:4]
    dispatch C reads m[0:4]
    barrier
    dispatch D writes m[4:8]
    dispatch E reads m[4:8])";

TEST(Explore, SaysHowManyTracesThereAreBeforeItTriesThem) {
  ExploreOptions options;
  options.strategy = Strategy::kExhaustive;
  EXPECT_EQ(words_of(kTwoGroups, options),
            "4 hazards between 5 dispatches, in 2 groups of independent order: 12 traces.\n"
            "One group at a time: 6 schedules beside issue order.\n"
            "Complete: every trace of each group was tried.\n");
  options.combines_groups = true;
  EXPECT_EQ(words_of(kTwoGroups, options),
            "4 hazards between 5 dispatches, in 2 groups of independent order: 12 traces.\n"
            "All groups combined: 11 schedules beside issue order.\n"
            "Complete: every trace of the program was tried.\n");
  options.schedule_count = 3;
  EXPECT_EQ(words_of(kTwoGroups, options),
            "4 hazards between 5 dispatches, in 2 groups of independent order: 12 traces.\n"
            "All groups combined: 11 schedules beside issue order, of which at most 3 will run.\n"
            "Not complete: some traces were not tried.\n");
}

TEST(Explore, SaysThatNoHazardIsOneTrace) {
  ExploreOptions options;
  options.strategy = Strategy::kExhaustive;
  EXPECT_EQ(words_of("memory m 4\n dispatch A writes m\n barrier\n dispatch B reads m", options),
            "No hazard depends on the order of runs: 1 trace.\n"
            "Complete: every trace of each group was tried.\n");
}

TEST(Explore, LetsTheLazyRunStandForLateCommitsWhichAreNoPartOfATrace) {
  const std::string_view body = R"(
      memory m 4
      a: dispatch A writes m
      barrier execution
      b: dispatch B reads m)";
  ExploreOptions options;
  options.strategy = Strategy::kExhaustive;
  EXPECT_EQ(words_of(body, options),
            "No hazard depends on the order of runs: 1 trace.\n"
            "Some hazards are ordered, but not visible. No order of runs shows them: the lazy run "
            "does.\n"
            "Complete: every trace of each group was tried.\n");
  const Program program = program_of(body);
  const Exploration exploration = explore(program, options);
  EXPECT_EQ(exploration.strict_count, 1u);
  EXPECT_THAT(witness_of(program, exploration), ElementsAre("a commits after b"));
}

// The barrier orders W after the copy, and not after R.
TEST(Explore, FindsWhatAScopedBarrierLeavesUnordered) {
  const Program program = program_of(R"(
      memory m 12
      c: dispatch copy reads m[0:4] writes m[4:8]
      r: dispatch R reads m[0:4] writes m[8:12]
      barrier copy -> compute
      w: dispatch W writes m[0:4])");
  for (const Strategy strategy : kAllStrategies) {
    SCOPED_TRACE(word_of(strategy));
    const Exploration exploration = explore(program, {strategy, 100, 1});
    EXPECT_GT(exploration.strict_count, 0u);
    EXPECT_THAT(
        witness_of(program, exploration),
        AnyOf(ElementsAre("w after c"), ElementsAre("w before r"), ElementsAre("r after w")));
  }
}

TEST(Explore, SaysWhatPctGuarantees) {
  ExploreOptions options;
  options.strategy = Strategy::kPct;
  options.depth = 3;
  EXPECT_EQ(words_of(kTwoGroups, options),
            "5 dispatches with 8 steps in all: if some schedule meets 3 order constraints, each of "
            "these does with probability at least 1/(5 * 8^2).\n");
}

TEST(Strategy, HasAWordThatNamesIt) {
  for (const Strategy strategy : kAllStrategies) {
    EXPECT_EQ(strategy_of(word_of(strategy)), strategy);
  }
  EXPECT_FALSE(strategy_of("best").has_value());
}

}  // namespace
}  // namespace interlock::explore_test
