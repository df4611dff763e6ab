// Observability beside scoped barriers, as check says it, against every execution of the machine on
// split steps; and whether schedules are executions of it.
#include "tests/simulator/judges/split_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "encoder/text/printer.h"
#include "simulator/report/check.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/strategy_random.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/choices.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::split_machine_test {
namespace {

using ::testing::HasSubstr;

struct Counts {
  int observable = 0;
  int unobservable = 0;  // With a hazard.
  int clean = 0;
  int early_fetch = 0;  // Witnesses that need one.
  int late_commit = 0;
  int some_bytes = 0;  // Witnesses that commit some bytes by themselves.
};

// Says why `finding` is not what the machine says; nothing if it is.
void expect_witness(const Program& program, const HappensBefore& order, const Finding& finding,
                    Counts& counts) {
  const Result<Schedule> schedule = schedule_of(program, order, finding.witness);
  ASSERT_TRUE(schedule.has_value()) << schedule.error().message;
  ASSERT_EQ(defect_of(program, *schedule), "") << finding.details.back();
  ASSERT_TRUE(changes_an_output(program, *schedule)) << finding.details.back();
  for (const Displacement& displacement : finding.witness) {
    counts.early_fetch += displacement.kind == DisplacementKind::kFetchesBefore;
    counts.late_commit += displacement.kind == DisplacementKind::kCommitsAfter;
  }
  for (const Step& step : schedule->steps) {
    counts.some_bytes += step.kind == StepKind::kCommit && step.slice_count > 0;
  }
}

// Hazards after own reads among them, which the machine has as the specification does.
void expect_agreement(const Program& program, CheckOptions options, Counts& counts) {
  options.counts_own_reads = true;
  const HappensBefore order(program);
  bool has_hazard = false;
  bool is_observable = false;
  const CheckReport report = check(program, options);
  for (const Finding& finding : report.findings) {
    if (!is_hazard(finding.kind)) continue;
    has_hazard = true;
    ASSERT_NE(finding.observability, Observability::kUnknown) << finding.details.back();
    if (finding.observability != Observability::kObservable) continue;
    is_observable = true;
    expect_witness(program, order, finding, counts);
    if (::testing::Test::HasFatalFailure()) return;
  }
  const SplitVerdict verdict = split_in_every_way(program);
  ASSERT_EQ(is_observable, verdict.changes_an_output) << verdict.execution;
  for (const Finding& finding : report.findings) {
    if (!is_hazard(finding.kind) || is_observable) continue;
    ASSERT_EQ(finding.observability, Observability::kUnobservable);
  }
  counts.observable += is_observable;
  counts.unobservable += has_hazard && !is_observable;
  counts.clean += !has_hazard;
}

bool breaks_an_alias_contract(const Program& program) {
  for (const Finding& finding : check(program).findings) {
    if (finding.kind == FindingKind::kAlias) return true;
  }
  return false;
}

TEST(SplitMachine, CallsAHazardObservableExactlyWhenSomeExecutionChangesAnOutput) {
  const int programs = proof_count(20'000, 130);
  Counts counts;
  int tried = 0;
  for (uint64_t seed = 0; tried < programs; ++seed) {
    SeededChoice choice(seed);
    RandomScopedProgramOptions options;
    options.memory_bytes = 3;
    options.command_count_max = 1 + seed % 3;
    options.may_have_output = true;
    const Program program = random_scoped_program(choice, options);
    if (program.dependencies.empty() || breaks_an_alias_contract(program)) continue;
    ++tried;
    SCOPED_TRACE(print(program));
    expect_agreement(program, {.lists_all_pairs = seed % 4 == 0}, counts);
    if (::testing::Test::HasFatalFailure()) return;
  }
  if (!is_slow_build()) {  // Which tries too few to have some of each.
    EXPECT_GT(counts.observable, programs / 6);
    EXPECT_GT(counts.unobservable, programs / 6);
    EXPECT_GT(counts.clean, programs / 6);
    EXPECT_GT(counts.early_fetch, programs / 150);
    EXPECT_GT(counts.late_commit, programs / 25);
    EXPECT_GT(counts.some_bytes, programs / 200);
  }
  print_proof(programs, "observable beside scoped barriers iff some execution changes an output");
}

TEST(SplitMachine, AgreesOnTinyProgramsOfOneByte) {
  // Making a program costs as much as judging it there.
  const int count = is_slow_build() ? 1'000 : 62'424;
  const int stride = is_slow_build() ? 100 : 62'424 / proof_count(62'424, 300);
  ExhaustiveChoice choice;
  Counts counts;
  int tried = 0;
  int index = 0;
  do {
    const Program program = tiny_scoped_program(choice, {});
    if (index++ % stride != 0 || program.dependencies.empty()) continue;
    ++tried;
    SCOPED_TRACE(print(program));
    expect_agreement(program, {}, counts);
    if (::testing::Test::HasFatalFailure()) return;
  } while (choice.advance() && index < count);
  if (!is_slow_build()) {
    EXPECT_GT(counts.observable, tried / 4);
    EXPECT_GT(counts.unobservable, tried / 50);
  }
  print_proof(
      tried,
      "observable beside scoped barriers as above, on all programs of three dispatches on a byte");
}

// Each of two bytes can be fetched early, and not both: what makes one available refreshes the
// other.
constexpr std::string_view kCrossed = R"(
    memory m 2
    tensor out u8[1] at m+{}
    output out
    dispatch Write writes m[0:2]
    barrier compute.write -> host m[0:1], compute.write -> copy m[1:2]
    barrier host -> compute.write m[1:2], copy -> compute.write m[0:1]
    dispatch Part writes m[0:2] partial)";

TEST(SplitMachine, FetchesEarlyWhicheverOfTwoBytesMatters) {
  int unwritten_count = 0;
  for (const int byte : {0, 1}) {
    const Program program = program_of(fmt::format(fmt::runtime(kCrossed), byte));
    EXPECT_TRUE(split_in_every_way(program).changes_an_output);
    const CheckReport report = check(program);
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].observability, Observability::kObservable);
    Counts counts;
    if (!report.findings[0].witness.empty()) {
      expect_witness(program, HappensBefore(program), report.findings[0], counts);
      continue;
    }
    ++unwritten_count;
    EXPECT_THAT(report.findings[0].details.back(), HasSubstr("that no witness line says"));
  }
  EXPECT_EQ(unwritten_count, 1);
}

TEST(SplitMachine, ExecutesEveryRandomSchedule) {
  const int programs = proof_count(20'000, 300);
  for (int seed = 0; seed < programs; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const Program program = random_scoped_program(choice);
    SCOPED_TRACE(print(program));
    const HappensBefore order(program);
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(defect_of(program, random_schedule(program, order, choice)), "");
    }
  }
  print_proof(programs, "random schedules beside scoped barriers are executions of the machine");
}

}  // namespace
}  // namespace interlock::split_machine_test
