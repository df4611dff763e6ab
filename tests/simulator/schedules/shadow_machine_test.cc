#include "simulator/schedules/shadow_machine.h"

#include <gtest/gtest.h>

#include <string>

#include "simulator/order/happens_before.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/simulator/programs/program_text.h"

namespace interlock::shadow_machine_test {
namespace {

// Whether the schedule of the `witness` lines ends like issue order.
bool differs(std::string_view body, ShadowMode mode) {
  const Program program = program_of(body);
  const Result<Schedule> schedule = schedule_of(program, HappensBefore(program), program.witness);
  if (!schedule) fmt::print(stderr, "{}\n", schedule.error().message);
  INTERLOCK_CHECK(schedule.has_value());
  ShadowMachine machine(program);
  return machine.run(reference_order_schedule(program), mode) != machine.run(*schedule, mode);
}

bool differs_strictly(std::string_view body) { return differs(body, ShadowMode::kStrict); }
bool differs_observably(std::string_view body) { return differs(body, ShadowMode::kObservable); }

TEST(ShadowMachine, TellsReadersOfAnotherWriterApart) {
  EXPECT_TRUE(differs_observably(R"(
      memory m 8
      dispatch W writes m[0:4]
      dispatch R reads m[0:4] writes m[4:8]
      witness 1 before 0)"));
  EXPECT_FALSE(differs_strictly(R"(
      memory m 12
      dispatch W writes m[0:4]
      dispatch R reads m[8:12] writes m[4:8]
      witness 1 before 0)"));
}

TEST(ShadowMachine, TellsTouchingRangesApartAndOverlapsFromThem) {
  EXPECT_FALSE(differs_strictly(R"(
      memory m 8
      dispatch W writes m[0:4]
      dispatch R reads m[4:8]
      witness 1 before 0)"));
  EXPECT_TRUE(differs_strictly(R"(
      memory m 8
      dispatch W writes m[0:5]
      dispatch R reads m[4:8]
      witness 1 before 0)"));
}

TEST(ShadowMachine, SeesADeadReadOnlyStrictly) {
  constexpr std::string_view kDeadRead = R"(
      memory m 8
      dispatch W writes m[0:4]
      dispatch R reads m[0:4]
      witness 1 before 0)";
  EXPECT_TRUE(differs_strictly(kDeadRead));  // By the tap of R.
  EXPECT_FALSE(differs_observably(kDeadRead));
}

TEST(ShadowMachine, SeesAnOverwrittenWriteOnlyStrictly) {
  constexpr std::string_view kDeadWrites = R"(
      memory m 4
      dispatch A writes m
      dispatch B writes m
      barrier
      dispatch C writes m
      witness 1 before 0)";
  EXPECT_TRUE(differs_strictly(kDeadWrites));  // By the old content that each write hashes.
  EXPECT_FALSE(differs_observably(kDeadWrites));
}

TEST(ShadowMachine, ComparesOnlyLiveBytes) {
  constexpr std::string_view kTwoWriters = R"(
      memory m 8
      tensor dead u8[4] at m+0
      tensor live u8[4] at m+4
      output live
      dispatch A writes m[0:{0}]
      dispatch B writes m[0:{0}]
      witness 1 before 0)";
  EXPECT_FALSE(differs_observably(fmt::format(fmt::runtime(kTwoWriters), 4)));
  EXPECT_TRUE(differs_strictly(fmt::format(fmt::runtime(kTwoWriters), 4)));
  EXPECT_TRUE(differs_observably(fmt::format(fmt::runtime(kTwoWriters), 5)));
}

TEST(ShadowMachine, LetsAPartialWriteDependOnTheOldContent) {
  constexpr std::string_view kPartial = R"(
      memory m 4
      dispatch A writes m
      dispatch B writes m
      barrier
      dispatch C writes m partial
      witness 1 before 0)";
  EXPECT_TRUE(differs_observably(kPartial));
}

TEST(ShadowMachine, LetsAtomicsOfOneOperationCommute) {
  constexpr std::string_view kAtomics = R"(
      memory m 4
      dispatch A atomics m atomic=add
      dispatch B atomics m atomic={}
      witness 1 before 0)";
  EXPECT_FALSE(differs_strictly(fmt::format(fmt::runtime(kAtomics), "add")));
  EXPECT_TRUE(differs_strictly(fmt::format(fmt::runtime(kAtomics), "min")));
  EXPECT_TRUE(differs_observably(fmt::format(fmt::runtime(kAtomics), "min")));
}

TEST(ShadowMachine, LetsAnAtomicDependOnWhatItsDispatchReads) {
  EXPECT_TRUE(differs_observably(R"(
      memory m 8
      dispatch W writes m[0:4]
      dispatch A reads m[0:4] atomics m[4:8] atomic=add
      witness 1 before 0)"));
}

TEST(ShadowMachine, CommitsLateWritesAtTheirCommit) {
  constexpr std::string_view kOrdered = R"(
      memory m 8
      a: dispatch W writes m[0:4]
      {}
      b: dispatch R reads m[0:4] writes m[4:8]
      c: dispatch N
      witness a commits after {})";
  EXPECT_TRUE(differs_observably(fmt::format(fmt::runtime(kOrdered), "barrier execution", "b")));
  EXPECT_FALSE(differs_strictly(fmt::format(fmt::runtime(kOrdered), "n: dispatch N", "n")));
}

TEST(ShadowMachine, ReadsAtTheRunAndOverwritesAtTheCommit) {
  // U reads what W left, though its own store waits for V's.
  constexpr std::string_view kUpdate = R"(
      memory m 4
      memory n 4
      w: dispatch W writes m
      barrier
      u: dispatch U updates m
      v: dispatch V writes n
      witness u commits after v)";
  EXPECT_FALSE(differs_strictly(kUpdate));
}

