// What the scan of clean programs says of each dispatch, up to the first one with a hazard, against
// the search of chains. Fixed seeds.
#include "simulator/hazards/clean_scan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "simulator/bytes/byte_segments.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_queue_programs.h"

namespace interlock::clean_scan_test {
namespace {

// The first dispatch of which it does not say that it is clean; none if it says so of all.
std::optional<DispatchId> first_doubt(const Program& program) {
  const QueueOrder order(program);
  const ByteSegments segments(program);
  CleanScan scan(program, order, segments);
  EXPECT_FALSE(scan.is_over());
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    if (!scan.is_clean(DispatchId(i))) return DispatchId(i);
    scan.record(DispatchId(i));
  }
  return std::nullopt;
}

TEST(CleanScan, DoubtsTheFirstDispatchThatHasAHazard) {
  const int count = share_count(8000, 3);
  int clean_count = 0;
  int hazard_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 900'000);
    const std::string text = random_queue_program(
        choice, {.queue_count_max = 3, .sync_count_max = 14, .memory_bytes = 8});
    const std::optional<Program> program = parse_queues(text);
    if (!program || !needs_queue_order(*program) || !program->host_dispatches.empty()) continue;
    if (!find_reference_order(*program).is_text_order) continue;
    const bool has_atomics = std::ranges::any_of(program->accesses, &Access::is_atomic);
    if (has_atomics) continue;
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const auto hazards = chain_hazards_of(*program);
    ASSERT_TRUE(hazards.has_value());
    std::optional<DispatchId> first;
    for (const ChainHazard& hazard : *hazards) {
      if (!first || hazard.second < *first) first = hazard.second;
    }
    const std::optional<DispatchId> doubted = first_doubt(*program);
    if (program->barrier_operands.empty()) {
      ASSERT_EQ(doubted, first);
    } else {
      // Of some bytes alone the scan knows nothing, and says so.
      ASSERT_TRUE(!first || (doubted && *doubted <= *first));
    }
    ++(first ? hazard_count : clean_count);
  }
  EXPECT_GT(clean_count, count / 50);
  EXPECT_GT(hazard_count, count / 20);
}

TEST(CleanScan, AsksOfAnUpdateForBothOfItsSorts) {
  const auto doubt = [](const std::string& destination) {
    return first_doubt(program_with_queues(
        "interlock 1\nmemory x 64\nq1: queue concurrent\ndispatch Make writes x\n"
        "barrier compute.write -> " +
        destination + "\ndispatch Step updates x\ndispatch Other reads x[0:0] on q1\n"));
  };
  EXPECT_EQ(doubt("compute.read"), DispatchId(1));
  EXPECT_EQ(doubt("compute.write"), DispatchId(1));
  EXPECT_FALSE(doubt("compute.read|compute.write").has_value());
}

TEST(CleanScan, RemembersTheReadsOfEachPlace) {
  const auto doubt = [](const std::string& wait) {
    return first_doubt(program_with_queues(
        "interlock 1\nmemory x 64\nq1: queue concurrent\nq2: queue concurrent\n"
        "dispatch Left reads x on q1\nsignal s=1 on q1\ndispatch Right reads x on q2\n"
        "signal t=1 on q2\n" +
        wait + "dispatch Make writes x\n"));
  };
  EXPECT_EQ(doubt("wait s=1\n"), DispatchId(2));
  EXPECT_EQ(doubt("wait t=1\n"), DispatchId(2));
  EXPECT_FALSE(doubt("wait s=1\nwait t=1\n").has_value());
}

}  // namespace
}  // namespace interlock::clean_scan_test
