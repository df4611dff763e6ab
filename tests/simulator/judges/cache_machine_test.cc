// Scoped barriers by methods without common logic: all executions of small programs, one by one,
// against the definition, pair by pair, and against the exact check.
#include "tests/simulator/judges/cache_machine.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "encoder/text/printer.h"
#include "simulator/hazards/hazards.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/brute_force.h"
#include "tests/simulator/judges/reference_order.h"
#include "tests/simulator/programs/choices.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_programs.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::cache_machine_test {
namespace {

struct Tally {
  int programs = 0;
  int hazardous = 0;
  int repaired = 0;  // There are conflicts, and barriers separate them all.
};

void compare(const Program& program, Tally& tally) {
  const CacheVerdict verdict = execute_in_every_way(program);
  ASSERT_EQ(verdict.differs, reference_has_hazard(program)) << print(program) << verdict.execution;
  ASSERT_EQ(verdict.differs, !find_hazards(program, HappensBefore(program)).hazards.empty())
      << print(program) << verdict.execution;
  ++tally.programs;
  tally.hazardous += verdict.differs ? 1 : 0;
  tally.repaired += !verdict.differs && reference_has_conflict(program) ? 1 : 0;
}

// How many programs have each feature that the property is about.
void count_features(const Program& program, std::map<std::string, int>& counts) {
  std::map<std::string, int> found;
  for (const Dispatch& dispatch : program.dispatches) {
    const std::string_view kernel = program.name(dispatch.kernel_name);
    found["copy stage"] |= kernel == "copy" || kernel == "fill";
    found["partial writes"] |= dispatch.is_partial;
    for (const Access& access : program.accesses_of(dispatch)) {
      found["uniform reads"] |= access.mode == AccessMode::kUniform;
      found["updates"] |= access.mode == AccessMode::kUpdate;
      found["atomics"] |= access.mode == AccessMode::kAtomic;
    }
  }
  for (size_t s = 1; s < program.statements.size(); ++s) {
    found["several commands in one slot"] |=
        program.statements[s].kind == StatementKind::kBarrier &&
        program.statements[s - 1].kind == StatementKind::kBarrier;
  }
  for (const Barrier& barrier : program.barriers) {
    found["full barriers"] |= barrier.kind == BarrierKind::kFull;
    found["execution barriers"] |= barrier.kind == BarrierKind::kExecution;
    found["several dependencies in one command"] |= barrier.dependency_count > 1;
    for (const Dependency& dependency : program.dependencies_of(barrier)) {
      found["operands of dependencies"] |= dependency.operand_count > 0;
      found["dependencies without memory side"] |=
          dependency.source.accesses == 0 || dependency.destination.accesses == 0;
      found["indirect and host stages"] |=
          dependency.source.stages != kAllStages && (dependency.source.stages & 0xc) != 0;
    }
  }
  for (const auto& [feature, is_there] : found) counts[feature] += is_there;
}

// The features are those that count_features() names, of programs of up to 4 dispatches on 4 bytes
// with up to 3 barriers; a sixth of the barriers after the first repeat the one before.
TEST(CacheMachine, DiffersExactlyWhenThereIsAHazard) {
  SeededChoice choice(1);
  Tally tally;
  std::map<std::string, int> features;
  const int program_total = proof_count(100'000, 3800, 15);
  while (tally.programs < program_total) {
    const Program program = random_scoped_program(choice);
    ASSERT_NO_FATAL_FAILURE(compare(program, tally));
    count_features(program, features);
  }
  EXPECT_GT(tally.hazardous, tally.programs / 2);
  EXPECT_GT(tally.repaired, tally.programs / 5);
  EXPECT_EQ(features.size(), 12u);
  for (const auto& [feature, count] : features) EXPECT_GT(count, tally.programs / 16) << feature;
}

TEST(CacheMachine, DiffersExactlyWhenThereIsAHazardInProgramsOfFiveDispatches) {
  SeededChoice choice(3);
  RandomScopedProgramOptions options;
  options.dispatch_count_min = 5;
  options.dispatch_count_max = 5;
  options.command_count_max = 4;
  options.dependency_count_max = 3;
  options.operand_count_max = 2;
  options.memory_bytes = 6;
  Tally tally;
  while (tally.programs < share_count(4'000, 3)) {
    ASSERT_NO_FATAL_FAILURE(compare(random_scoped_program(choice, options), tally));
  }
  EXPECT_GT(tally.repaired, tally.programs / 10);
}

TEST(CacheMachine, DiffersExactlyWhenThereIsAHazardInEveryTinyProgram) {
  struct Class {
    TinyScopedProgramOptions options;
    int program_count;
  };
  // A command after each of two dispatches, two commands after one, two dependencies in one.
  for (const Class& c : {Class{{3, 1, 1}, 6 * 6 * 6 * 15 * 15}, Class{{2, 2, 1}, 6 * 6 * 15 * 15},
                         Class{{2, 1, 2}, 6 * 6 * (3 + 12 + 12 * 12)}}) {
    const int count = share_count(c.program_count, 8, 200);
    ShareOfChoices choice(count);
    Tally tally;
    do {
      ASSERT_NO_FATAL_FAILURE(compare(tiny_scoped_program(choice, c.options), tally));
    } while (choice.advance());
    EXPECT_EQ(tally.programs, count);
  }
}

// Full and execution barriers are special cases of scoped ones.
TEST(CacheMachine, AgreesWithAllSchedulesOnGlobalBarriers) {
  SeededChoice choice(2);
  RandomProgramOptions options;
  options.dispatch_count_min = 2;
  options.dispatch_count_max = 4;
  options.memory_bytes = 4;
  options.barrier_percent = 50;
  const int count = proof_count(10'000, 600, 10);
  for (int i = 0; i < count; ++i) {
    const Program program = random_program(choice, options);
    const CacheVerdict verdict = execute_in_every_way(program);
    ASSERT_EQ(verdict.differs, brute_force(program).differs_strictly)
        << print(program) << verdict.execution;
  }
}

}  // namespace
}  // namespace interlock::cache_machine_test
