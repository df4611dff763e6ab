#include "simulator/schedules/explore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/printer.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/strategy.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::explore_test {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
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
  for (const StrategyEntry& strategy : strategy_registry()) {
    SCOPED_TRACE(strategy.name);
    const Exploration exploration = explore(program, strategy, {100, 1});
    EXPECT_GT(exploration.observable_count, 0u);
    ASSERT_TRUE(exploration.first_different.has_value());
    EXPECT_TRUE(exploration.tried[*exploration.first_different].differs_observably);
    EXPECT_EQ(exploration.witness.size(), 1u);
  }
  EXPECT_THAT(witness_of(program, explore(program, *find_strategy("directed"))),
              ElementsAre("vjp before reduce"));
}

TEST(Explore, FindsNothingBehindABarrier) {
  const Program program = program_of(fmt::format(fmt::runtime(kDonation), "barrier"));
  for (const StrategyEntry& strategy : strategy_registry()) {
    SCOPED_TRACE(strategy.name);
    const Exploration exploration = explore(program, strategy, {100, 1});
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
                                          *find_strategy("directed"));
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
                                          *find_strategy("directed"));
  EXPECT_EQ(exploration.observable_count, 1u);
}

TEST(Explore, IsAFunctionOfTheSeed) {
  const Program program = program_of(R"(
      memory m 16
      dispatch A writes m[0:8]
      dispatch B updates m[4:12]
      dispatch C reads m[8:16]
      dispatch D reads m[0:4] writes m[12:16])");
  for (const char* name : {"random", "pct"}) {
    SCOPED_TRACE(name);
    const auto differences = [&program, name](uint64_t seed) {
      std::vector<bool> result;
      for (const TriedSchedule& tried : explore(program, *find_strategy(name), {64, seed}).tried) {
        result.push_back(tried.differs_strictly);
      }
      return result;
    };
    EXPECT_EQ(differences(5), differences(5));
    EXPECT_NE(differences(5), differences(6));  // Equal with odds far below 2^-20.
  }
}

// What `explore` says before it starts and when it is done.
std::string words_of(std::string_view body, std::string_view strategy,
                     const StrategyOptions& options = {}) {
  std::string text;
  const Exploration exploration = explore(program_of(body), *find_strategy(strategy), options,
                                          [&text](std::string_view lines) { text += lines; });
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
  StrategyOptions options;
  EXPECT_EQ(words_of(kTwoGroups, "exhaustive", options),
            "4 hazards between 5 dispatches, in 2 groups of independent order: 12 traces.\n"
            "One group at a time: 6 schedules beside issue order.\n"
            "Complete: every trace of each group was tried.\n");
  options.combines_groups = true;
  EXPECT_EQ(words_of(kTwoGroups, "exhaustive", options),
            "4 hazards between 5 dispatches, in 2 groups of independent order: 12 traces.\n"
            "All groups combined: 11 schedules beside issue order.\n"
            "Complete: every trace of the program was tried.\n");
  options.schedule_count = 3;
  EXPECT_EQ(words_of(kTwoGroups, "exhaustive", options),
            "4 hazards between 5 dispatches, in 2 groups of independent order: 12 traces.\n"
            "All groups combined: 11 schedules beside issue order, of which at most 3 will run.\n"
            "Not complete: some traces were not tried.\n");
}

TEST(Explore, SaysThatNoHazardIsOneTrace) {
  EXPECT_EQ(
      words_of("memory m 4\n dispatch A writes m\n barrier\n dispatch B reads m", "exhaustive"),
      "No hazard depends on the order of runs: 1 trace.\n"
      "Complete: every trace of each group was tried.\n");
}

TEST(Explore, LetsTheLazyRunStandForLateCommitsWhichAreNoPartOfATrace) {
  const std::string_view body = R"(
      memory m 4
      a: dispatch A writes m
      barrier execution
      b: dispatch B reads m)";
  EXPECT_EQ(words_of(body, "exhaustive"),
            "No hazard depends on the order of runs: 1 trace.\n"
            "Some hazards are ordered, but not visible. "
            "No order of runs shows them: the lazy run does.\n"
            "Complete: every trace of each group was tried.\n");
  const Program program = program_of(body);
  const Exploration exploration = explore(program, *find_strategy("exhaustive"));
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
  for (const StrategyEntry& strategy : strategy_registry()) {
    SCOPED_TRACE(strategy.name);
    const Exploration exploration = explore(program, strategy, {100, 1});
    EXPECT_GT(exploration.strict_count, 0u);
    EXPECT_THAT(
        witness_of(program, exploration),
        AnyOf(ElementsAre("w after c"), ElementsAre("w before r"), ElementsAre("r after w")));
  }
}

// Whoever reads x finds no order of runs in which it comes before the write: the write is not
// visible.
TEST(Explore, FindsWhatAScopedBarrierLeavesInvisible) {
  const Program program = program_of(R"(
      memory x 64
      memory y 64
      memory o 64
      a: dispatch Wr writes x
      barrier compute.write -> compute.read y
      b: dispatch Rd reads x writes o)");
  for (const StrategyEntry& strategy : strategy_registry()) {
    SCOPED_TRACE(strategy.name);
    const Exploration exploration = explore(program, strategy, {100, 1});
    EXPECT_GT(exploration.strict_count, 0u);
    EXPECT_THAT(witness_of(program, exploration), ElementsAre("a commits after b"));
  }
  std::string announced;
  explore(program, *find_strategy("exhaustive"), {100, 1},
          [&announced](std::string_view lines) { announced += lines; });
  EXPECT_THAT(announced, HasSubstr("Some hazards are ordered, but not visible."));
}

