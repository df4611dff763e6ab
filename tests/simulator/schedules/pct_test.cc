// PCT: its schedules are legal, and its guarantee is a number that small programs let us compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "encoder/text/printer.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/strategy_pct.h"
#include "simulator/schedules/strategy_random.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/choices.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_programs.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::pct_test {
namespace {

// When each dispatch has run, and when it has committed: 2d, 2d+1.
using EventTimes = std::vector<uint32_t>;

EventTimes times_of(const Program& program, const Schedule& schedule) {
  EventTimes times(2 * program.dispatches.size());
  uint32_t now = 0;
  for (const Step& step : schedule.steps) {
    if (step.kind != StepKind::kCommit) times[2 * step.dispatch.index] = ++now;
    if (step.kind != StepKind::kRunLate) times[2 * step.dispatch.index + 1] = ++now;
  }
  return times;
}

struct Constraint {
  uint32_t earlier;
  uint32_t later;
};

bool meets(const EventTimes& times, const std::vector<Constraint>& constraints) {
  return std::all_of(constraints.begin(), constraints.end(),
                     [&times](const Constraint& c) { return times[c.earlier] < times[c.later]; });
}

std::vector<EventTimes> times_of_all(const Program& program, const PctSchedules& pct) {
  std::vector<EventTimes> all;
  ExhaustiveChoice choice;
  do {
    all.push_back(times_of(program, pct.schedule(choice)));
  } while (choice.advance());
  return all;
}

std::vector<EventTimes> times_of_all_legal(const Program& program, const HappensBefore& order) {
  std::vector<EventTimes> all;
  ExhaustiveChoice choice;
  do {
    all.push_back(times_of(program, random_schedule(program, order, choice)));
  } while (choice.advance());
  return all;
}

// Every question has the same range on every path, so all paths are equally likely, and the
// probability is a fraction of them. Constraints at random; a tenth of these can be met.
TEST(Pct, MeetsConstraintsThatCanBeMetWithTheGuaranteedProbability) {
  SeededChoice choice(51);
  RandomProgramOptions program_options;
  program_options.dispatch_count_min = 2;
  program_options.dispatch_count_max = 3;
  int met_count = 0;
  int tight_count = 0;
  for (int i = 0; i < program_count(600); ++i) {
    const Program program = random_program(choice, program_options);
    const HappensBefore order(program);
    const uint64_t depth = 1 + choice.below(3);
    const PctSchedules pct(program, order, depth);
    const std::vector<EventTimes> legal = times_of_all_legal(program, order);
    const std::vector<EventTimes> all = times_of_all(program, pct);
    uint64_t bound = pct.dispatch_count();
    for (uint64_t d = 1; d < depth; ++d) bound *= pct.step_count();
    for (int k = 0; k < 50; ++k) {
      std::vector<Constraint> constraints;
      for (uint64_t d = 0; d < depth; ++d) {
        const uint64_t event_count = 2 * program.dispatches.size();
        constraints.push_back({static_cast<uint32_t>(choice.below(event_count)),
                               static_cast<uint32_t>(choice.below(event_count))});
      }
      const auto meets_all = [&](const EventTimes& times) { return meets(times, constraints); };
      if (std::none_of(legal.begin(), legal.end(), meets_all)) continue;
      const auto met = static_cast<uint64_t>(std::count_if(all.begin(), all.end(), meets_all));
      ASSERT_GE(met * bound, all.size())
          << met << " of " << all.size() << ", depth " << depth << "\n"
          << print(program);
      ++met_count;
      tight_count += met * bound < 4 * all.size() ? 1 : 0;
    }
  }
  EXPECT_GT(met_count, program_count(2'000));
  EXPECT_GT(tight_count, 0);
}

// d dispatches in reverse need d - 1 constraints: depth 1 gives each order of three, depth 2 lets
// the first come between the slices of the second.
TEST(Pct, SplitsADispatchOnlyWhereAPriorityChanges) {
  const Program program = program_of(R"(
      memory m 4096
      tensor x f32[2,2] at m+0
      tensor y f32[2] at m+1024
      sum: dispatch row_sum reads x writes y
      w: dispatch W writes m[0:16])");
  const HappensBefore order(program);
  for (const uint64_t depth : {1, 2}) {
    std::set<std::string> seen;
    const PctSchedules pct(program, order, depth);
    EXPECT_EQ(pct.step_count(), 5u);  // Two slices and a commit; one and a commit.
    ExhaustiveChoice choice;
    do {
      std::string text;
      for (const Step& step : pct.schedule(choice).steps) {
        text += step.kind == StepKind::kRun      ? "run "
                : step.kind == StepKind::kCommit ? "commit "
                                                 : "late ";
        text += program.reference_of(step.dispatch);
        if (step.slice_count == 1 && step.dispatch.index == 0)
          text += fmt::format("[{}]", step.first_slice);
        text += "; ";
      }
      seen.insert(text);
    } while (choice.advance());
    std::set<std::string> expected = {"run sum; run w; ", "run w; run sum; "};
    if (depth == 2) {
      expected.insert({"run sum[0]; run w; run sum[1]; ", "late sum; run w; commit sum; ",
                       "late w; run sum; commit w; "});
    }
    EXPECT_EQ(seen, expected);
  }
}

void check_legal_and_round_trip(const Program& program, Choice& choice) {
  const HappensBefore order(program);
  const PctSchedules pct(program, order, 1 + choice.below(5));
  for (int i = 0; i < 3; ++i) {
    const Schedule schedule = pct.schedule(choice);
    const Result<Success> legal = check_legal(program, order, schedule);
    ASSERT_TRUE(legal.has_value()) << legal.error().message << "\n" << print(program);
    const Result<Schedule> again = schedule_of(program, order, displacements_of(program, schedule));
    ASSERT_TRUE(again.has_value()) << again.error().message << "\n" << print(program);
    ASSERT_EQ(*again, schedule) << print(program);
  }
}

TEST(Pct, MakesLegalSchedulesThatDisplacementsGiveBack) {
  SeededChoice choice(52);
  RandomProgramOptions options;
  options.dispatch_count_max = 20;
  for (int i = 0; i < share_count(5'000, 2); ++i) {
    ASSERT_NO_FATAL_FAILURE(check_legal_and_round_trip(random_program(choice, options), choice));
  }
}

TEST(Pct, MakesLegalSchedulesBesideScopedBarriers) {
  SeededChoice choice(53);
  for (int i = 0; i < program_count(2'000); ++i) {
    ASSERT_NO_FATAL_FAILURE(check_legal_and_round_trip(random_scoped_program(choice), choice));
    ASSERT_NO_FATAL_FAILURE(check_legal_and_round_trip(random_relay_program(choice), choice));
  }
}

TEST(Pct, MakesAScheduleOfAnEmptyProgram) {
  const Program program = program_of("memory m 4");
  const HappensBefore order(program);
  SeededChoice choice(1);
  EXPECT_TRUE(PctSchedules(program, order, 3).schedule(choice).steps.empty());
}

}  // namespace
}  // namespace interlock::pct_test
