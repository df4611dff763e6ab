#include "simulator/schedules/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/schedules/displacements.h"
#include "tests/simulator/programs/program_text.h"

namespace interlock::schedule_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Three dispatches that nothing orders; `wide` has 4 slices.
constexpr std::string_view kUnordered = R"(
    memory m 64
    tensor x f32[4,2] at m+0
    tensor y f32[4] at m+32
    first: dispatch A reads m[0:4]
    wide: dispatch row_sum reads x writes y
    last: dispatch B writes m[60:64]
)";

// "first wide[0:2] last commit(wide)": schedules as tests read them.
std::string text_of(const Program& program, const Schedule& schedule) {
  std::string text;
  for (const Step& step : schedule.steps) {
    std::string name = program.reference_of(step.dispatch);
    const Step whole = whole_step(program, step.dispatch, step.kind);
    if (!(step == whole)) {
      name += fmt::format("[{}:{}]", step.first_slice, step.first_slice + step.slice_count);
    }
    if (step.kind == StepKind::kCommit) name = "commit(" + name + ")";
    if (step.kind == StepKind::kRunLate) name = "late(" + name + ")";
    text += (text.empty() ? "" : " ") + name;
  }
  return text;
}

// The schedule of the `witness` lines in `body`, or the error.
std::string witness_schedule(std::string_view body) {
  const Program program = program_of(body);
  const Result<Schedule> schedule = schedule_of(program, HappensBefore(program), program.witness);
  return schedule ? text_of(program, *schedule) : schedule.error().message;
}

std::string with(std::string_view body, std::string_view witness) {
  return std::string(body) + std::string(witness);
}

TEST(ScheduleOf, IsIssueOrderWithoutDisplacements) {
  EXPECT_EQ(witness_schedule(kUnordered), "first wide last");
}

TEST(ScheduleOf, MovesBeforeAndAfter) {
  EXPECT_EQ(witness_schedule(with(kUnordered, "witness last before first")), "last first wide");
  EXPECT_EQ(witness_schedule(with(kUnordered, "witness first after wide")), "wide first last");
}

