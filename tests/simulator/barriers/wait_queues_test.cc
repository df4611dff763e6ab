// How few waits add no order where some queues execute nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "encoder/text/parser.h"
#include "fuzz/testing/programs.h"
#include "simulator/barriers/wait_bounds.h"
#include "simulator/barriers/wait_certificate.h"

namespace interlock::wait_queues_test {
namespace {

Program parsed(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  return value_or_fail(parse(text, "test.ilk", options));
}

std::string text_of_bounds(const std::string& body) {
  const Program program =
      parsed("interlock 1\nmemory m 8\nx: queue serial\ny: queue serial\nz: queue serial\n" + body);
  const std::optional<WaitBounds> bounds = find_wait_bounds(program);
  if (!bounds) return "nothing";
  EXPECT_EQ(prove(program, bounds->certificate).defect, "") << body;
  return text_of(*bounds);
}

// Each of the six has work of its own, behind what it made or before what it reads, that no other
// comes before or after: no place to stop at. A queue without work is one, and 6 waits do.
std::string nine_pairs_apart(bool has_relay) {
  std::string text = "interlock 1\nmemory m 12\nmemory n 24\nr: queue serial\n";
  for (int i = 0; i < 6; ++i) text += fmt::format("q{}: queue serial\n", i);
  for (int i = 0; i < 3; ++i) {
    text += fmt::format(
        "dispatch K writes m[{}:{}] on q{}\nsignal s{}=1 on q{}\ndispatch K writes n[{}:{}] on "
        "q{}\n",
        4 * i, 4 * i + 4, i, i, i, 4 * i, 4 * i + 4, i);
    if (has_relay) text += fmt::format("wait s{}=1 on r\n", i);
  }
  if (has_relay) text += "signal r=1 on r\n";
  for (int i = 3; i < 6; ++i) {
    text += fmt::format("dispatch K writes n[{}:{}] on q{}\n", 4 * i, 4 * i + 4, i);
    if (has_relay) text += fmt::format("wait r=1 on q{}\n", i);
    for (int k = 0; k < 3 && !has_relay; ++k) text += fmt::format("wait s{}=1 on q{}\n", k, i);
    text += fmt::format("dispatch K reads m on q{}\n", i);
  }
  return text;
}

TEST(WaitBounds, AreOfTheQueuesThatHaveDispatches) {
  const std::optional<WaitBounds> apart = find_wait_bounds(parsed(nine_pairs_apart(false)));
  ASSERT_TRUE(apart.has_value());
  EXPECT_EQ(apart->fewest(), 9u);
  EXPECT_EQ(text_of(*apart), "9 waits, the fewest on these queues that add no order; certified.");
  EXPECT_FALSE(find_wait_bounds(parsed(nine_pairs_apart(true))).has_value());
}

// What waits for what is drawn, and signals that to who presents it, or to a queue that does
// nothing more, is not there for any dispatch.
TEST(WaitBounds, CountNoWaitForWhatComesAfterTheText) {
  EXPECT_EQ(text_of_bounds("p: semaphore binary\ndispatch A writes m on x\nsignal s=1 on x\n"
                           "wait s=1 on z\nsignal p on z\n"),
            "");
  EXPECT_EQ(text_of_bounds("dispatch A writes m on x\nsignal s=1 on x\nwait s=1 on z\n"
                           "signal t=1 on z\nwait t=1 on y\nsignal u=1 on y\n"),
            "");
  EXPECT_EQ(text_of_bounds("dispatch A writes m on x\nsignal s=1 on x\nwait s=1 on y\n"
                           "dispatch B reads m on y\nwait s=1 on z\nsignal t=1 on z\n"),
            "1 wait, the fewest on these queues that add no order; certified.");
}

}  // namespace
}  // namespace interlock::wait_queues_test
