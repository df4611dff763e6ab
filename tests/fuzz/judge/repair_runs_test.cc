// Schedules of a repaired program on the CPU: those of a program that is not repaired differ.
#include "fuzz/judge/repair_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "backends/cpu/cpu_backend.h"
#include "encoder/text/parser.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/report/read_every_queue.h"

namespace interlock::repair_runs_test {
namespace {

using testing::HasSubstr;

RepairRuns runs_of(std::string_view text, uint64_t limit_bytes = kRepairRunsLimitBytes) {
  ParseOptions options;
  read_every_queue(options);
  const auto program = parse(text, "t.ilk", options);
  EXPECT_TRUE(program) << program.error().message;
  CpuBackend cpu;
  return run_repaired(reference_run(*program), cpu, limit_bytes);
}

std::string two_dispatches(std::string_view between) {
  return "interlock 1\nmemory x 64\nmemory y 64\ndispatch Make writes x\n" + std::string(between) +
         "dispatch Use reads x writes y\n";
}

std::string two_queues(std::string_view between) {
  return "interlock 1\nmemory x 64\nmemory y 64\nq1: queue serial\n"
         "dispatch Make writes x\nsignal done=1\n" +
         std::string(between) + "dispatch Use reads x writes y on q1\n";
}

TEST(RepairRuns, DifferWhereSyncIsMissing) {
  const RepairRuns missing = runs_of(two_dispatches(""));
  EXPECT_GT(missing.differing_count, 0u);
  const RepairRuns repaired = runs_of(two_dispatches("barrier\n"));
  EXPECT_GT(repaired.schedule_count, 0u);
  EXPECT_EQ(repaired.differing_count, 0u);
  EXPECT_EQ(repaired.refusal, "");
}

// The odds of a miss: 20 random schedules, each with the reader first at one in two, 1e-6; the
// seeds are fixed.
TEST(RepairRuns, DifferWhereAWaitIsMissing) {
  EXPECT_GT(runs_of(two_queues("")).differing_count, 0u);
  const RepairRuns repaired = runs_of(two_queues("wait done=1 on q1\n"));
  EXPECT_GT(repaired.schedule_count, 0u);
  EXPECT_EQ(repaired.differing_count, 0u);
}

TEST(RepairRuns, AreDifferentSchedules) {
  // All that sync leaves open of this is when a late write commits.
  EXPECT_LE(runs_of("interlock 1\nmemory x 64\nhost writes x = ones\ndispatch Use reads x\n")
                .schedule_count,
            2u);
  EXPECT_EQ(
      runs_of("interlock 1\nmemory x 64\ndispatch A writes x[0:8]\ndispatch B writes x[8:16]\n"
              "dispatch C writes x[16:24]\ndispatch D writes x[24:32]\n")
          .schedule_count,
      kRepairRunsMax);
}

TEST(RepairRuns, AreFewerWhereMemoriesAreLarge) {
  const std::string text = two_dispatches("barrier\n");  // 128 bytes, and 192 of accesses.
  const RepairRuns none = runs_of(text, 2 * 320 - 1);
  EXPECT_EQ(none.schedule_count, 0u);
  EXPECT_THAT(none.refusal, HasSubstr("more than 639 bytes"));
  EXPECT_EQ(runs_of(text, 2 * 320).schedule_count, 1u);
}

}  // namespace
}  // namespace interlock::repair_runs_test