TEST(ScheduleOf, AppliesDisplacementsInTurn) {
  EXPECT_EQ(witness_schedule(with(kUnordered, R"(
      witness last before first
      witness wide before last)")),
            "wide last first");
}

TEST(ScheduleOf, SplitsSlicesOffAndLeavesTheRest) {
  EXPECT_EQ(witness_schedule(with(kUnordered, "witness wide[1:2] before first")),
            "wide[1:2] first wide[0:1] wide[2:4] last");
}

TEST(ScheduleOf, MovesTheRestAsOne) {
  EXPECT_EQ(witness_schedule(with(kUnordered, R"(
      witness wide[1:2] before first
      witness wide after last)")),
            "wide[1:2] first last wide[0:1] wide[2:4]");
}

TEST(ScheduleOf, AnchorsOnTheFirstAndTheLastPiece) {
  EXPECT_EQ(witness_schedule(with(kUnordered, R"(
      witness wide[0:1] after last
      witness first after wide)")),
            "wide[1:4] last wide[0:1] first");
  EXPECT_EQ(witness_schedule(with(kUnordered, R"(
      witness wide[3:4] before first
      witness last before wide)")),
            "last wide[3:4] first wide[0:3]");
}

TEST(ScheduleOf, PutsALateCommitBehindTheAnchorsLastStep) {
  EXPECT_EQ(witness_schedule(with(kUnordered, "witness wide commits after last")),
            "first late(wide) last commit(wide)");
  EXPECT_EQ(witness_schedule(with(kUnordered, R"(
      witness wide commits after last
      witness first commits after wide)")),
            "late(first) late(wide) last commit(wide) commit(first)");
}

TEST(ScheduleOf, RefusesSlicesThatAreNotThereOrHaveMoved) {
  const Program program = program_of(kUnordered);
  const HappensBefore order(program);
  Displacement split{
      DispatchId(size_t{1}), DispatchId(size_t{2}), DisplacementKind::kAfter, true, 2, 3};
  Result<Schedule> schedule = schedule_of(program, order, {split});
  ASSERT_FALSE(schedule.has_value());
  EXPECT_THAT(schedule.error().message, HasSubstr("wide (dispatch 1) has 4 slices."));
  split.slice_count = 1;
  schedule = schedule_of(program, order, {split, split});
  ASSERT_FALSE(schedule.has_value());
  EXPECT_THAT(schedule.error().message, HasSubstr("have been moved already."));
}

TEST(ScheduleOf, RefusesToMoveADispatchNextToItself) {
  const Program program = program_of(kUnordered);
  const DispatchId first(size_t{0});
  const Result<Schedule> schedule =
      schedule_of(program, HappensBefore(program), {{first, first, DisplacementKind::kAfter}});
  ASSERT_FALSE(schedule.has_value());
  EXPECT_EQ(
      schedule.error().message,
      "The witness 'first after first' does not apply: a dispatch cannot move next to itself.");
}

// Each move to right after `first` halves the same gap between two labels, which has 64 bits at
// most.
TEST(ScheduleOf, RenumbersWhenAGapIsUsedUp) {
  std::string body(kUnordered);
  std::string expected = "last wide[0:1] wide[2:4] wide[1:2]";
  for (int i = 0; i < 100; ++i) body += fmt::format("n{}: dispatch N\n", i);
  for (int i = 0; i < 100; ++i) {
    body += fmt::format("witness n{} after first\n", i);
    expected += fmt::format(" n{}", 99 - i);
  }
  body += R"(
      witness wide[1:2] after first
      witness wide[2:4] after first
      witness wide after first
      witness last before wide)";
  EXPECT_EQ(witness_schedule(body), "first " + expected);
}

constexpr std::string_view kBarriers = R"(
    memory m 8
    a: dispatch A writes m[0:4]
    barrier execution
    b: dispatch B reads m[0:4] writes m[4:8]
    barrier
    c: dispatch C reads m
)";

TEST(CheckLegal, KeepsTheOrderOfExecutionBarriers) {
  EXPECT_EQ(witness_schedule(with(kBarriers, "witness b before a")),
            "The schedule runs b (dispatch 1) before a (dispatch 0), but a barrier orders them.");
}

TEST(CheckLegal, ForcesCommitsAtMemoryBarriersOnly) {
  EXPECT_EQ(witness_schedule(with(kBarriers, "witness a commits after b")),
            "late(a) b commit(a) c");
  EXPECT_EQ(
      witness_schedule(with(kBarriers, "witness a commits after c")),
      "The schedule runs c (dispatch 2) before a (dispatch 0) commits, but a barrier makes its writes visible.");
}

std::string legality(std::string_view body, const std::vector<Step>& steps) {
  const Program program = program_of(body);
  const Result<Success> legal = check_legal(program, HappensBefore(program), Schedule{steps});
  return legal ? "legal" : legal.error().message;
}

TEST(CheckLegal, RunsEverySliceExactlyOnce) {
  const DispatchId first(size_t{0});
  const DispatchId wide(size_t{1});
  const DispatchId last(size_t{2});
  const Step run_first = {StepKind::kRun, first, 0, 1};
  const Step run_last = {StepKind::kRun, last, 0, 1};
  const auto piece = [wide](uint32_t begin, uint32_t count) {
    return Step{StepKind::kRun, wide, begin, count};
  };
  EXPECT_EQ(legality(kUnordered, {piece(2, 2), run_first, piece(0, 2), run_last}), "legal");
  EXPECT_THAT(legality(kUnordered, {run_first, piece(0, 2), run_last}),
              HasSubstr("does not run all slices of wide"));
  EXPECT_THAT(legality(kUnordered, {run_first, piece(0, 4), piece(1, 1), run_last}),
              HasSubstr("runs a slice of wide (dispatch 1) twice"));
  EXPECT_THAT(legality(kUnordered, {run_first, piece(0, 2), piece(1, 2), run_last}),
              HasSubstr("runs slice 1 of wide (dispatch 1) twice"));
  EXPECT_THAT(legality(kUnordered, {run_first, piece(0, 5), run_last}),
              HasSubstr("slices [0:5] of wide (dispatch 1), which has 4 slices"));
}

TEST(CheckLegal, CommitsOnceBehindAllRuns) {
  constexpr std::string_view kOne = "memory m 8\na: dispatch A writes m";
  const DispatchId a(size_t{0});
  const Step run = {StepKind::kRun, a, 0, 1};
  const Step late = {StepKind::kRunLate, a, 0, 1};
  const Step commit = {StepKind::kCommit, a, 0, 0};
  EXPECT_EQ(legality(kOne, {run}), "legal");
  EXPECT_EQ(legality(kOne, {late, commit}), "legal");
  EXPECT_THAT(legality(kOne, {late}), HasSubstr("never commits a"));
  EXPECT_THAT(legality(kOne, {commit, late}), HasSubstr("commits a (dispatch 0) before all"));
  EXPECT_THAT(legality(kOne, {run, commit}), HasSubstr("which did not run late"));
  EXPECT_THAT(legality(kOne, {late, commit, commit}), HasSubstr("commits a (dispatch 0) twice"));
}

std::vector<std::string> displacements_as_text(std::string_view body, const Schedule& schedule) {
  const Program program = program_of(body);
  std::vector<std::string> lines;
  for (const Displacement& d : displacements_of(program, schedule)) {
    lines.push_back(text_of(program, d));
  }
  return lines;
}

TEST(DisplacementsOf, IsEmptyForIssueOrder) {
  EXPECT_THAT(displacements_as_text(kUnordered, reference_order_schedule(program_of(kUnordered))),
              IsEmpty());
}

TEST(DisplacementsOf, MovesAsFewDispatchesAsItCan) {
  const Program program = program_of(with(kUnordered, "witness last before first"));
  const Result<Schedule> schedule = schedule_of(program, HappensBefore(program), program.witness);
  ASSERT_TRUE(schedule.has_value());
  EXPECT_THAT(displacements_as_text(kUnordered, *schedule), ElementsAre("last before first"));
}

}  // namespace
}  // namespace interlock::schedule_test
