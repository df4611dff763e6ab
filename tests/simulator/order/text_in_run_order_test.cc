// What encoders are given where the text has another order than the run.
#include "simulator/order/text_in_run_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/text/printer.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::text_in_run_order_test {
namespace {

using testing::HasSubstr;

const std::string kHead =
    "interlock 1\nmemory m 64\ntensor x u8[32] at m+0\ntensor y u8[32] at m+32\n"
    "a: queue serial\nb: queue serial\n";

std::string in_run_order(const std::string& body) {
  const Result<Program> program = text_in_run_order(program_with_queues(kHead + body));
  if (!program) return program.error().message;
  EXPECT_EQ(program->text_order, nullptr);
  const std::string text = print(*program);
  // Each number is as the text has it.
  EXPECT_EQ(print(program_with_queues(text)), text);
  return text.substr(text.find("b: queue serial\n") + 16);
}

TEST(TextInRunOrder, PutsSignalsBeforeTheirWaits) {
  EXPECT_EQ(in_run_order("wait e=1 on b\nuse: dispatch Use reads x on b\n"
                         "dispatch Make writes x on a\nsignal e=1 on a\n"),
            "dispatch Make writes x on a\nsignal e=1 on a\n"
            "wait e=1 on b\nuse: dispatch Use reads x on b\n");
}

TEST(TextInRunOrder, PutsWhatIsSubmittedAfterWhatTheHostHasDone) {
  EXPECT_EQ(in_run_order("dispatch Use reads x on a\nhost writes x\nsubmit on a\n"),
            "host writes x\nsubmit on a\ndispatch Use reads x on a\n");
}

TEST(TextInRunOrder, LeavesOthersAsTheyAre) {
  const std::string text = "dispatch Make writes x on a\nsignal e=1 on a\nwait e=1 on b\n";
  EXPECT_EQ(in_run_order(text), text);
}

TEST(TextInRunOrder, SaysThatThereIsNoRun) {
  EXPECT_THAT(in_run_order("host waits e=1\ndispatch Make writes x on a\nsignal e=1 on a\n"),
              HasSubstr("given it: @0, Make (dispatch 0), each waits"));
  EXPECT_EQ(in_run_order("wait e=1 on b\nsignal f=1 on b\nhere: wait f=1 on a\nsignal e=1 on a\n"),
            "the program has a deadlock, and so no order in which an encoder could be given it: "
            "@0, here, each waits for the next, and the last for the first. `interlock check` says "
            "how.");
}

// A `free` is about what stands before it in the text, and an encoder takes what it is given first.
TEST(TextInRunOrder, RefusesAnEndOfAValueThatChangesSidesWithAnAccess) {
  EXPECT_THAT(in_run_order("dispatch Use reads x on a\nfree x\nsubmit on a\n"),
              HasSubstr("free x (lifetime statement 0) stands after Use (dispatch 0) and runs "
                        "before it"));
  EXPECT_THAT(in_run_order("wait e=1 on a\nfree x on a\ndispatch Make writes x on b\n"
                           "signal e=1 on b\n"),
              HasSubstr("stands before Make (dispatch 0) and runs after it"));
  // Of other bytes it says nothing.
  EXPECT_THAT(in_run_order("dispatch Use reads y on a\nfree x\nsubmit on a\n"),
              HasSubstr("free x\nsubmit on a\ndispatch Use"));
}

}  // namespace
}  // namespace interlock::text_in_run_order_test