TEST(ShadowMachine, RunsSlicesByThemselves) {
  // Row 0 of x is overwritten by `over`; only slice 0 of `sums` reads it.
  constexpr std::string_view kRows = R"(
      memory m 64
      tensor x f32[4,2] at m+0
      tensor y f32[4] at m+32
      sums: dispatch row_sum reads x writes y
      over: dispatch W writes m[0:8]
      witness sums[{}] after over)";
  EXPECT_TRUE(differs_observably(fmt::format(fmt::runtime(kRows), "0:1")));
  EXPECT_FALSE(differs_strictly(fmt::format(fmt::runtime(kRows), "1:4")));
}

// A column sum of 4096 rows in 4096 columns would be 16 million pieces or so per column block.
TEST(ShadowMachine, TakesADispatchThatIsTooLargeAsOneUnit) {
  constexpr std::string_view kLarge = R"(
      memory m 1073741824
      tensor x f32[16000,4096] at m+0
      tensor y f32[4096] at m+536870912
      sums: dispatch col_sum reads x writes y
      over: dispatch W writes m[0:4]
      witness {} after over)";
  EXPECT_TRUE(differs_observably(fmt::format(fmt::runtime(kLarge), "sums")));
  EXPECT_FALSE(differs_strictly(fmt::format(fmt::runtime(kLarge), "sums[1:2]")));
}

// A write commits between the run and the commit of one that runs late.
bool differs_if_written_meanwhile(std::string_view body) {
  const Program program = program_of(body);
  const DispatchId first(size_t{0});
  const DispatchId late(size_t{1});
  Schedule schedule;
  schedule.steps = {whole_step(program, late, StepKind::kRunLate),
                    whole_step(program, first, StepKind::kRun),
                    {.kind = StepKind::kCommit, .dispatch = late}};
  INTERLOCK_CHECK(check_legal(program, HappensBefore(program), schedule).has_value());
  ShadowMachine machine(program);
  return machine.run(reference_order_schedule(program), ShadowMode::kObservable) !=
         machine.run(schedule, ShadowMode::kObservable);
}

TEST(ShadowMachine, LetsAPartialWriteFindTheOldContentAtItsRun) {
  EXPECT_TRUE(differs_if_written_meanwhile(R"(
      memory m 4
      dispatch A writes m
      dispatch B writes m partial)"));
  EXPECT_FALSE(differs_if_written_meanwhile(R"(
      memory m 4
      dispatch A writes m
      dispatch B writes m)"));
  // An atomic finds it at its commit.
  EXPECT_FALSE(differs_if_written_meanwhile(R"(
      memory m 4
      dispatch A writes m
      dispatch B atomics m atomic=add)"));
}

TEST(ShadowMachine, RepeatsItself) {
  const Program program = program_of(R"(
      memory m 8
      dispatch A updates m[0:5]
      dispatch B atomics m[2:8] atomic=max
      dispatch C reads m writes m[0:1] partial)");
  const HappensBefore order(program);
  ShadowMachine machine(program);
  const ShadowResult first = machine.run(reference_order_schedule(program), ShadowMode::kStrict);
  const ShadowResult lazy = machine.run(lazy_schedule(program, order), ShadowMode::kStrict);
  EXPECT_EQ(first, machine.run(reference_order_schedule(program), ShadowMode::kStrict));
  EXPECT_EQ(lazy, ShadowMachine(program).run(lazy_schedule(program, order), ShadowMode::kStrict));
}

}  // namespace
}  // namespace interlock::shadow_machine_test
