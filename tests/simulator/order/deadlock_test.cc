// Deadlocks: which circle is told, where there are several, by hand and at random with fixed seeds.
#include "simulator/order/deadlock.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "encoder/text/parser.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/waiting_circles.h"
#include "tests/simulator/programs/random_deadlocks.h"

namespace interlock::deadlock_test {
namespace {

// The first statements of the circle, as they stand in the text.
std::string circle_of(const std::string& statements) {
  ParseOptions options;
  options.reads_every_queue = true;
  std::string text = "interlock 1\n";
  for (int q = 1; q <= 5; ++q) text += "q" + std::to_string(q) + ": queue serial\n";
  const Program program = parse(text + statements, "test", options).value();
  std::string names;
  for (const BlockedStatement& blocked : find_reference_order(program).cycle) {
    if (!names.empty()) names += " ";
    names += program.reference_of(blocked.statement);
  }
  return names;
}

// Three queues that wait for each other, in a circle.
const std::string kThree =
    "a: wait s=1 on q1\nb: wait t=1 on q2\nc: wait u=1 on q3\n"
    "signal s=1 on q2\nsignal t=1 on q3\nsignal u=1 on q1\n";

// And two others.
const std::string kTwo =
    "d: wait v=1 on q4\ne: wait w=1 on q5\n"
    "signal v=1 on q5\nsignal w=1 on q4\n";

TEST(FindDeadlock, TellsACircleFromItsFirstStatement) {
  EXPECT_EQ(circle_of(kThree), "a b c");
  EXPECT_EQ(circle_of(kTwo), "d e");
}

TEST(FindDeadlock, TellsAShortestCircle) {
  EXPECT_EQ(circle_of(kThree + kTwo), "d e");
  EXPECT_EQ(circle_of(kTwo + kThree), "d e");
}

// By who may run where all others have, on semaphores that count.
TEST(FindDeadlock, TellsTheFirstOfTheShortestCirclesThatThereAre) {
  int deadlock_count = 0;
  const int count = program_count(10'000);
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = random_deadlock(choice);
    ParseOptions options;
    options.reads_every_queue = true;
    const Program program = parse(text, "test", options).value();
    const ReferenceOrder reference = find_reference_order(program);
    if (reference.cycle.empty()) continue;
    ASSERT_EQ(find_wrong_circle(program, reference.cycle), std::nullopt) << text;
    ++deadlock_count;
  }
  EXPECT_GT(deadlock_count, count / 2);
}

}  // namespace
}  // namespace interlock::deadlock_test
