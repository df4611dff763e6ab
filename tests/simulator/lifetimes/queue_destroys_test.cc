// Destroys in programs with several queues and with the host: what each order lets be over, and the
// same findings as on one queue where that is all there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/text/printer.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/chains/chain_destroys.h"
#include "simulator/chains/counter_run.h"
#include "simulator/lifetimes/lifetimes.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "tests/program_count.h"
#include "tests/simulator/lifetimes/lifetime_text.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_destroys.h"
#include "tests/simulator/programs/random_lifetime_programs.h"

namespace interlock::queue_destroys_test {
namespace {

using ::testing::Contains;
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

// What is issued before a destroy and held back until after it is pending all the same, be it a
// write or a read: the run that is reported has it later, and others may have it there.
TEST(QueueDestroys, WaitForWhatAHostSignalHoldsBack) {
  const std::string uses[] = {"a: dispatch fill writes x value=1 on q1\n",
                              "a: dispatch Make updates x on q1\n",
                              "a: dispatch copy reads x writes y on q1\n"};
  for (const std::string& use : uses) {
    const std::string held =
        "dispatch fill writes x value=0 on q1\nhost idle\nwait s=1 on q1\n" + use;
    EXPECT_THAT(findings_in(held + "submit on q1\ndestroy x\nhost signals s=1\n"),
                Contains("use-after-free 0 a").Times(1));
    EXPECT_THAT(findings_in(held + "submit on q1\nhost signals s=1\nhost idle\ndestroy x\n"),
                IsEmpty());
  }
}

TEST(QueueDestroys, WaitForWhatAnotherQueueHoldsBack) {
  const std::string held = "wait s=1 on q1\na: dispatch fill writes x value=1 on q1\n";
  EXPECT_THAT(findings_in(held + "destroy x on q2\nsignal s=1 on q2\n"),
              ElementsAre("use-after-free 0 a"));
  EXPECT_THAT(findings_in(held + "destroy x on q2\nsignal s=1 on q0\n"),
              ElementsAre("use-after-free 0 a"));
  EXPECT_THAT(findings_in(held + "signal t=1 on q1\nwait t=1 on q2\ndestroy x on q2\n"
                                 "signal s=1 on q0\n"),
              IsEmpty());
  // In its own queue it comes after it.
  EXPECT_THAT(findings_in(held + "destroy x on q1\nsignal s=1 on q2\n"), IsEmpty());
}

TEST(QueueDestroys, WaitForWhatIsSubmittedLater) {
  const std::string held = "a: dispatch fill writes x value=1 on q1\ndestroy x\n";
  EXPECT_THAT(findings_in(held + "submit on q1\n"), ElementsAre("use-after-free 0 a"));
}

// What is issued after it has another value.
TEST(QueueDestroys, AreNotAboutWhatIsIssuedLater) {
  EXPECT_THAT(findings_in("destroy x\na: dispatch fill writes x value=1 on q1\n"), IsEmpty());
  EXPECT_THAT(findings_in("wait s=1 on q1\na: dispatch fill writes x value=1 on q1\n"
                          "signal t=1 on q1\nwait t=1 on q2\ndestroy x on q2\n"
                          "b: dispatch fill writes x value=2 on q2\nsignal s=1 on q0\n"),
              IsEmpty());
}

// The end of a value waits for what a statement of its queue would wait for.
TEST(QueueDestroys, OfABlockingQueueComeAfterWhatTheLegacyDefaultOneWaitsFor) {
  const std::string queues =
      "interlock 1\nold: queue legacy-default\nnew: queue serial blocking\nmemory m 64\n"
      "tensor x f32[4] at m+0\n";
  const auto findings = [&](const std::string& statements) {
    return findings_with_queues(program_with_queues(queues + statements));
  };
  const std::string use = "a: dispatch fill writes x value=1\n";
  EXPECT_THAT(findings("wait s=1 on old\n" + use + "destroy x on new\nsignal s=1\n"), IsEmpty());
  EXPECT_THAT(findings("wait s=1 on new\n" + use + "destroy x on old\nsignal s=1\n"), IsEmpty());
  EXPECT_THAT(findings("wait s=1 on old\n" + use + "destroy x\nsignal s=1\n"),
              ElementsAre("use-after-free 0 a"));
}

// Nor for what stands after it, though that runs before it, as it is submitted later.
TEST(QueueDestroys, OfABlockingQueueDoNotComeAfterWhatTheLegacyDefaultOneDoesNext) {
  const std::string queues =
      "interlock 1\nold: queue legacy-default\nnew: queue serial blocking\nmemory m 64\n"
      "tensor x f32[4] at m+0\nb: dispatch fill writes x value=1 on old\n";
  const auto findings = [&](const std::string& statements) {
    return findings_with_queues(program_with_queues(queues + statements));
  };
  const std::string use = "a: dispatch fill writes x value=1 on old\n";
  EXPECT_THAT(findings("destroy x on new\n" + use + "submit on new\n"),
              ElementsAre("use-after-free 0 a"));
  EXPECT_THAT(findings("destroy x on new\n" + use + "submit on old\n"), IsEmpty());
  EXPECT_THAT(findings(use + "destroy x on new\nsubmit on new\n"), IsEmpty());
}

// The last one of each place stands for those before it, whether they are held back or not.
TEST(QueueDestroys, NameTheLastThatIsHeldBack) {
  const std::string uses =
      "a: dispatch fill writes x value=1 on q1\nwait s=1 on q1\n"
      "b: dispatch fill writes x value=2 on q1\nc: dispatch fill writes x value=3 on q1\n"
      "submit on q1\ndestroy x\n";
  EXPECT_THAT(findings_in(uses + "host signals s=1\n"), ElementsAre("use-after-free 0 c"));
  // A new value came between the destroy and what is held back.
  EXPECT_THAT(findings_in(uses + "d: dispatch fill writes x value=4 on q2\nhost signals s=1\n"),
              Contains("use-after-free 0 c").Times(1));
}

TEST(QueueDestroys, OfWhatWasPinnedWaitForWhatIsHeldBack) {
  const std::string held =
      "dispatch fill writes x value=0 on q2\nhost idle\npin x\ndestroy x\nwait s=1 on q1\n"
      "a: dispatch Make updates x on q1\nsubmit on q1\n";
  EXPECT_THAT(findings_in(held + "unpin x\nhost signals s=1\n"), ElementsAre("use-after-free 1 a"));
  EXPECT_THAT(findings_in(held + "host signals s=1\nhost idle\nunpin x\n"), IsEmpty());
}

// The write of the value is held back, and the pin keeps what is issued all the same.
TEST(QueueDestroys, OfWhatIsPinnedAndWrittenLaterWaitForTheUnpin) {
  const std::string held =
      "pin x\nwait s=1 on q1\na: dispatch Make writes x on q1\nsubmit on q1\ndestroy x\n";
  EXPECT_THAT(findings_in(held + "host signals s=1\nhost idle\nunpin x\n"), IsEmpty());
  EXPECT_THAT(findings_in(held + "unpin x\nhost signals s=1\n"), ElementsAre("use-after-free 1 a"));
  EXPECT_THAT(findings_in(held + "host signals s=1\nunpin x\n"), ElementsAre("use-after-free 1 a"));
  // Another value was written there since: nothing is left that waits.
  EXPECT_THAT(findings_in("pin x\nwait s=1 on q1\na: dispatch Make writes x on q1\n"
                          "b: dispatch Make writes m[0:16] on q1\nsubmit on q1\ndestroy x\n"
                          "host signals s=1\nhost idle\nunpin x\n"),
              ElementsAre("use-after-free 1 b"));
}

// The bytes are another's by then, as the host issues the destroy, so that the pin keeps nothing;
// that this one writes them late gives the destroy no place of its own.
TEST(QueueDestroys, OfBytesThatArePinnedAndAnothersDoNotWaitForTheUnpin) {
  const std::string head = "dispatch fill writes x value=2\nhost idle\npin x\n";
  const std::string write = "b: dispatch fill writes m[0:16] value=3 on q1\nsubmit on q1\n";
  const std::string held = "wait s=1 on q1\n" + write;
  EXPECT_THAT(findings_in(head + write + "destroy x\nunpin x\n"),
              ElementsAre("use-after-free 1 b"));
  for (const std::string end : {"host signals s=1\nunpin x\n", "unpin x\nhost signals s=1\n"}) {
    EXPECT_THAT(findings_in(head + held + "destroy x\n" + end), ElementsAre("use-after-free 1 b"));
  }
  EXPECT_THAT(findings_in(head + held + "host signals s=1\nhost idle\ndestroy x\nunpin x\n"),
              IsEmpty());
}

// What the host reads elsewhere makes the clocks judge; the destroys stay those of the queue.
TEST(QueueDestroys, AreFoundAsOnOneQueue) {
  int pending_count = 0;
  int program_total = 0;
  for (int seed = 0; seed < share_count(20'000, 5, 80); ++seed) {
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
  EXPECT_GE(program_total, share_count(20'000, 5, 80) / 10);
  EXPECT_GE(pending_count, program_total / 100);
}

// Accesses that are pending at a destroy, by the check and by chains.
struct PendingAtDestroys {
  std::vector<ChainDestroy> by_check;
  std::vector<ChainDestroy> by_chains;
};

PendingAtDestroys pending_in(const Program& program) {
  PendingAtDestroys pending;
  const Program run = reference_run(program);
  const QueueOrder order(run);
  LifetimeOptions options;
  options.queues = &order;
  for (const LifetimeFinding& finding : check_lifetimes(run, options).findings) {
    if (!finding.is_pending) continue;
    const bool is_as_text = run.text_order == nullptr;
    const DispatchId id = finding.reader.dispatch;
    pending.by_check.push_back(
        {is_as_text ? finding.ended_at : in_text(program, run, finding.ended_at),
         is_as_text ? id : in_text(program, run, id),
         stage_of(run.dispatch(id), access_of(run, finding.reader))});
  }
  pending.by_chains = chain_destroys_of(program);
  return pending;
}

// Of each queue and stage the latest is enough, as what is before it is over where that is.
bool is_named(const Program& program, const ChainDestroy& wanted,
              const std::vector<ChainDestroy>& found) {
  const QueueIndex queue = program.queue_of(program.dispatch(wanted.access));
  const bool is_graph = queue != kNoQueue && program.kind_of(queue) == QueueKind::kGraph;
  return std::ranges::any_of(found, [&](const ChainDestroy& one) {
    return one.done_at == wanted.done_at && one.access >= wanted.access &&
           program.queue_of(program.dispatch(one.access)) == queue &&
           (is_graph || one.stage == wanted.stage);
  });
}

using MakeDraft = ProgramDraft (*)(Choice&);

// Where the reference run is stuck, only what it comes to is compared.
void expect_what_chains_find(int count, MakeDraft make_draft) {
  int pending_count = 0;
  int late_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const Result<Program> program = build(make_draft(choice));
    ASSERT_TRUE(program) << program.error().message;
    if (!program->has_any(LifetimeKind::kDestroy) || !needs_queue_order(*program)) continue;
    const PendingAtDestroys pending = pending_in(*program);
    for (const ChainDestroy& one : pending.by_chains) {
      ASSERT_TRUE(is_named(*program, one, pending.by_check)) << "seed " << seed << "\n"
                                                             << print(*program);
    }
    const std::vector<StatementId> run = run_by_counters(*program);
    for (const ChainDestroy& one : pending.by_check) {
      ASSERT_THAT(pending.by_chains, Contains(one)) << "seed " << seed << "\n" << print(*program);
      ++pending_count;
      const StatementId destroy = program->lifetimes[one.done_at.index].statement;
      const StatementId access = program->dispatch(one.access).statement;
      late_count += std::ranges::find(run, destroy) < std::ranges::find(run, access);
    }
  }
  EXPECT_GE(pending_count, count / 50);
  EXPECT_GE(late_count, count / 500);
}

TEST(QueueDestroys, FindWhatChainsFind) {
  const int count = proof_count(20'000, 4000, 16);
  expect_what_chains_find(count, draft_with_destroys);
  print_proof(count, "what is pending at a destroy, held back or not, is what chains find");
}

TEST(QueueDestroys, FindWhatChainsFindWhereQueuesJoin) {
  const int count = proof_count(20'000, 1500, 20);
  expect_what_chains_find(count, draft_with_joined_ends);
  print_proof(count, "what is pending at a destroy on queues that join is what chains find");
}

TEST(QueueDestroys, FindWhatChainsFindWhereTheHostPinsAndHoldsBack) {
  const int count = proof_count(20'000, 1700, 13);
  expect_what_chains_find(count, draft_held_back);
  print_proof(count, "what is pending at a destroy or an unpin is what chains find");
}

}  // namespace
}  // namespace interlock::queue_destroys_test
