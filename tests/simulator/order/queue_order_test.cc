// QueueOrder and the hazards of programs with several queues: against the order of one queue, and
// against programs that say the same in another way, with fixed seeds.
#include "simulator/order/queue_order.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_programs.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::queue_order_test {

void PrintTo(const Hazard& hazard, std::ostream* os) {
  *os << word_of(hazard.kind) << " " << hazard.first.dispatch.index << ":" << hazard.first.access
      << " " << hazard.second.dispatch.index << ":" << hazard.second.access << " ["
      << hazard.overlap.begin << ":" << hazard.overlap.end << ") " << hazard.is_ordered;
}

namespace {

Program parse_queues(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  const Result<Program> program = parse(text, "test", options);
  if (!program) ADD_FAILURE() << program.error().message << "\n" << text;
  return *program;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

void expect_order_as_on_one_queue(const Program& program) {
  const HappensBefore one(program);
  ASSERT_FALSE(one.has_queues());
  const QueueOrder many(program);
  for (size_t k = 0; k < program.dispatches.size(); ++k) {
    for (size_t i = 0; i < k; ++i) {
      const DispatchId first(i);
      const DispatchId second(k);
      const Stage first_stage = stage_of(program.dispatch(first));
      const Stage second_stage = stage_of(program.dispatch(second));
      ASSERT_EQ(many.executes_before(first, first_stage, second, second_stage),
                one.executes_before(first, second));
      for (size_t s = 0; s < kDispatchSortCount; ++s) {
        const StageAccess sort = static_cast<StageAccess>(s);
        const bool is_used = (many.places().sorts_of(kDefaultQueue) & bit_of(sort)) != 0;
        if (stage_of(sort) != second_stage || !is_used) continue;
        const MemoryId memory(size_t{0});
        const ByteRange bytes = {0, program.memory(memory).size_bytes};
        ASSERT_EQ(many.find_invisible(first, second, sort, memory, bytes),
                  one.find_invisible(first, second, sort, memory, bytes));
      }
    }
  }
}

TEST(QueueOrder, AgreesWithTheOrderOfOneQueue) {
  for (int seed = 0; seed < share_count(20000, 3, 120); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const Program program = random_scoped_program(choice);
    SCOPED_TRACE(print(program));
    expect_order_as_on_one_queue(program);
    if (HasFatalFailure()) return;
  }
}

TEST(QueueOrder, AgreesWithTheOrderOfOneQueueWhereChainsAreLong) {
  for (int seed = 0; seed < share_count(5000, 3); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const Program program = random_relay_program(choice);
    SCOPED_TRACE(print(program));
    expect_order_as_on_one_queue(program);
    if (HasFatalFailure()) return;
  }
}

// What the host reads elsewhere makes the general engine judge a program of one queue.
TEST(FindHazards, AreThoseOfOneQueueInTheGeneralEngine) {
  int hazard_count = 0;
  for (int seed = 0; seed < share_count(20000, 8, 120); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    RandomScopedProgramOptions options;
    options.dispatch_count_max = 5;
    options.command_count_max = 4;
    const Program one = random_scoped_program(choice, options);
    const std::string text = print(one);
    SCOPED_TRACE(text);
    std::vector<std::string> lines = lines_of(text);
    lines.insert(lines.begin() + 1, "memory elsewhere 4");
    lines.push_back("host reads elsewhere");
    const Program many = parse_queues(joined(lines));
    const HappensBefore order_of_one(one);
    const HappensBefore order_of_many(many);
    ASSERT_TRUE(order_of_many.has_queues());
    const HazardList all = find_all_hazards(many, order_of_many);
    ASSERT_THAT(all.hazards,
                ::testing::ElementsAreArray(find_all_hazards(one, order_of_one).hazards));
    const HazardList latest = find_hazards(many, order_of_many);
    // By global barriers the latest of any stage stands for all, by places the latest of each.
    ASSERT_EQ(latest.hazards.empty(), find_hazards(one, order_of_one).hazards.empty());
    if (order_of_one.has_scopes()) {
      ASSERT_THAT(latest.hazards,
                  ::testing::ElementsAreArray(find_hazards(one, order_of_one).hazards));
    }
    hazard_count += !latest.hazards.empty();
  }
  EXPECT_GT(hazard_count, share_count(20000, 8, 120) / 10);
  EXPECT_LT(hazard_count, share_count(20000, 8, 120) * 95 / 100);
}

bool starts_with(const std::string& line, std::string_view word) { return line.starts_with(word); }

// The dispatches go to two concurrent queues at random; each full barrier becomes one on both, and
// a signal and a wait in both directions.
std::string split_over_two_queues(const std::string& text, Choice& choice) {
  std::vector<std::string> lines;
  int barrier_count = 0;
  for (const std::string& line : lines_of(text)) {
    if (starts_with(line, "dispatch ")) {
      lines.push_back(line + (choice.below(2) == 0 ? "" : " on q1"));
    } else if (line == "barrier") {
      const int value = ++barrier_count;
      for (const std::string_view queue : {"q0", "q1"}) {
        lines.push_back(fmt::format("barrier on {}", queue));
        lines.push_back(fmt::format("signal from_{}={} on {}", queue, value, queue));
      }
      lines.push_back(fmt::format("wait from_q1={} on q0", value));
      lines.push_back(fmt::format("wait from_q0={} on q1", value));
    } else {
      lines.push_back(line);
    }
  }
  lines.insert(lines.begin() + 1, "q1: queue concurrent");
  return joined(lines);
}

TEST(FindHazards, AreThoseOfOneQueueIfItIsSplitWithSyncBothWays) {
  int hazard_count = 0;
  for (int seed = 0; seed < share_count(20000, 5, 120); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    RandomProgramOptions options;
    options.has_execution_barriers = false;
    const Program one = random_program(choice, options);
    const std::string text = split_over_two_queues(print(one), choice);
    SCOPED_TRACE(text);
    const Program two = parse_queues(text);
    ASSERT_TRUE(find_reference_order(two).is_text_order);
    const HazardList found = find_all_hazards(two, HappensBefore(two));
    ASSERT_THAT(found.hazards,
                ::testing::ElementsAreArray(find_all_hazards(one, HappensBefore(one)).hazards));
    hazard_count += !found.hazards.empty();
  }
  EXPECT_GT(hazard_count, share_count(20000, 5, 120) / 10);
}

// A program without barriers on two serial queues. `left_out`: one of the crossing conflicts, by
// number, has no semaphore; none: all have.
struct Crossing {
  size_t signal = 0;  // Dispatches.
  size_t wait = 0;
};

std::string on_serial_queues(const Program& program, const std::vector<bool>& is_on_second,
                             const std::vector<Crossing>& crossings) {
  std::vector<std::string> lines = {"interlock 1", "q0: queue serial", "q1: queue serial"};
  size_t dispatch = 0;
  for (const std::string& line : lines_of(print(program))) {
    if (starts_with(line, "interlock")) continue;
    if (!starts_with(line, "dispatch ")) {
      lines.push_back(line);
      continue;
    }
    const std::string_view queue = is_on_second[dispatch] ? "q1" : "q0";
    for (const Crossing& crossing : crossings) {
      if (crossing.wait != dispatch) continue;
      lines.push_back(fmt::format("wait s{}=1 on {}", crossing.signal, queue));
    }
    lines.push_back(fmt::format("{} on {}", line, queue));
    const bool signals = std::ranges::any_of(
        crossings, [&](const Crossing& crossing) { return crossing.signal == dispatch; });
    if (signals) lines.push_back(fmt::format("signal s{}=1 on {}", dispatch, queue));
    ++dispatch;
  }
  return joined(lines);
}

// The latest dispatch of the other queue that a dispatch conflicts with, for each: with a semaphore
// for each of these the program is clean, and without one that no other implies it is not.
TEST(FindHazards, SerialQueuesNeedASemaphoreAtEachCrossingConflict) {
  int crossing_count = 0;
  for (int seed = 0; seed < share_count(20000, 8, 160); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    RandomProgramOptions options;
    options.barrier_percent = 0;
    options.has_outputs = false;
    const Program one = random_program(choice, options);
    const HazardList conflicts = find_all_hazards(one, HappensBefore(one));
    std::vector<bool> is_on_second(one.dispatches.size());
    for (size_t i = 0; i < is_on_second.size(); ++i) is_on_second[i] = choice.below(2) == 0;
    std::vector<Crossing> crossings;
    for (const Hazard& hazard : conflicts.hazards) {
      const Crossing crossing = {hazard.first.dispatch.index, hazard.second.dispatch.index};
      if (is_on_second[crossing.signal] == is_on_second[crossing.wait]) continue;
      crossings.push_back(crossing);
    }
    // On serial queues (a, b) implies every (a', b') with a' before a or a, and b' after b or b.
    const auto implies = [](const Crossing& x, const Crossing& y) {
      return y.signal <= x.signal && x.wait <= y.wait;
    };
    std::vector<Crossing> needed;
    for (const Crossing& crossing : crossings) {
      const bool is_implied = std::ranges::any_of(crossings, [&](const Crossing& other) {
        const bool is_same = other.signal == crossing.signal && other.wait == crossing.wait;
        const bool has_queues = is_on_second[other.signal] == is_on_second[crossing.signal];
        return !is_same && has_queues && implies(other, crossing);
      });
      const bool is_known = std::ranges::any_of(needed, [&](const Crossing& other) {
        return other.signal == crossing.signal && other.wait == crossing.wait;
      });
      if (!is_implied && !is_known) needed.push_back(crossing);
    }
    const std::string text = on_serial_queues(one, is_on_second, needed);
    SCOPED_TRACE(text);
    const Program clean = parse_queues(text);
    ASSERT_TRUE(find_all_hazards(clean, HappensBefore(clean)).hazards.empty());
    for (size_t k = 0; k < needed.size(); ++k) {
      std::vector<Crossing> rest = needed;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      const Program broken = parse_queues(on_serial_queues(one, is_on_second, rest));
      const HazardList found = find_all_hazards(broken, HappensBefore(broken));
      ASSERT_FALSE(found.hazards.empty()) << "without " << needed[k].signal;
    }
    crossing_count += !needed.empty();
  }
  EXPECT_GT(crossing_count, share_count(20000, 8, 160) / 4);
}

size_t hazard_count(const std::string& text) {
  const Program program = parse_queues(text);
  const Program run = in_reference_order(program, find_reference_order(program));
  return find_all_hazards(run, HappensBefore(run)).hazards.size();
}

// The end of a command buffer is nothing that a queue executes.
TEST(FindHazards, ASplitOfASerialQueueIsNoBarrier) {
  const auto text_with = [](std::string_view between) {
    return fmt::format(
        "interlock 1\nmemory m 8\nq0: queue serial\ndispatch Write writes m on q0\n{} on q0\n"
        "host idle\nhost reads m\n",
        between);
  };
  EXPECT_EQ(hazard_count(text_with("split")), 1);
  EXPECT_EQ(hazard_count(text_with("submit")), 1);
  EXPECT_EQ(hazard_count(text_with("barrier")), 0);
}

// What the host waited for comes with the next submission, behind the barrier that serial queues
// imply: so that barrier names no host access for it.
TEST(FindHazards, TheImpliedBarrierStandsBeforeWhatIsSubmittedWithTheSecondStatement) {
  const auto text_with = [](std::string_view between) {
    return fmt::format(
        "interlock 1\nmemory m 8\nq0: queue serial\nq1: queue serial\ndispatch First on q1\n"
        "dispatch Write writes m on q0\nhost idle\ndispatch Second on q1\n{}host idle\n"
        "host reads m\n",
        between);
  };
  EXPECT_EQ(hazard_count(text_with("")), 1);
  EXPECT_EQ(hazard_count(text_with("dispatch Third on q1\n")), 0);
}

// What reads find is compared access by access, and the reader stands first in the text.
TEST(InReferenceOrder, KeepsProgramOrderWhereAWaitStandsBeforeItsSignal) {
  const Program program = parse_queues(
      "interlock 1\nmemory x 8\nmemory y 8\nq1: queue concurrent\nwait done=1 on q1\n"
      "dispatch Use order=1 reads x writes y on q1\ndispatch Make order=0 writes x\n"
      "signal done=1\n");
  const CheckReport report = check(program);
  EXPECT_TRUE(report.findings.empty()) << report.findings.front().headline;
}

}  // namespace
}  // namespace interlock::queue_order_test
