// QueueMachine: by hand, and against the clocks of QueueOrder on random programs with fixed seeds.
#include "simulator/schedules/queue_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/signal_order.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/signals_on_machine.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_machine_programs.h"

namespace interlock::queue_machine_test {
namespace {

std::vector<OperationPart> parts_of(const Program& program) {
  std::vector<OperationPart> parts;
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    const DispatchId id(i);
    for (const Access& access : program.accesses_of(id)) {
      if (access.mode != AccessMode::kIndirect) continue;
      parts.push_back({id, Stage::kIndirect});
      break;
    }
    parts.push_back({id, stage_of(program.dispatch(id))});
  }
  return parts;
}

// What runs if this never does: all that need not come after it. Which of the others run first does
// not matter, as none takes anything from another.
std::set<OperationPart> run_without(const Program& program, OperationPart withheld) {
  QueueMachine machine(program);
  std::set<OperationPart> done;
  for (;;) {
    std::optional<OperationPart> next;
    for (const OperationPart& part : machine.enabled()) {
      if (part != withheld) next = part;
    }
    if (!next) return done;
    machine.run(*next);
    done.insert(*next);
  }
}

bool runs_to_its_end(const Program& program, FrontEnds front_ends) {
  QueueMachine machine(program, {.front_ends = front_ends});
  while (!machine.enabled().empty()) machine.run(*machine.enabled().begin());
  return machine.is_done();
}

OperationPart in_text_of(const Program& text, const Program& run, OperationPart part) {
  if (run.text_order == nullptr) return part;
  return {in_text(text, run, part.dispatch), part.stage};
}

// By pairs of parts, exactly: one may run before another iff it runs while that one is withheld.
void expect_order_of_clocks(const Program& text, const Program& run) {
  const QueueOrder order(run);
  ASSERT_FALSE(order.is_too_wide());
  const std::vector<OperationPart> parts = parts_of(run);
  for (const OperationPart& first : parts) {
    const OperationPart first_in_text = in_text_of(text, run, first);
    const std::set<OperationPart> others = run_without(text, first_in_text);
    for (const OperationPart& second : parts) {
      if (second.dispatch == first.dispatch) continue;
      const OperationPart second_in_text = in_text_of(text, run, second);
      const bool is_before =
          first.dispatch < second.dispatch &&
          order.executes_before(first.dispatch, first.stage, second.dispatch, second.stage);
      ASSERT_EQ(!others.contains(second_in_text), is_before)
          << first_in_text.dispatch.index << " " << text_of(first.stage) << " before "
          << second_in_text.dispatch.index << " " << text_of(second.stage);
    }
  }
}

std::string held(const std::string& text, size_t dispatch, const std::vector<size_t>& done = {}) {
  const std::optional<Program> program = parse_queues(text);
  if (!program) return "no program";
  QueueMachine machine(*program);
  for (const size_t first : done) machine.run(*machine.next_part(DispatchId(first)));
  const auto part = machine.next_part(DispatchId(dispatch));
  return machine.enabled().contains(*part) ? "" : machine.why_held(DispatchId(dispatch));
}

TEST(QueueMachine, HoldsWhatAWaitHoldsUntilTheCounterIsThere) {
  const std::string text = R"(interlock 1
memory m 16
q1: queue concurrent
a: dispatch Make writes m[0:4]
signal s=2
wait s=1 on q1
b: dispatch Use reads m[0:4] on q1
)";
  EXPECT_EQ(held(text, 1),
            "b (dispatch 1) may not run: 'wait s=1' (statement 2) holds it, and semaphore 's' "
            "is at 0, below 1.");
  EXPECT_EQ(held(text, 1, {0}), "");
}

TEST(QueueMachine, HoldsWhatABarrierHoldsAndNoOtherStage) {
  const std::string text = R"(interlock 1
memory m 16
a: dispatch Make writes m[0:4]
barrier compute -> copy
b: dispatch copy reads m[0:4] writes m[4:8]
c: dispatch Use reads m[0:4]
)";
  EXPECT_EQ(held(text, 1),
            "b (dispatch 1) may not run: a barrier (statement 1) holds it, and "
            "a (dispatch 0) has not run.");
  EXPECT_EQ(held(text, 2), "");
  EXPECT_EQ(held(text, 1, {0}), "");
}