// "directed" has a sink for each hazard: what claims to be complete finds no less.
TEST(Explore, IsCompleteBesideScopesOnlyIfWhatSinksShowIsShown) {
  const int count = share_count(20'000, 20);
  int complete_count = 0;
  int found_count = 0;
  SeededChoice choice(7);
  for (int i = 0; i < count; ++i) {
    const Program program = random_scoped_program(choice);
    const bool is_found = explore(program, *find_strategy("directed"), {400, 1}).strict_count > 0;
    const Exploration all = explore(program, *find_strategy("exhaustive"), {400, 1});
    if (!all.claim.starts_with("Complete")) continue;
    ++complete_count;
    found_count += is_found ? 1 : 0;
    EXPECT_EQ(all.strict_count > 0, is_found) << print(program);
  }
  EXPECT_GT(complete_count, count / 4);
  EXPECT_GT(found_count, count / 8);
}

std::vector<ByteRange> ranges_within(uint64_t size) {
  std::vector<ByteRange> ranges;
  for (uint64_t begin = 0; begin < size; ++begin) {
    for (uint64_t end = begin + 1; end <= size; ++end) ranges.push_back({begin, end});
  }
  return ranges;
}

// Of what two outputs of one dispatch share nobody says which of them is last: that is `alias`, and
// no matter of order. So explore finds something iff there is a hazard, whatever they share: all
// pairs of ranges, beside what may come between, with a reader that waits or does not.
TEST(Explore, TakesNothingThatADispatchDoesToItsOwnOutputsForADifference) {
  constexpr std::string_view kPrograms[] = {
      "memory a 4\nmemory b 4\nmemory c 4\ndispatch Z writes c\ndispatch W writes {0}{2}\n"
      "{1}dispatch R reads a writes b\n",
      "memory a 4\nmemory b 4\nmemory c 4\nx: queue serial\ny: queue serial\n"
      "dispatch W writes {0}{2} on x\nsignal s=1 on x\ndispatch Z writes c\n"
      "{3}dispatch R reads a writes b on y\n",
      "memory a 4\nmemory b 4\nmemory c 4\nx: queue serial\ndispatch Z writes c\n"
      "host writes {0}\nhost reads a\ndispatch R reads a writes b on x\n",
  };
  uint64_t tried_count = 0;
  const uint64_t size = is_slow_build() ? 2 : 3;
  for (const ByteRange first : ranges_within(size)) {
    for (const ByteRange second : ranges_within(size)) {
      const std::string outputs =
          fmt::format("a[{}:{}] a[{}:{}]", first.begin, first.end, second.begin, second.end);
      for (size_t i = 0; i < 12; ++i) {
        const bool waits = i / 3 % 2 == 0;
        const std::string text =
            fmt::format(fmt::runtime(kPrograms[i % 3]), outputs,
                        waits ? "barrier compute.write -> compute.read\n" : "",
                        i < 6 ? "" : " partial", waits ? "wait s=1 on y\n" : "");
        SCOPED_TRACE(text);
        const Program program = program_of(text);
        ASSERT_EQ(!find_alias_violations(program).empty(), share_a_byte(first, second));
        const bool has_hazard = !find_hazards(program, HappensBefore(program)).hazards.empty();
        ASSERT_EQ(has_hazard, !waits && i % 3 != 2);
        uint64_t strict_count = 0;
        for (const std::string_view strategy : {"random", "pct", "directed"}) {
          const Exploration exploration = explore(program, *find_strategy(strategy), {20, 1});
          tried_count += exploration.tried.size();
          strict_count += exploration.strict_count;
        }
        ASSERT_EQ(strict_count > 0, has_hazard);
      }
    }
  }
  EXPECT_GT(tried_count, is_slow_build() ? 2000u : 10'000u);
}

// Slices of such a dispatch are not told apart either.
TEST(Explore, TakesNoOrderOfSlicesThatWriteTheSameForADifference) {
  const Program program = program_of(
      "memory m 64\ntensor g f32[2,4] = random(1)\ntensor ga f32[2,2] at m+0\n"
      "tensor gb f32[2,2] at m+4\ndispatch split reads g writes ga gb\n");
  ASSERT_EQ(find_alias_violations(program).size(), 1u);
  for (const StrategyEntry& strategy : strategy_registry()) {
    EXPECT_EQ(explore(program, strategy, {20, 1}).strict_count, 0u) << strategy.name;
  }
}

TEST(Explore, SaysWhatPctGuarantees) {
  StrategyOptions options;
  options.depth = 3;
  EXPECT_EQ(
      words_of(kTwoGroups, "pct", options),
      "5 dispatches with 8 steps in all: if some schedule meets 3 order constraints, each of these does with probability at least 1/(5 * 8^2).\n");
}

}  // namespace
}  // namespace interlock::explore_test
