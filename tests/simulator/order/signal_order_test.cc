// Signals of one semaphore fire in the order of their values, and waits for a binary one take
// theirs, or two of them are named: by hand; against the machine, on which a lower signal is
// withheld; and against all runs of serial queues, in which a binary semaphore is a bit.
#include "simulator/order/signal_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "encoder/text/parser.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/queue_machine.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/payload_runs.h"
#include "tests/simulator/judges/signals_on_machine.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_machine_programs.h"

namespace interlock::signal_order_test {
namespace {

// After 'signal s=1' on q0, the statement 1.
std::optional<UnorderedSignals> pair_after(const std::string& text) {
  const Program program = program_with_queues(
      "interlock 1\nmemory m 16\nq1: queue concurrent\nq2: queue serial\ng: queue graph\n"
      "dispatch Make writes m[0:4]\nsignal s=1\n" +
      text);
  return find_unordered_signals(program);
}

const UnorderedSignals kFirstTwo = {SemaphoreId(size_t{0}), StatementId(size_t{1}),
                                    StatementId(size_t{2})};

TEST(SignalOrder, NamesTwoThatNothingOrders) {
  EXPECT_EQ(pair_after("signal s=2 on q1\n"), kFirstTwo);
  EXPECT_EQ(pair_after("host signals s=2\n"), kFirstTwo);
  EXPECT_EQ(pair_after("signal s=2 on g\n"), kFirstTwo);
}

TEST(SignalOrder, IsThatOfAQueue) { EXPECT_EQ(pair_after("signal s=2\n"), std::nullopt); }

// A wait for the lower value is met by the higher one, which stands before it.
TEST(SignalOrder, OfAQueueMustRise) {
  const std::optional<UnorderedSignals> pair = pair_after("signal s=3\nsignal s=2\n");
  ASSERT_TRUE(pair.has_value());
  EXPECT_EQ(*pair, (UnorderedSignals{SemaphoreId(size_t{0}), StatementId(size_t{3}),
                                     StatementId(size_t{2})}));
  EXPECT_TRUE(pair_after("host signals t=2\nhost signals t=1\n"));
}

// Such a wait is no deadlock: the counter goes past what it waits for.
TEST(SignalOrder, NamesALowerSignalThatNeverFires) {
  const std::optional<UnorderedSignals> pair =
      pair_after("wait t=1 on q1\nsignal t=1 on q1\nhost signals t=2\n");
  ASSERT_TRUE(pair.has_value());
  EXPECT_EQ(pair->lower, StatementId(size_t{3}));
  EXPECT_EQ(pair->higher, StatementId(size_t{4}));
  // Here neither fires.
  EXPECT_EQ(pair_after("wait t=2 on q1\nsignal t=1 on q1\nsignal t=2 on q1\n"), std::nullopt);
}

TEST(SignalOrder, ComesFromWaits) {
  EXPECT_EQ(pair_after("wait s=1 on q1\nsignal s=2 on q1\n"), std::nullopt);
  EXPECT_EQ(pair_after("wait s=1 on g\nsignal s=2 on g\n"), std::nullopt);
  EXPECT_EQ(pair_after("host waits s=1\nhost signals s=2\n"), std::nullopt);
  EXPECT_EQ(pair_after("host idle\nhost signals s=2\n"), std::nullopt);
  // Of another semaphore, which comes later.
  EXPECT_EQ(pair_after("signal t=1\nwait t=1 on q1\nsignal s=2 on q1\n"), std::nullopt);
  // Stages that do not meet order nothing.
  EXPECT_TRUE(pair_after("wait s=1 before copy on q1\nsignal s=2 after compute on q1\n"));
  EXPECT_EQ(pair_after("wait s=1 before copy on q1\nbarrier copy -> compute on q1\n"
                       "signal s=2 after compute on q1\n"),
            std::nullopt);
}

TEST(SignalOrder, ComesFromWhatTheHostSubmits) {
  EXPECT_EQ(pair_after("host waits s=1\nsignal s=2 on q1\n"), std::nullopt);
  EXPECT_EQ(pair_after("host idle on q0\nhost signals s=2\nsignal s=3 on q1\n"), std::nullopt);
  EXPECT_TRUE(pair_after("host idle on q1\nhost signals s=2\n"));
}

TEST(SignalOrder, HoldsForAnyNumberOfSemaphores) {
  std::string text;
  const int count = 3 * static_cast<int>(kSemaphoresAtOnce);
  for (int i = 0; i < count; ++i) {
    const std::string name = "t" + std::to_string(i);
    text += "signal " + name + "=1\n";
    if (i + 1 < count) text += "wait " + name + "=1 on q1\n";
    text += "signal " + name + "=2 on q1\n";
  }
  // q1 has waited for all but the last one.
  const std::optional<UnorderedSignals> pair = pair_after(text);
  ASSERT_TRUE(pair.has_value());
  EXPECT_EQ(pair->semaphore.index, static_cast<uint32_t>(count));
}

// After 'a: dispatch A writes m; signal b' on q0, the statements 0 and 1.
std::optional<UnorderedSignals> uses_after(const std::string& text) {
  const Program program = program_with_queues(
      "interlock 1\nmemory m 16\nq1: queue concurrent\nq2: queue concurrent\n"
      "b: semaphore binary\ndispatch Make writes m[0:4]\nsignal b\n" +
      text);
  return find_unordered_signals(program);
}

UnorderedSignals uses(size_t lower, size_t higher) {
  return {SemaphoreId(size_t{0}), StatementId(lower), StatementId(higher)};
}

TEST(BinarySignalOrder, NamesASignalThatNeedNotComeAfterTheWaitBefore) {
  EXPECT_EQ(uses_after("wait b on q1\nsignal b\nwait b on q1\n"), uses(2, 3));
  EXPECT_EQ(uses_after("signal b\nwait b on q1\nwait b on q1\n"), uses(3, 2));
  // Stages that do not meet order nothing.
  EXPECT_EQ(uses_after("wait b before copy on q1\nsignal b after compute on q1\nwait b on q1\n"),
            uses(2, 3));
  // Here the wait is never over.
  EXPECT_EQ(uses_after("wait t=1 on q1\nwait b on q1\nsignal t=1 on q1\nsignal b\n"), uses(3, 5));
}

TEST(BinarySignalOrder, ComesFromQueuesSemaphoresAndTheHost) {
  const std::string last = "wait b on q1\n";
  EXPECT_EQ(uses_after("wait b on q1\nsignal b on q1\n" + last), std::nullopt);
  EXPECT_EQ(uses_after("wait b on q1\nsignal t=1 on q1\nwait t=1\nsignal b\n" + last),
            std::nullopt);
  EXPECT_EQ(uses_after("wait b on q1\nsignal t=1 on q1\nhost waits t=1\nsignal b\n" + last),
            std::nullopt);
  EXPECT_EQ(uses_after("wait b on q1\nhost idle\nsignal b\n" + last), std::nullopt);
  EXPECT_EQ(uses_after("host waits b\nsignal b\n" + last), std::nullopt);
  EXPECT_EQ(uses_after("wait b on q1\nhost idle on q2\nsignal b\n" + last), uses(2, 4));
}

// Two queues wait, and the first signal is for whichever comes first.
TEST(BinarySignalOrder, NamesAWaitThatNeedNotComeAfterTheOneBefore) {
  EXPECT_EQ(uses_after("wait b on q1\nsignal b on q1\nwait b on q2\n"), uses(2, 4));
  const std::string told = "wait b on q1\nsignal b, t=1 on q1\n";
  EXPECT_EQ(uses_after(told + "wait t=1 on q2\nwait b on q2\n"), std::nullopt);
  EXPECT_EQ(uses_after(told + "host waits t=1\nwait b on q2\n"), std::nullopt);
  EXPECT_EQ(uses_after(told + "host waits t=1\nhost waits b\n"), std::nullopt);
  // The queue goes on to the next wait.
  EXPECT_EQ(uses_after(told + "wait t=1 before copy on q2\nwait b on q2\n"), uses(2, 5));
}

TEST(BinarySignalOrder, NamesASignalThatNothingWaitsFor) {
  EXPECT_EQ(uses_after("wait b on q1\nsignal b on q1\nsignal b on q1\n"), uses(3, 4));
  EXPECT_EQ(uses_after("wait b on q1\nsignal b on q1\n"), std::nullopt);
}

// Who presents an image takes the signal, and the program does not say when. What presents for one
// queue may let another one go on.
TEST(BinarySignalOrder, IsNotJudgedWhereOthersTakeTheSignals) {
  EXPECT_EQ(uses_after("signal b\nsignal b\n"), std::nullopt);
  EXPECT_EQ(uses_after("signal b on q1\n"), std::nullopt);
  EXPECT_EQ(uses_after("signal b on q1\nwait b from outside on q2\nsignal b on q2\n"),
            std::nullopt);
  // Whether the second one fires first, or the first one never.
  EXPECT_EQ(uses_after("wait t=1 on q1\nsignal b on q1\nsignal b\nsignal t=1 on q2\n"),
            std::nullopt);
  EXPECT_EQ(uses_after("wait t=1 on q1\nsignal b on q1\nsignal b\nsignal t=1 on q1\n"),
            std::nullopt);
  // One wait of the program makes it a matter of the program.
  EXPECT_EQ(uses_after("signal b on q1\nwait b on q2\n"), uses(3, 2));
  EXPECT_EQ(uses_after("wait b from outside\nsignal b\nwait b from outside on q1\n"), std::nullopt);
}

// Each wait takes the signal that it is paired with, in all runs, exactly where nothing is named.
TEST(BinarySignalOrder, HoldsForTheBitInAllRuns) {
  int broken_count = 0;
  int reused_count = 0;
  for (int seed = 0; seed < share_count(40'000, 8, 160); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    RandomMachineProgramOptions options;
    options.dispatch_count_max = 2;
    options.sync_count_max = 8;
    options.has_binary = options.is_serial = true;
    const std::string text = random_machine_program(choice, options);
    ParseOptions parse_options;
    parse_options.reads_every_queue = true;
    const Result<Program> program = parse(text, "test", parse_options);
    if (!program || !find_reference_order(*program).cycle.empty()) continue;
    const std::vector<bool> reused = reused_binary_semaphores(*program);
    const std::optional<UnorderedSignals> pair = find_unordered_signals(*program);
    if (pair && !reused[pair->semaphore.index]) continue;
    const std::optional<bool> is_broken = breaks_a_payload(*program, 100'000);
    ASSERT_TRUE(is_broken.has_value()) << text;
    ASSERT_EQ(pair.has_value(), *is_broken) << text;
    broken_count += *is_broken;
    reused_count += std::ranges::find(reused, true) != reused.end() && !*is_broken;
  }
  EXPECT_GT(broken_count, share_count(40'000, 8, 160) / 100);
  EXPECT_GE(reused_count, is_slow_build() ? 0 : share_count(40'000, 8) / 1000);
}

// In a deadlock, waits that are never over may take other signals than their own.
bool is_signal(const Program& program, StatementId statement) {
  return !program.parts_of(program.syncs[program.statements[statement.index].index]).empty();
}

class SignalOrderOnMachine : public testing::TestWithParam<bool> {};

TEST_P(SignalOrderOnMachine, IsThatOfTheMachine) {
  int unordered_count = 0;
  int judged_count = 0;
  int deadlock_count = 0;
  for (int seed = 0; seed < share_count(20'000, 8, 80); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    RandomMachineProgramOptions options;
    options.dispatch_count_max = 3;
    options.has_binary = GetParam();
    options.orders_signals = options.has_binary && seed % 2 == 0;
    const std::string text = random_machine_program(choice, options);
    ParseOptions parse_options;
    parse_options.reads_every_queue = true;
    const Result<Program> program = parse(text, "test", parse_options);
    if (!program) continue;
    ++judged_count;
    const bool is_unordered = find_unordered_signals(*program).has_value();
    const bool is_so_on_machine = find_unordered_on_machine(*program).has_value();
    unordered_count += is_unordered;
    if (find_reference_order(*program).cycle.empty()) {
      ASSERT_EQ(is_unordered, is_so_on_machine) << text;
      continue;
    }
    // What comes after the waits of a deadlock never runs in the reference, as on queues that stop.
    ASSERT_TRUE(!is_unordered || is_so_on_machine) << text;
    const std::optional<UnorderedSignals> with_stops =
        find_unordered_on_machine(*program, FrontEnds::kStopAtWaits);
    const bool is_so_with_stops = with_stops && is_signal(*program, with_stops->higher);
    ASSERT_TRUE(is_unordered || !is_so_with_stops) << text;
    deadlock_count += is_so_with_stops;
  }
  EXPECT_GT(judged_count, share_count(20'000, 8, 80) / 3);
  EXPECT_GT(unordered_count, judged_count / 50);
  EXPECT_LT(unordered_count, judged_count * 3 / 4);
  EXPECT_GT(deadlock_count, judged_count / 250);
}

INSTANTIATE_TEST_SUITE_P(TimelinesAndBinary, SignalOrderOnMachine, testing::Bool());

}  // namespace
}  // namespace interlock::signal_order_test