TEST(QueueMachine, RunsNothingThatIsNotSubmitted) {
  const std::string text = R"(interlock 1
memory m 16
q1: queue serial
a: dispatch Make writes m[0:4] on q1
b: dispatch Use reads m[0:4] on q1
host idle on q1
look: host reads m[0:4]
c: dispatch Use reads m[0:4]
)";
  EXPECT_EQ(held(text, 1), "b (dispatch 1) may not run: queue q1 is still at a (dispatch 0).");
  EXPECT_EQ(held(text, 2),
            "look (host reads) may not run: the host is at 'host idle on q1' (statement 2), "
            "and q1 is not idle.");
  EXPECT_EQ(held(text, 3, {0, 1}),
            "c (dispatch 2) may not run: it is not submitted, and the host is at look "
            "(host reads).");
  EXPECT_EQ(held(text, 3, {0, 1, 2}), "");
}

// Returns how many of the programs are judged.
int expect_order_of_clocks(int program_count, const RandomMachineProgramOptions& options) {
  int judged_count = 0;
  for (int seed = 0; seed < program_count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = random_machine_program(choice, options);
    const std::optional<Program> program = parse_queues(text);
    if (!program) continue;
    SCOPED_TRACE(text);
    const ReferenceOrder reference = find_reference_order(*program);
    if (!reference.cycle.empty()) continue;
    if (!options.orders_signals && find_unordered_on_machine(*program)) continue;
    ++judged_count;
    if (reference.is_text_order) {
      expect_order_of_clocks(*program, *program);
    } else {
      expect_order_of_clocks(*program, in_reference_order(*program, reference));
    }
    if (testing::Test::HasFatalFailure()) break;
  }
  return judged_count;
}

TEST(QueueMachine, RunsTwoOperationsInAnOrderExactlyIfTheClocksLeaveItOpen) {
  const int judged_count = expect_order_of_clocks(proof_count(30'000, 2500, 15), {});
  if (HasFailure()) return;
  EXPECT_GT(judged_count, share_count(20'000, 8, 120) / 2);
  print_proof(judged_count,
              "the machine of counters runs two operations in both orders iff the clocks leave it "
              "open");
}

// Of one semaphore, that is. Else a wait is not for one signal alone, which the clocks believe.
TEST(QueueMachine, AgreesWithTheClocksWhereverSignalsFireInTheOrderOfTheirValues) {
  RandomMachineProgramOptions options;
  options.dispatch_count_max = 4;
  options.orders_signals = false;
  EXPECT_GT(expect_order_of_clocks(share_count(20000, 5, 120), options),
            share_count(20000, 5, 120) / 4);
}

TEST(QueueMachine, IsStuckExactlyWhereTheReferenceOrderIs) {
  int stuck_count = 0;
  int read_count = 0;
  for (int seed = 0; seed < share_count(20000, 5, 120); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = random_machine_program(choice);
    const std::optional<Program> program = parse_queues(text);
    if (!program) continue;
    ++read_count;
    SCOPED_TRACE(text);
    const bool is_deadlock = !find_reference_order(*program).cycle.empty();
    ASSERT_EQ(!runs_to_its_end(*program, FrontEnds::kStopAtWaits), is_deadlock);
    // Where queues run ahead of their waits, less is stuck, and never more.
    ASSERT_TRUE(is_deadlock || runs_to_its_end(*program, FrontEnds::kRunAhead));
    stuck_count += is_deadlock;
  }
  EXPECT_GT(read_count, share_count(20000, 5, 120) / 2);
  EXPECT_GT(stuck_count, share_count(20000, 5, 120) / 50);
}

}  // namespace
}  // namespace interlock::queue_machine_test
