// Programs of several queues that are errors as a whole: where they are told, and how. Which these
// are says signal_order_test.cc.
#include "simulator/report/read_every_queue.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "encoder/text/parser.h"
#include "simulator/order/signal_order.h"
#include "tests/program_count.h"

namespace interlock::read_every_queue_test {
namespace {

// Of lines 5 and on.
std::string error_of(const std::string& text) {
  ParseOptions options;
  read_every_queue(options);
  const Result<Program> program =
      parse("interlock 1\nq1: queue concurrent\nq2: queue concurrent\nb: semaphore binary\n" + text,
            "file", options);
  return program ? "" : program.error().message;
}

TEST(ReadEveryQueue, SaysThatNothingOrdersTwoSignals) {
  EXPECT_EQ(
      error_of("signal s=1\n  signal s=2 on q1\n"),
      "file:6:3: error: nothing orders this signal of 's' after the one of the next lower value, "
      "so that it is open which of them a wait is for; let it come after that one, line 5.");
}

// Nothing is open there: signals of one queue fire one after another.
TEST(ReadEveryQueue, SaysThatValuesFallOnOneQueue) {
  EXPECT_EQ(error_of("signal s=2\n  signal s=1\n"),
            "file:5:1: error: the values of 's' fall: this signal of 2 fires before that of 1, "
            "which stands after it on its queue, and values of a timeline rise; let it come after "
            "that one, line 6.");
  EXPECT_THAT(error_of("host signals s=5\nhost signals s=3\n"),
              testing::HasSubstr("this signal of 5 fires before that of 3, which stands after it "
                                 "among those of the host"));
}

TEST(ReadEveryQueue, SaysThatABinarySemaphoreMayBeSignaledStill) {
  EXPECT_EQ(
      error_of("signal b\nsignal b\nwait b on q1\nwait b on q1\n"),
      "file:6:1: error: nothing orders this signal of the binary semaphore 'b' after the wait "
      "for the one before it, so that 'b' may be signaled still, and a wait takes both; let it "
      "come after that one, line 7.");
  EXPECT_EQ(
      error_of("signal b\nwait b on q1\nsignal b on q1\nsignal b on q1\n"),
      "file:8:1: error: the binary semaphore 'b' is signaled still: nothing waits for the signal "
      "before this one; let a wait for it come between (a fence that is reset without a wait has "
      "'host waits b' there), or leave out that one, line 7.");
  // So it is with a fence.
  EXPECT_EQ(error_of("signal b\nhost waits b\nsignal b\nhost waits b\nsignal b\n"), "");
}

// Who presents takes them, on whatever queue.
TEST(ReadEveryQueue, TakesSignalsOfABinarySemaphoreThatOnlyOthersWaitFor) {
  EXPECT_EQ(error_of("signal b\nsignal b on q1\nsignal b on q2\n"), "");
}

TEST(ReadEveryQueue, SaysThatTwoWaitsMayTakeOneSignal) {
  const std::string text = "signal b\nwait b on q1\nsignal b, t=1 on q1\n";
  EXPECT_EQ(
      error_of(text + "wait b on q2\n"),
      "file:8:1: error: nothing orders this wait for the binary semaphore 'b' after the one "
      "before it, so that it is open which of them takes which signal; let it come after that "
      "one, line 6.");
  EXPECT_EQ(error_of(text + "wait t=1 on q2\nwait b on q2\n"), "");
  EXPECT_EQ(
      error_of(text + "wait t=1 before copy on q2\nwait b on q2\n"),
      "file:9:1: error: nothing orders this wait for the binary semaphore 'b' after the one "
      "before it, so that it is open which of them takes which signal (an earlier wait of this "
      "queue is before some stages, and so does not hold this one back); let it come after that "
      "one, line 6.");
  // The waits before all stages of the device, on a serial queue and for the same semaphore do.
  EXPECT_EQ(error_of(text + "wait t=1 before device on q2\nwait b on q2\n"), "");
  EXPECT_EQ(error_of("q3: queue serial\n" + text + "wait t=1 before copy on q3\nwait b on q3\n"),
            "");
  EXPECT_EQ(error_of("signal b\nwait b before copy on q1\nsignal t=1 on q1\nwait t=1\nsignal b\n"
                     "wait b on q1\n"),
            "");
  // One that has nothing to do with it is not to blame.
  for (const std::string stages : {"device", "copy"}) {
    EXPECT_THAT(error_of("signal u=1 on q1\n" + text + "wait u=1 before " + stages +
                         " on q2\nwait b on q2\n"),
                testing::HasSubstr("takes which signal; let it come after that one, line 7."));
  }
}

TEST(ReadEveryQueue, TakesSoManyBinarySemaphoresThatAreUsedAgain) {
  const auto uses_of = [](uint32_t count) {
    std::string text;
    for (uint32_t i = 0; i < count; ++i) text += fmt::format("b{}: semaphore binary\n", i);
    for (uint32_t i = 0; i < count; ++i) {
      text += fmt::format("signal b{0} on q1\nwait b{0} on q1\nsignal b{0} on q1\n", i);
    }
    return text;
  };
  EXPECT_EQ(error_of(uses_of(is_slow_build() ? 200 : kReusedSemaphoresMax)), "");
  EXPECT_THAT(
      error_of(uses_of(kReusedSemaphoresMax + 1)),
      testing::HasSubstr("error: more than 1024 binary semaphores are signaled again after "
                         "a wait, which is the limit; the first of them is signaled, line "));
}

}  // namespace
}  // namespace interlock::read_every_queue_test
