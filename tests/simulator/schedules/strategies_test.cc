#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "encoder/text/printer.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/sinks.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/simulator/programs/choices.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::strategies_test {
namespace {

using ::testing::ElementsAre;

// "1 0 late(2) commit(2)"
std::string text_of(const Program& program, const Schedule& schedule) {
  std::string text;
  for (const Step& step : schedule.steps) {
    const std::string name = program.reference_of(step.dispatch);
    text += text.empty() ? "" : " ";
    text += step.kind == StepKind::kRun       ? name
            : step.kind == StepKind::kRunLate ? "late(" + name + ")"
                                              : "commit(" + name + ")";
  }
  return text;
}

constexpr std::string_view kEpochs = R"(
    memory m 16
    a: dispatch A writes m[0:4]
    b: dispatch B writes m[4:8]
    barrier execution
    c: dispatch C reads m[0:4]
    d: dispatch D writes m[8:12]
    barrier
    e: dispatch E writes m[12:16]
    f: dispatch F reads m
)";

TEST(EpochReversed, ReversesEachExecutionEpoch) {
  const Program program = program_of(kEpochs);
  EXPECT_EQ(text_of(program, epoch_reversed_schedule(program, HappensBefore(program))),
            "b a d c f e");
}

TEST(Lazy, CommitsEachMemoryEpochBackwards) {
  const Program program = program_of(kEpochs);
  EXPECT_EQ(text_of(program, lazy_schedule(program, HappensBefore(program))),
            "late(a) late(b) c d commit(b) commit(a) late(e) f commit(e)");
}

std::vector<std::string> sinks(std::string_view body) {
  const Program program = program_of(body);
  const HappensBefore order(program);
  std::vector<std::string> lines;
  for (const Hazard& hazard : find_hazards(program, order).hazards) {
    for (const Displacement& d : sink_of(order, hazard)) {
      lines.push_back(interlock::text_of(program, d));
    }
  }
  return lines;
}

TEST(Sink, MovesTheFirstBehindTheSecond) {
  EXPECT_THAT(sinks(R"(
      memory m 4
      a: dispatch A writes m
      n: dispatch N
      b: dispatch B writes m)"),
              ElementsAre("a after b"));
}

TEST(Sink, CommitsLateWhatIsOrderedButNotVisible) {
  EXPECT_THAT(sinks(R"(
      memory m 4
      a: dispatch A writes m
      barrier execution
      b: dispatch B reads m)"),
              ElementsAre("a commits after b"));
}

// A program of table kernels that overlap at random, so that there are slices to split.
Program sliced_program(Choice& choice) {
  std::string body = "memory m 256\n";
  for (int t = 0; t < 4; ++t) {
    const uint64_t rows = 1 + choice.below(4);
    body += fmt::format("tensor x{} f32[{},2] at m+{}\n", t, rows, 4 * choice.below(8));
    body += fmt::format("tensor y{} f32[{}] at m+{}\n", t, rows, 128 + 4 * choice.below(8));
  }
  for (uint64_t k = 2 + choice.below(5); k > 0; --k) {
    const uint64_t t = choice.below(4);
    switch (choice.below(4)) {
      case 0:
        body += "barrier\n";
        break;
      case 1:
        body += fmt::format("dispatch W reads y{} writes x{}\n", t, t);
        break;
      default:
        body += fmt::format("dispatch row_sum reads x{} writes y{}\n", t, t);
    }
    if (choice.chance(1, 8)) body += "barrier execution\n";
  }
  return program_of(body);
}

void expect_legal_and_round_trip(const Program& program, const HappensBefore& order,
                                 const Schedule& schedule) {
  const Result<Success> legal = check_legal(program, order, schedule);
  ASSERT_TRUE(legal.has_value()) << legal.error().message << "\n" << print(program);
  const Result<Schedule> again = schedule_of(program, order, displacements_of(program, schedule));
  ASSERT_TRUE(again.has_value()) << again.error().message << "\n" << print(program);
  ASSERT_EQ(*again, schedule) << print(program);
}

void check_strategies(const Program& program, Choice& choice) {
  const HappensBefore order(program);
  expect_legal_and_round_trip(program, order, reference_order_schedule(program));
  expect_legal_and_round_trip(program, order, epoch_reversed_schedule(program, order));
  expect_legal_and_round_trip(program, order, lazy_schedule(program, order));
  expect_legal_and_round_trip(program, order, random_schedule(program, order, choice));
  for (const Hazard& hazard : find_hazards(program, order).hazards) {
    const Result<Schedule> sink = schedule_of(program, order, sink_of(order, hazard));
    ASSERT_TRUE(sink.has_value()) << sink.error().message << "\n" << print(program);
  }
}

TEST(Strategies, YieldLegalSchedulesThatDisplacementsGiveBack) {
  SeededChoice choice(21);
  RandomProgramOptions options;
  options.dispatch_count_max = 12;
  for (int i = 0; i < share_count(10'000, 2); ++i) {
    ASSERT_NO_FATAL_FAILURE(check_strategies(random_program(choice, options), choice));
  }
}

TEST(Strategies, YieldLegalSchedulesOfSlicesThatDisplacementsGiveBack) {
  SeededChoice choice(22);
  for (int i = 0; i < share_count(5'000, 2); ++i) {
    ASSERT_NO_FATAL_FAILURE(check_strategies(sliced_program(choice), choice));
  }
}

// The runs of all linear extensions, by trying all permutations.
std::set<std::vector<uint32_t>> linear_extensions(const Program& program) {
  const HappensBefore order(program);
  std::vector<uint32_t> permutation(program.dispatches.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::set<std::vector<uint32_t>> extensions;
  do {
    bool is_extension = true;
    for (size_t i = 0; i < permutation.size(); ++i) {
      for (size_t j = i + 1; j < permutation.size(); ++j) {
        is_extension &=
            !order.executes_before(DispatchId(permutation[j]), DispatchId(permutation[i]));
      }
    }
    if (is_extension) extensions.insert(permutation);
  } while (std::next_permutation(permutation.begin(), permutation.end()));
  return extensions;
}

TEST(RandomSchedule, CanBeEveryLinearExtension) {
  SeededChoice programs(23);
  RandomProgramOptions options;
  options.dispatch_count_min = 2;
  options.dispatch_count_max = 4;
  for (int i = 0; i < program_count(100); ++i) {
    const Program program = random_program(programs, options);
    const HappensBefore order(program);
    std::set<std::vector<uint32_t>> seen;
    ExhaustiveChoice choice;
    do {
      std::vector<uint32_t> runs;
      for (const Step& step : random_schedule(program, order, choice).steps) {
        if (step.kind != StepKind::kCommit) runs.push_back(step.dispatch.index);
      }
      seen.insert(runs);
    } while (choice.advance());
    EXPECT_EQ(seen, linear_extensions(program)) << print(program);
  }
}

// Two writers run in 2 orders; beyond that the first may commit after the second, on either side.
TEST(RandomSchedule, CanCommitLateAtEveryPlace) {
  const Program program = program_of(R"(
      memory m 4
      dispatch A writes m
      dispatch B writes m)");
  const HappensBefore order(program);
  std::set<std::string> seen;
  ExhaustiveChoice choice;
  do {
    seen.insert(text_of(program, random_schedule(program, order, choice)));
  } while (choice.advance());
  EXPECT_THAT(
      seen, ElementsAre("0 1", "1 0", "late(0) 1 commit(0)", "late(0) late(1) commit(0) commit(1)",
                        "late(1) 0 commit(1)", "late(1) late(0) commit(1) commit(0)"));
}

}  // namespace
}  // namespace interlock::strategies_test
