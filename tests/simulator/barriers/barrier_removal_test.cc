// Which barriers can go, against the removal of each and a list of hazards byte by byte; and what
// counts as a hazard then.
#include "simulator/barriers/barrier_removal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/program/scope.h"
#include "encoder/text/printer.h"
#include "simulator/barriers/redundancy.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/barriers/redundant_barriers.h"
#include "tests/simulator/judges/removal_judge.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_programs.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::barrier_removal_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The second barrier names neither end: it only passes on. b is never visible, and a hazard of the
// pair; a is one only without it.
TEST(BarrierRemoval, SeesMoreBytesOfAPairThatHasAHazard) {
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes b a
      barrier compute.write -> copy
      barrier copy -> host
      barrier host -> compute.read a
      dispatch B reads b a)"),
              IsEmpty());
  // Nothing reads a: only the hazard on b is left, and the barrier is not for it.
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes b a
      barrier compute.write -> copy
      barrier copy -> host
      dispatch B reads b)"),
              ElementsAre(1));
}

TEST(BarrierRemoval, SeesMoreBytesOfOneOperand) {
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier compute.write -> copy
      barrier copy -> host
      barrier host -> compute.read a[64:128]
      dispatch B reads a)"),
              IsEmpty());
}

TEST(BarrierRemoval, SeesMoreBytesBehindAVisibleRun) {
  // Visible are a[0:8] and a[32:40] with the barrier, a[0:8] without it: the first invisible run
  // begins at the same byte.
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier compute.write -> compute.read a[0:8], compute.write -> copy
      barrier copy -> host
      barrier host -> compute.read a[32:40]
      dispatch B reads a)"),
              IsEmpty());
}

TEST(BarrierRemoval, TellsAUniformReadFromARead) {
  // b is read both ways, and seen by one of them, as long as the barrier passes it on.
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes b
      barrier compute.write -> copy
      barrier copy -> host
      barrier host -> compute.read
      dispatch B uniform b reads b)"),
              IsEmpty());
}

TEST(BarrierRemoval, KeepsTheOrderThatAHazardHas) {
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes b
      barrier compute -> copy
      barrier copy -> host
      barrier host -> compute
      dispatch B reads b)"),
              IsEmpty());
}

TEST(BarrierRemoval, KeepsAnExecutionBarrierThatFailsToOrderAHazard) {
  // Two of them: either can go, and both fail. Spelled as scopes they are the same.
  for (const std::string_view barrier : {"barrier execution", "barrier all -> all"}) {
    EXPECT_THAT(redundant_on_abc(
                    fmt::format("dispatch A writes a\n{0}\n{0}\ndispatch B reads a\n", barrier)),
                IsEmpty());
    EXPECT_THAT(
        redundant_on_abc(fmt::format(
            "dispatch A writes a\n{0}\ndispatch B reads b\n{0}\ndispatch C reads a\n", barrier)),
        IsEmpty());
    // A full barrier between orders the pair: there is no hazard to fail at.
    EXPECT_THAT(redundant_on_abc(fmt::format(
                    "dispatch A writes a\n{0}\nbarrier\n{0}\ndispatch B reads a\n", barrier)),
                ElementsAre(0, 2));
  }
  // Beside scoped barriers.
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier execution
      barrier compute -> compute
      dispatch B reads a
      barrier copy.read -> copy.write
      dispatch C reads b)"),
              ElementsAre(2));
}

TEST(BarrierRemoval, LooksAtEachDependencyOfABarrier) {
  // Neither end is in the first dependency, the second one names a stage of it.
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier copy.write -> copy.read, host -> compute.read
      dispatch B reads a)"),
              IsEmpty());
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier copy.write -> copy.read, host -> indirect.read
      dispatch B reads a)"),
              ElementsAre(0));
}

TEST(BarrierRemoval, IsUnknownWhereThereIsTooLittleWork) {
  const Program with =
      program_on_abc("dispatch A writes a b\nbarrier copy -> copy\ndispatch B reads a b\n");
  const Program without = without_barrier(with, BarrierId(0));
  uint64_t work_left = 2;
  EXPECT_EQ(judge_removal({with, without, BarrierId(0), 1}, work_left), RemovalVerdict::kUnknown);
  EXPECT_EQ(work_left, 0U);
  work_left = 1000;
  EXPECT_EQ(judge_removal({with, without, BarrierId(0), 1}, work_left), RemovalVerdict::kRedundant);
  EXPECT_GT(work_left, 900U);
  EXPECT_LT(work_left, 1000U);
}

// How often each answer occurs, and how often it hangs on something that a coarser comparison does
// not see.
struct Tally {
  int redundant = 0;
  int needed = 0;
  int of_hazardous_programs = 0;  // Of those that can go.
  int failing = 0;                // Needed only as they fail to order a hazard.
  int by_bytes = 0;               // Needed, and the pairs and kinds stay as they are.
};

std::set<std::tuple<DispatchId, DispatchId, FindingKind>> pairs_of(
    const std::set<ByteHazard>& hazards) {
  std::set<std::tuple<DispatchId, DispatchId, FindingKind>> pairs;
  for (const ByteHazard& hazard : hazards) pairs.emplace(hazard.first, hazard.second, hazard.kind);
  return pairs;
}

