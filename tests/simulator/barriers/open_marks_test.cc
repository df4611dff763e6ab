// Marks that stand for one signal after another: what chains say of programs with more signals than
// there are marks, against a check without each piece. Fixed seeds.
#include "simulator/barriers/open_marks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "simulator/barriers/queue_cuts.h"
#include "simulator/barriers/sync_redundancy.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::open_marks_test {
namespace {

// Returns whether chains can be asked; then both say the same.
bool compare(const Program& program) {
  if (!QueueCuts::can_judge(program) || !find_reference_order(program).is_text_order) return false;
  const auto hazards = chain_hazards_of(program);
  if (!hazards || !hazards->empty()) return false;
  const SyncRedundancy alone =
      find_redundant_sync(program, {.alone_max = SIZE_MAX, .asks_chains = false});
  const SyncRedundancy by_chains = find_redundant_sync(program, {.alone_max = 0});
  EXPECT_EQ(alone.redundant, by_chains.redundant);
  EXPECT_EQ(by_chains.unjudged_count, 0);
  return true;
}

// Few accesses, and between them many signals, for some of which others wait long after.
std::string text_of_many_signals(uint64_t seed) {
  SeededChoice choice(seed);
  constexpr std::array<std::string_view, 3> kQueues = {"q0", "q1", "q2"};
  std::array<uint64_t, 3> values = {};
  std::string text = "interlock 1\nmemory x 4\nq1: queue concurrent\nq2: queue concurrent\n";
  for (int i = 0; i < 200; ++i) {
    const uint64_t queue = choice.below(3);
    const uint64_t from = (queue + 1 + choice.below(2)) % 3;
    if (choice.chance(1, 60)) {
      const uint64_t byte = choice.below(4);
      text += fmt::format("dispatch Work {} x[{}:{}] on {}\n",
                          choice.chance(1, 2) ? "reads" : "writes", byte, byte + 1, kQueues[queue]);
    } else if (choice.chance(1, 2)) {
      text += fmt::format("signal s{}={} on q{}\n", queue, ++values[queue], queue);
    } else if (values[from] > 0) {
      const uint64_t back = choice.chance(1, 4) ? choice.below(values[from]) : 0;
      text += fmt::format("wait s{}={} on q{}\n", from, values[from] - back, queue);
    }
  }
  return text;
}

TEST(OpenMarks, SaysTheSameWhereMarksStandForMoreThanOneSignal) {
  const int count = program_count(60, 10);
  int judged = 0;
  for (int seed = 0; seed < count && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    judged += compare(program_with_queues(text_of_many_signals(static_cast<uint64_t>(seed))));
  }
  EXPECT_GE(judged, is_slow_build() ? 0 : count / 8);
}

// What q0 writes at first q1 or q2 read at last, after a wait for a signal of q0, or of q3, which
// has waited for one; that signal may be old by then and waited for before. In between q1 and q2
// signal each other, and q4 waits, so that more signals open one after another than there are
// marks. If so, more are open all the time than there are marks, which matters to none of these
// accesses: then marks are given out for each two.
std::string text_of_signals_in_turn(uint64_t seed, bool has_open_ones) {
  constexpr int kOpen = 55;
  SeededChoice choice(seed);
  std::array<uint64_t, 4> values = {1, 0, 0, 0};  // Of the signals of each queue.
  bool has_relayed = false;
  std::string text =
      "interlock 1\nmemory x 4\nq1: queue concurrent\nq2: queue concurrent\n"
      "q3: queue concurrent\nq4: queue concurrent\n";
  for (int i = 1; has_open_ones && i <= kOpen; ++i) text += fmt::format("signal o={} on q4\n", i);
  text += "dispatch Make writes x\nsignal s0=1 on q0\n";
  const auto signal = [&](uint64_t queue) {
    text += fmt::format("signal s{0}={1} on q{0}\n", queue, ++values[queue]);
  };
  const auto wait = [&](uint64_t queue, uint64_t from, uint64_t value) {
    text += fmt::format("wait s{}={} on q{}\n", from, value, queue);
  };
  const auto one_of = [&](uint64_t last) { return 1 + choice.below(last); };
  const auto add_noise = [&] {
    const uint64_t queue = 1 + choice.below(2);
    signal(queue);
    if (choice.chance(2, 3)) wait(3 - queue, queue, values[queue]);
  };
  const auto add_step = [&] {
    switch (choice.below(10)) {
      case 0:
        return signal(0);
      case 1:
        return wait(4, 0, choice.chance(1, 4) ? one_of(values[0]) : values[0]);
      case 2:
        has_relayed = true;
        return wait(3, 0, choice.chance(1, 4) ? one_of(values[0]) : values[0]);
      case 3:
        if (has_relayed) signal(3);
        return;
      case 4:
        if (values[3] > 0) wait(4, 3, values[3]);
        return;
      default:
        return add_noise();
    }
  };
  for (int i = 0; i < 240; ++i) add_step();
  for (int i = 0; i < 2; ++i) {
    const uint64_t queue = 1 + choice.below(2);
    const uint64_t from = values[3] > 0 && choice.chance(1, 2) ? 3 : 0;
    wait(queue, from, one_of(values[from]));
    text += fmt::format("dispatch Use reads x on q{}\n", queue);
    for (int k = 0; k < 20; ++k) add_noise();
  }
  for (int i = 1; has_open_ones && i <= kOpen; ++i) text += fmt::format("wait o={} on q3\n", i);
  return text;
}

TEST(OpenMarks, SaysTheSameWhereSignalsTakeTurns) {
  const int count = proof_count(30, 12, 6);
  int judged = 0;
  for (int seed = 0; seed < count && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const bool has_open_ones = seed == 1;
    judged += compare(
        program_with_queues(text_of_signals_in_turn(static_cast<uint64_t>(seed), has_open_ones)));
  }
  EXPECT_EQ(judged, count);
}

TEST(OpenMarks, JudgesWhatMoreSignalsLieBetweenThanThereAreMarks) {
  std::string text = "interlock 1\nmemory x 64\nq1: queue concurrent\ndispatch Make writes x\n";
  for (int i = 1; i <= 200; ++i) {
    text += fmt::format("signal a={0}\nwait a={0} on q1\nsignal b={0} on q1\nwait b={0}\n", i);
  }
  const Program program = program_with_queues(text + "dispatch Use reads x on q1\n");
  const uint64_t work_limit = 300 * program.statements.size();
  const SyncRedundancy found = find_redundant_sync(program, {.work_limit = work_limit});
  EXPECT_EQ(found.unjudged_count, 0);
  // Each later wait does what the first one does.
  EXPECT_EQ(found.redundant.size(), 400);
}

}  // namespace
}  // namespace interlock::open_marks_test
