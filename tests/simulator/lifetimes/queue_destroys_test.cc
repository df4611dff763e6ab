// Destroys in programs with several queues and with the host: what each order lets be over, and the
// same findings as on one queue where that is all there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/text/printer.h"
#include "simulator/lifetimes/lifetimes.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "tests/program_count.h"
#include "tests/simulator/lifetimes/lifetime_text.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_lifetime_programs.h"

namespace interlock::queue_destroys_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> findings_with_queues(const Program& program) {
  EXPECT_TRUE(needs_queue_order(program));
  const Program run = in_reference_order(program, find_reference_order(program));
  const QueueOrder order(run);
  std::vector<std::string> texts;
  LifetimeOptions options;
  options.queues = &order;
  for (const LifetimeFinding& finding : check_lifetimes(run, options).findings) {
    texts.push_back(text_of(run, finding));
  }
  return texts;
}

std::vector<std::string> findings_in(const std::string& statements) {
  return findings_with_queues(program_with_queues(
      "interlock 1\nq1: queue serial\nq2: queue serial\ng: queue graph\nmemory m 64\n"
      "tensor x f32[4] at m+0\ntensor y f32[4] at m+16\n" +
      statements));
}

TEST(QueueDestroys, OfTheHostWaitForTheHost) {
  const std::string write = "a: dispatch fill writes x value=1 on q1\nsignal s=1 on q1\n";
  EXPECT_THAT(findings_in(write + "destroy x\n"), ElementsAre("use-after-free 0 a"));
  EXPECT_THAT(findings_in(write + "host waits s=1\ndestroy x\n"), IsEmpty());
  EXPECT_THAT(findings_in(write + "host idle\ndestroy x\n"), IsEmpty());
  EXPECT_THAT(findings_in(write + "host idle on q1\ndestroy x\n"), IsEmpty());
  EXPECT_THAT(findings_in(write + "host idle on q2\ndestroy x\n"),
              ElementsAre("use-after-free 0 a"));
}

TEST(QueueDestroys, OfAQueueTakePlaceInItsOrder) {
  const std::string write = "a: dispatch fill writes x value=1 on q1\n";
  EXPECT_THAT(findings_in(write + "destroy x on q1\n"), IsEmpty());
  EXPECT_THAT(findings_in(write + "destroy x on q2\n"), ElementsAre("use-after-free 0 a"));
  EXPECT_THAT(findings_in(write + "signal s=1 on q1\nwait s=1 on q2\ndestroy x on q2\n"),
              IsEmpty());
  // The signal stands before what uses the bytes.
  EXPECT_THAT(findings_in("signal s=1 on q1\n" + write + "wait s=1 on q2\ndestroy x on q2\n"),
              ElementsAre("use-after-free 0 a"));
}

// Whatever stage a barrier holds back: what is before it is over.
TEST(QueueDestroys, OfAConcurrentQueueComeAfterWhatIsBeforeAnyStage) {
  const std::string write =
      "other: dispatch Make writes y on q1\na: dispatch Make writes x on q0\n";
  EXPECT_THAT(findings_in(write + "destroy x on q0\n"), ElementsAre("use-after-free 0 a"));
  for (const std::string stage : {"compute", "copy", "indirect"}) {
    EXPECT_THAT(findings_in(write + "barrier compute -> " + stage + "\ndestroy x on q0\n"),
                IsEmpty());
    EXPECT_THAT(findings_in(write + "barrier copy -> " + stage + "\ndestroy x on q0\n"),
                ElementsAre("use-after-free 0 a"));
  }
}

// The last use of each queue counts, not the last one of all.
TEST(QueueDestroys, WaitForEachQueueThatUsesTheBytes) {
  const std::string uses =
      "a: dispatch fill writes x value=1 on q1\n"
      "signal s=1 on q1\n"
      "wait s=1 on q2\n"
      "b: dispatch copy reads x writes y on q1\n"
      "c: dispatch copy reads x writes m[32:48] on q2\n";
  EXPECT_THAT(findings_in(uses + "destroy x on q2\n"), ElementsAre("use-after-free 0 b"));
  EXPECT_THAT(findings_in(uses + "destroy x on q1\n"), ElementsAre("use-after-free 0 c"));
  EXPECT_THAT(findings_in(uses + "signal t=1 on q2\nwait t=1 on q1\ndestroy x on q1\n"), IsEmpty());
}

TEST(QueueDestroys, OfAGraphComeAfterAllOfItSoFar) {
  const std::string write = "a: dispatch fill writes x value=1 on g\n";
  EXPECT_THAT(findings_in(write + "destroy x on g\n"), IsEmpty());
  EXPECT_THAT(findings_in("b: dispatch fill writes x value=1 on q1\n" + write + "destroy x on g\n"),
              ElementsAre("use-after-free 0 b"));
}

TEST(QueueDestroys, OfTheHostNeedNotWaitForTheHost) {
  EXPECT_THAT(findings_in("host writes x\nhost idle\ndestroy x\n"), IsEmpty());
  EXPECT_THAT(findings_in("w: host writes x\ndestroy x on q1\n"), IsEmpty());
}

// What the host reads elsewhere makes the clocks judge; the destroys stay those of the queue.
TEST(QueueDestroys, AreFoundAsOnOneQueue) {
  int pending_count = 0;
  int program_total = 0;
  for (int seed = 0; seed < program_count(20'000); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    RandomLifetimeOptions options;
    options.statement_count_max = 4 + choice.below(12);
    const Program one = random_lifetime_program(choice, options);
    // An unpin has no queue.
    if (one.has_any(LifetimeKind::kUnpin)) continue;
    std::string text;
    for (const std::string& line : text_lines_of(print(one))) {
      const bool ends = line.starts_with("free ") || line.starts_with("destroy ");
      text += line + (ends ? " on q0\n" : "\n");
      if (text.ends_with("interlock 1\n")) text += "memory elsewhere 4\n";
    }
    const Program many = program_with_queues(text + "host reads elsewhere\n");
    ASSERT_EQ(findings_with_queues(many), findings_of(one)) << "seed " << seed << "\n" << text;
    ++program_total;
    const std::vector<LifetimeFinding> found = check_lifetimes(one).findings;
    for (const LifetimeFinding& finding : found) pending_count += finding.is_pending;
  }
  EXPECT_GE(program_total, program_count(20'000) / 10);
  EXPECT_GE(pending_count, program_total / 100);
}

}  // namespace
}  // namespace interlock::queue_destroys_test