void compare_with_removal(const Program& program, Tally& tally) {
  const std::vector<uint32_t> redundant = redundant_in(program);
  ASSERT_EQ(redundant, barriers_that_can_go(program)) << print(program);
  const std::set<ByteHazard> hazards = byte_hazards_of(program);
  for (uint32_t i = 0; i < program.barriers.size(); ++i) {
    if (std::binary_search(redundant.begin(), redundant.end(), i)) {
      ++tally.redundant;
      tally.of_hazardous_programs += !hazards.empty();
      continue;
    }
    ++tally.needed;
    const std::set<ByteHazard> less = byte_hazards_of(without_barrier(program, BarrierId(i)));
    const bool fails = fails_to_order(program, BarrierId(i), hazards);
    tally.failing += less == hazards;
    tally.by_bytes += !fails && less != hazards && pairs_of(less) == pairs_of(hazards);
  }
}

void expect_all_kinds(const Tally& tally, int count) {
  EXPECT_GT(tally.redundant, count / 3);
  EXPECT_GT(tally.needed, count / 4);
  EXPECT_GT(tally.of_hazardous_programs, count / 20);
  EXPECT_GE(tally.failing, count / 50);
}

// One barrier in 160 is needed for bytes of pairs that have this hazard elsewhere anyway: a check
// that compares pairs and kinds misses all of them in 1,500 programs with odds below e^-20. One
// that takes no execution barrier for failing is contradicted more often.
TEST(BarrierRemoval, AgreesWithTheJudgeOfBytesBesideScopes) {
  const int count = proof_count(40'000, 1'500, 10);
  Tally tally;
  for (int i = 0; i < count; ++i) {
    SeededChoice choice(static_cast<uint64_t>(i));
    const RandomScopedProgramOptions options{.dispatch_count_max = 2 + choice.below(3),
                                             .operand_count_max = 4,
                                             .command_count_max = 2 + choice.below(4)};
    SCOPED_TRACE(i);
    const Program program =
        i % 2 == 0 ? random_scoped_program(choice, options) : random_relay_program(choice, options);
    ASSERT_NO_FATAL_FAILURE(compare_with_removal(program, tally));
  }
  expect_all_kinds(tally, count);
  // In a slow build too few programs are tried to have one.
  if (!is_slow_build()) {
    EXPECT_GE(tally.by_bytes, count / 100);
  }
  print_proof(count, "a barrier is redundant iff its removal adds no byte to a hazard, scoped");
}

TEST(BarrierRemoval, AgreesWithTheJudgeOfBytesForGlobalBarriers) {
  const int count = proof_count(40'000, 1'500, 10);
  Tally tally;
  for (int i = 0; i < count; ++i) {
    SeededChoice choice(static_cast<uint64_t>(i) + 1'000'000);
    const RandomProgramOptions options{.dispatch_count_max = 5, .barrier_percent = 60};
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(compare_with_removal(random_program(choice, options), tally));
  }
  expect_all_kinds(tally, count);
  print_proof(count, "a barrier is redundant iff its removal adds no byte to a hazard, global");
}

// The text with each global barrier spelled as the dependency that it is.
Program with_scopes_spelled(const Program& program) {
  ProgramDraft draft = draft_of(program);
  for (ItemDraft& item : draft.items) {
    auto* const barrier = std::get_if<BarrierDraft>(&item);
    if (barrier == nullptr) continue;
    const Scope scope = barrier->kind == BarrierKind::kFull
                            ? kEverything
                            : Scope{kEverything.stages, AccessMask{0}};
    *barrier = {barrier->label, BarrierKind::kScoped, {{scope, scope, {}}}};
  }
  return build(draft).value();
}

std::vector<uint32_t> redundant_by_check(const Program& program) {
  std::vector<uint32_t> barriers;
  for (const RedundantBarrier& redundant : check(program, {.observability_budget = 0}).redundant) {
    barriers.push_back(redundant.barrier.index);
  }
  return barriers;
}

// Three ways through the code: by the epochs that conflicts join, where there are hazards and in
// one pass where there are none, and by removal.
TEST(BarrierRemoval, IsJudgedAlikeHoweverABarrierIsSpelled) {
  const int count = proof_count(40'000, 750, 10);
  for (int i = 0; i < count; ++i) {
    SeededChoice choice(static_cast<uint64_t>(i) + 2'000'000);
    const RandomProgramOptions options{.dispatch_count_max = 9, .barrier_percent = 45};
    const Program program = random_program(choice, options);
    const std::vector<uint32_t> redundant = redundant_in(program);
    ASSERT_EQ(redundant, redundant_in(with_scopes_spelled(program))) << "seed " << i << "\n"
                                                                     << print(program);
    ASSERT_EQ(redundant, redundant_by_check(program)) << "seed " << i << "\n" << print(program);
  }
  print_proof(count, "a global barrier is redundant iff it is when it is spelled as scopes");
}

}  // namespace
}  // namespace interlock::barrier_removal_test
