// Deadlocks by hand: which circle is told, where there are several.
#include "simulator/order/deadlock.h"

#include <gtest/gtest.h>

#include <string>

#include "encoder/text/parser.h"
#include "simulator/order/reference_order.h"

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

}  // namespace
}  // namespace interlock::deadlock_test
