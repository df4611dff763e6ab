// What bytes held, as reports tell it: where the host holds work back, what it says of values
// stands behind what it had issued by then. By hand, and against what a read finds.
#include "simulator/report/byte_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "simulator/lifetimes/lifetimes.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/report/check.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_destroys.h"

namespace interlock::byte_history_test {
namespace {

using ::testing::ElementsAre;

// Headlines of what is wrong with values, and the history of each.
std::vector<std::string> told_of(const std::string& statements) {
  const Program program = program_with_queues(
      "interlock 1\nmemory pool 64\nmemory out 64\ntensor x u8[64] at pool+0\n"
      "tensor y u8[64] at pool+0\nq1: queue serial\n" +
      statements);
  std::vector<std::string> told;
  for (const Finding& finding : check(program).findings) {
    if (is_hazard(finding.kind)) continue;
    told.push_back(finding.headline);
    told.push_back(finding.details.front());
  }
  return told;
}

TEST(ByteHistory, HasAFreeBehindTheWriteThatWasIssuedBeforeIt) {
  EXPECT_THAT(told_of(R"(
wait go=1 on q1
a: dispatch Make writes x on q1
early: dispatch Use reads x writes out[0:16] on q1
free x
late: dispatch Use reads x writes out[16:32] on q1
host signals go=1
)"),
              ElementsAre("use-after-free: late (dispatch 2) reads pool[0:64] as x, whose value "
                          "'free x' ended after dispatch 1.",
                          "pool[0:64] held x from a (dispatch 0) on, then was freed after "
                          "dispatch 1."));
}

// What is issued after the free executes before what was issued before it.
TEST(ByteHistory, HasTheWritesAsTheyExecute) {
  EXPECT_THAT(told_of(R"(
wait go=1 on q1
a: dispatch Make writes x on q1
free x
b: dispatch Other writes y
signal done=1
wait done=1 on q1
late: dispatch Use reads x writes out[16:32] on q1
host signals go=1
)"),
              ElementsAre("use-after-free: late (dispatch 2) reads pool[0:64] as x, whose value "
                          "'free x' ended after dispatch 0.",
                          "pool[0:64] held y from b (dispatch 1) on, held x from a (dispatch 0) "
                          "on, then was freed after dispatch 0."));
}

TEST(ByteHistory, HasNoFreeThatIsIssuedAfterTheRead) {
  EXPECT_THAT(told_of(R"(
wait go=1 on q1
b: dispatch Other writes y on q1
early: dispatch Use reads x writes out[0:16] on q1
free y
host signals go=1
)"),
              ElementsAre("clobber: early (dispatch 1) reads pool[0:64] as x and finds y, which b "
                          "(dispatch 0) writes there.",
                          "pool[0:64] held y from b (dispatch 0) on."));
}

TEST(ByteHistory, FollowsTheTextWhereNothingIsHeldBack) {
  EXPECT_THAT(told_of(R"(
a: dispatch Make writes x
host idle
free x
b: dispatch Use reads x writes out[0:16]
)"),
              ElementsAre("use-after-free: b (dispatch 1) reads pool[0:64] as x, whose value "
                          "'free x' ended after dispatch 0.",
                          "pool[0:64] held x from a (dispatch 0) on, then was freed after "
                          "dispatch 0."));
}

// What the first byte holds at the end of its history is what the read finds.
TEST(ByteHistory, EndsWithWhatTheReadFinds) {
  const int count = proof_count(120'000, 1500, 20);
  int held_back_count = 0;
  int told_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 52'000'000);
    const Result<Program> program = build(draft_held_back(choice));
    ASSERT_TRUE(program) << program.error().message;
    if (!find_reference_order(*program).cycle.empty()) continue;
    const Program run = reference_run(*program);
    const HappensBefore order(run);
    LifetimeOptions options;
    if (order.has_queues()) options.queues = &order.queues();
    bool tells_any = false;
    for (const LifetimeFinding& finding : check_lifetimes(run, options).findings) {
      if (finding.is_pending) continue;  // It is about an order, and not about what is found.
      SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + print(*program));
      uint64_t work = UINT64_MAX;
      const ByteHistory history =
          history_of(run, finding.memory, finding.bytes, finding.reader.dispatch, work);
      const HeldValue held = history.events.empty() ? HeldValue() : history.events.back().value;
      tells_any = true;
      if (finding.kind == FindingKind::kUseAfterFree) {
        ASSERT_EQ(held.ended_by, finding.ended_by);
        ASSERT_EQ(held.ended_at, finding.ended_at);
      } else if (finding.kind == FindingKind::kClobber) {
        ASSERT_FALSE(held.is_ended());
        ASSERT_EQ(held.owner, finding.found);
      } else {
        ASSERT_FALSE(held.is_ended());
      }
    }
    told_count += tells_any ? 1 : 0;
    held_back_count += tells_any && run.text_order ? 1 : 0;
  }
  EXPECT_GT(told_count, count / 8);
  EXPECT_GT(held_back_count, count / 50);
  print_proof(told_count, "the history of bytes ends with what the read of a finding finds");
}

}  // namespace
}  // namespace interlock::byte_history_test
