// Which barriers can go where some are scoped: by windows, against the whole program.
#include "simulator/barriers/redundancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "encoder/assemble/build.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/generator.h"
#include "simulator/barriers/barrier_removal.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/removal_judge.h"
#include "tests/simulator/programs/program_text.h"

namespace interlock::scoped_redundancy_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kAmpleWork = 1'000'000'000;

std::vector<uint32_t> barriers_of(const BarrierRedundancy& result) {
  std::vector<uint32_t> barriers;
  for (const RedundantBarrier& redundant : result.redundant) {
    barriers.push_back(redundant.barrier.index);
  }
  return barriers;
}

std::vector<uint32_t> redundant_on_abc(std::string_view body) {
  return barriers_of(find_scoped_redundant(program_on_abc(body), kAmpleWork));
}

TEST(FindScopedRedundant, NeedsWhatOrdersAConflictAndNoMore) {
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier compute.write -> compute.read
      dispatch B reads a)"),
              IsEmpty());
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier compute.write -> compute.read
      dispatch B reads b)"),
              ElementsAre(0));
}

// Command buffers end where barriers stand, and are none.
TEST(FindScopedRedundant, TakesNoEndOfACommandBufferForABarrier) {
  ParseOptions options;
  options.reads_one_queue = true;
  const auto program = parse(
      "interlock 1\nmemory a 64\nmemory b 64\nsplit\ndispatch A writes a\nsplit\nsplit\n"
      "barrier compute.write -> compute.read\ndispatch B reads a\nsplit\n"
      "barrier compute.write -> compute.read\nsplit\nsplit\ndispatch C reads b\nsplit\n",
      "test", options);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_THAT(barriers_of(find_scoped_redundant(*program, kAmpleWork)), ElementsAre(1));
}

TEST(FindScopedRedundant, CountsEachLinkOfAChain) {
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier compute.write -> host
      barrier host -> compute.read
      dispatch B reads a)"),
              IsEmpty());
  // The full barrier needs no chain.
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier compute.write -> host
      barrier host -> compute.read
      barrier
      dispatch B reads a)"),
              ElementsAre(0, 1, 2));
}

TEST(FindScopedRedundant, KeepsSyncThatFailsToOrderAHazard) {
  // The barrier orders the two and makes nothing visible; without it they are not even ordered.
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier compute.read -> compute.read
      dispatch B reads a)"),
              IsEmpty());
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier compute.write -> compute.read a[0:8]
      dispatch B reads a)"),
              IsEmpty());
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier copy.write -> compute.read
      dispatch B reads a)"),
              IsEmpty());
  // Two other stages have nothing to do with it.
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier copy.write -> copy.read
      dispatch B reads a)"),
              ElementsAre(0));
}

TEST(FindScopedRedundant, NamesWhatStandsBeforeOrBehindEverything) {
  const BarrierRedundancy result = find_scoped_redundant(program_on_abc(R"(
      barrier compute -> copy
      dispatch A writes a
      barrier)"),
                                                         kAmpleWork);
  ASSERT_EQ(result.redundant.size(), 2u);
  EXPECT_EQ(result.redundant[0].reason, RedundancyReason::kNothingBefore);
  EXPECT_EQ(result.redundant[1].reason, RedundancyReason::kNothingBehind);
}

TEST(FindScopedRedundant, SaysHowManyItHadNoWorkFor) {
  const Program program = program_on_abc(R"(
      dispatch A writes a
      barrier compute.write -> compute.read
      dispatch B reads a)");
  EXPECT_EQ(find_scoped_redundant(program, 1).unjudged_count, 1u);
  EXPECT_EQ(find_scoped_redundant(program, kAmpleWork).unjudged_count, 0u);
}

uint32_t dispatches_before(const Program& program, BarrierId barrier) {
  const StatementId at = program.barriers[barrier.index].statement;
  return static_cast<uint32_t>(
      std::count_if(program.dispatches.begin(), program.dispatches.end(),
                    [at](const Dispatch& dispatch) { return dispatch.statement < at; }));
}

TEST(FindScopedRedundant, AgreesWithRemovalFromTheWholeProgram) {
  uint64_t scoped_count = 0;
  uint64_t redundant_count = 0;
  uint64_t needed_count = 0;
  uint64_t clean_count = 0;
  GeneratorOptions options;
  options.has_barriers = true;
  options.max_dispatches = 12;
  for (uint64_t seed = 0; scoped_count < static_cast<uint64_t>(share_count(1'500, 5, 120));
       ++seed) {
    SeededChoice choice(seed);
    const Program program = build(generate(choice, options)).value();
    if (program.dependencies.empty()) continue;
    ++scoped_count;
    clean_count += find_hazards(program, HappensBefore(program), {.limit = 1}).hazards.empty();
    const BarrierRedundancy result = find_scoped_redundant(program, kAmpleWork);
    ASSERT_EQ(result.unjudged_count, 0u);
    const std::vector<uint32_t> redundant = barriers_of(result);
    for (uint32_t b = 0; b < program.barriers.size(); ++b) {
      const BarrierId id(b);
      const Program without = without_barrier(program, id);
      uint64_t work_left = kAmpleWork;
      const RemovalVerdict verdict =
          judge_removal({program, without, id, dispatches_before(program, id)}, work_left);
      const bool is_redundant = std::find(redundant.begin(), redundant.end(), b) != redundant.end();
      ASSERT_EQ(verdict, is_redundant ? RemovalVerdict::kRedundant : RemovalVerdict::kNeeded)
          << "seed " << seed << ", barrier " << b << "\n"
          << print(program);
      ++(is_redundant ? redundant_count : needed_count);
    }
  }
  // Both answers must be common, or nothing was compared.
  EXPECT_GT(redundant_count, scoped_count / 4);
  EXPECT_GT(needed_count, scoped_count / 4);
  EXPECT_GT(clean_count, scoped_count / 20);
}

}  // namespace
}  // namespace interlock::scoped_redundancy_test
