// The matchers on programs with several queues and the host: each claim beside its repair, in the
// words of the report, and with what has no verdict there.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/sync/interlock_encoder.h"
#include "fuzz/testing/matchers.h"
#include "simulator/report/check.h"
#include "simulator/report/report.h"

namespace interlock::queue_matchers_test {
namespace {

using testing::AllOf;
using testing::DescribeMatcher;
using testing::HasSubstr;
using testing::Le;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kRace = R"(
memory a 64
memory b 64
copies: queue serial
work: queue serial
upload: dispatch Upload writes a on copies
use: dispatch Use reads a writes b on work
)";

constexpr std::string_view kOrdered = R"(
memory a 64
memory b 64
copies: queue serial
work: queue serial
upload: dispatch Upload writes a on copies
signal s=1 on copies
wait s=1 on work
use: dispatch Use reads a writes b on work
)";

constexpr std::string_view kWaitsTwice = R"(
memory a 64
memory b 64
copies: queue serial
work: queue serial
upload: dispatch Upload writes a on copies
signal s=1 on copies
wait s=1 on work
again: wait s=1 on work
use: dispatch Use reads a writes b on work
)";

constexpr std::string_view kDeadlock = R"(
memory a 64
left: queue serial
right: queue serial
first: wait s=1 on left
signal t=1 on left
second: wait t=1 on right
signal s=1 on right
third: dispatch Third writes a on left
)";

constexpr std::string_view kHostReadsEarly = R"(
memory a 64
fill: dispatch Fill writes a
signal s=1
host waits s=1
result: host reads a
)";

constexpr std::string_view kHostReads = R"(
memory a 64
fill: dispatch Fill writes a
barrier compute.write -> host.read
signal s=1
host waits s=1
result: host reads a
)";

// Three in a diamond: the last one joins two.
constexpr std::string_view kDiamond = R"(
memory a 64
memory b 64
memory c 64
memory d 64
dispatch Start writes a
dispatch Left reads a writes b
dispatch Right reads a writes c
dispatch Join reads b c writes d
)";

using ProgramClaim = testing::Matcher<const Program&>;

std::string explanation_of(const ProgramClaim& matcher, std::string_view text) {
  testing::StringMatchResultListener listener;
  matcher.MatchAndExplain(program_of(text), &listener);
  return listener.str();
}

TEST(QueueMatchers, TellARaceFromItsRepair) {
  EXPECT_THAT(kRace, Not(IsHazardFree()));
  EXPECT_THAT(kOrdered, IsHazardFree());
  EXPECT_THAT(kRace, HasHazard("RAW", "upload", "use"));
  EXPECT_THAT(kOrdered, Not(HasHazard("RAW", "upload", "use")));
}

TEST(QueueMatchers, NameWhatTheHostDoesByItsLabel) {
  EXPECT_THAT(kHostReadsEarly, HasHazard("RAW", "fill", "result"));
  EXPECT_THAT(kHostReads, IsHazardFree());
}

// Indices are those of the text, where what the host does has none.
TEST(QueueMatchers, CountNoAccessOfTheHostAmongDispatches) {
  constexpr std::string_view kHostFirst =
      "memory a 64\nmemory b 64\nhost writes b = zeros\ndispatch W writes a\ndispatch R reads a\n";
  EXPECT_THAT(kHostFirst, HasHazard("RAW", 0, 1));
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(kHostFirst, Not(HasHazard("RAW", 1, 2))),
                          "The program has no dispatch '2'.");
}

TEST(HasDeadlock, NamesThoseThatWait) {
  EXPECT_THAT(kDeadlock, HasDeadlock());
  EXPECT_THAT(kDeadlock, HasDeadlock("first", "second"));
  EXPECT_THAT(kDeadlock, Not(HasDeadlock("second", "first")));
  EXPECT_THAT(kDeadlock, Not(HasDeadlock("first")));
  EXPECT_THAT(kDeadlock, Not(IsHazardFree()));
  EXPECT_THAT(kOrdered, Not(HasDeadlock()));
  EXPECT_THAT(kRace, Not(HasDeadlock()));
}

TEST(HasDeadlock, ExplainsWithTheReport) {
  EXPECT_EQ(DescribeMatcher<const Program&>(ProgramClaim(HasDeadlock())), "has a deadlock");
  EXPECT_EQ(DescribeMatcher<const Program&>(ProgramClaim(HasDeadlock("a", "b")), true),
            "does not have a deadlock of a, b");
  EXPECT_THAT(explanation_of(HasDeadlock("first", "second"), kDeadlock),
              StartsWith("in which there is a deadlock: 2 statements wait for each other."));
  EXPECT_THAT(explanation_of(HasDeadlock("third"), kDeadlock),
              StartsWith("in which others wait for each other:\ndeadlock: 2 statements"));
  EXPECT_THAT(explanation_of(HasDeadlock(), kRace),
              StartsWith("which has other findings:\nRAW hazard: use"));
  EXPECT_EQ(explanation_of(HasDeadlock(), kOrdered), "which has no findings");
}

TEST(HasDeadlock, FailsForWhatIsNotThere) {
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(kDeadlock, Not(HasDeadlock("frist"))),
                          "The program has no statement 'frist'.");
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(kDeadlock, Not(HasHazard("deadlock", "third", "third"))),
                          "A deadlock is between statements that wait");
}

TEST(HasNoUselessSync, SeesWaitsThatCanGo) {
  EXPECT_THAT(kOrdered, HasNoUselessSync());
  EXPECT_THAT(kWaitsTwice, AllOf(IsHazardFree(), Not(HasNoUselessSync())));
  EXPECT_EQ(explanation_of(HasNoUselessSync(), kOrdered), "of which no piece of sync can go");
  EXPECT_THAT(explanation_of(HasNoUselessSync(), kWaitsTwice),
              AllOf(StartsWith("which has 2 pieces of sync that can go:\n"), HasSubstr("again")));
}

// The fewest that may add order are not known, so neither the claim nor its denial passes.
TEST(HasFewestBarriers, HasNoVerdictOnSeveralQueues) {
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(kOrdered, Not(HasFewestBarriers())), "There is no verdict");
}

TEST(HasWaitCount, CountsWaitsOfQueuesAlone) {
  EXPECT_THAT(kRace, HasWaitCount(0));
  EXPECT_THAT(kWaitsTwice, AllOf(HasWaitCount(2), HasBarrierCount(0), HasEdgeCount(0)));
  EXPECT_THAT(kHostReads, AllOf(HasWaitCount(0), HasBarrierCount(1)));
  EXPECT_THAT(kWaitsTwice, Not(HasWaitCount(Le(1u))));
  EXPECT_EQ(DescribeMatcher<const Program&>(ProgramClaim(HasWaitCount(2))),
            "has a number of waits that is equal to 2");
  EXPECT_EQ(DescribeMatcher<const Program&>(ProgramClaim(HasEdgeCount(2)), true),
            "has a number of edges that isn't equal to 2");
}

TEST(EncodedBy, TakesEncodersForSeveralQueues) {
  EXPECT_THAT(kDiamond,
              EncodedBy("edges", AllOf(IsHazardFree(), HasEdgeCount(4), HasNoUselessSync())));
  EXPECT_THAT(kDiamond, EncodedBy("semaphores", AllOf(IsHazardFree(), HasWaitCount(2)), 2));
  EXPECT_THAT(kDiamond, EncodedBy("semaphores", AllOf(IsHazardFree(), HasWaitCount(0)), 1));
  EXPECT_THAT(encode_with("semaphores", kDiamond, 2), HasWaitCount(2));
  EXPECT_THAT("memory a 64\nmemory b 64\ndispatch R reads a writes b\ndispatch W writes a\n",
              EncodedBy("mlx-cuda", HasHazard("WAR", 0, 1)));
}

TEST(EncodedBy, GivesEncodersTheOrderOfTheRun) {
  EXPECT_THAT(print(encode_with("edges",
                                "memory x 64\na: queue serial\nb: queue serial\n"
                                "wait e=1 on b\nuse: dispatch R reads x on b\n"
                                "make: dispatch W writes x on a\nsignal e=1 on a\n")),
              HasSubstr("use: dispatch R reads x after make on"));
}

TEST(EncodedBy, RefusesWhatAnEncoderIsNotFor) {
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(kDiamond, Not(EncodedBy("semaphors", IsHazardFree()))),
                          "There is no encoder 'semaphors'. Did you mean 'semaphores'?");
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(kDiamond, Not(EncodedBy("interlock", IsHazardFree(), 2))),
                          "The encoder 'interlock' is for one queue; 2 are asked for.");
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(kRace, Not(EncodedBy("interlock", IsHazardFree()))),
                          "The encoder is for one queue; the program has several, or the host.");
  EXPECT_NONFATAL_FAILURE(encode_with(InterlockEncoder(), kHostReads),
                          "The encoder is for one queue; the program has several, or the host.");
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(kHostReads, Not(EncodedBy("edges", IsHazardFree()))), "host");
}

// Dispatches by turns on two queues, each of which signals after it; the other waits for that, or
// for itself by mistake.
class TwoStreams final : public Encoder {
 public:
  explicit TwoStreams(bool waits_for_itself) : waits_for_itself_(waits_for_itself) {}

  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    const QueueIndex here = is_second_ ? 1 : 0;
    const uint32_t awaited = waits_for_itself_ ? here : 1u - here;
    sink.use_queue(here);
    if (signalled_[awaited] > 0) {
      sink.issue_wait({.semaphore = awaited, .value = signalled_[awaited]});
    }
    sink.issue_dispatch(dispatch.id);
    sink.issue_signal({.semaphore = here, .value = ++signalled_[here]});
    is_second_ = !is_second_;
  }

 private:
  const bool waits_for_itself_;
  uint64_t signalled_[2] = {0, 0};
  bool is_second_ = false;
};

TEST(EncodeWith, TakesAnEncoderOfOnesOwnForSeveralQueues) {
  const Program right = encode_with(TwoStreams(false), kDiamond, QueueKind::kSerial);
  EXPECT_THAT(right, AllOf(IsHazardFree(), HasWaitCount(3)));
  EXPECT_THAT(print(right), AllOf(HasSubstr("q1: queue serial\n"), HasSubstr(" on q2\n")));
  TwoStreams wrong(true);
  EXPECT_THAT(encode_with(wrong, kDiamond, QueueKind::kSerial), Not(IsHazardFree()));
}

// On one queue a full barrier stands for each wait, and the mistake would not show.
TEST(EncodeWith, RefusesAnEncoderForSeveralQueuesWithoutTheirKind) {
  EXPECT_NONFATAL_FAILURE(encode_with(TwoStreams(true), kDiamond),
                          "The encoder issues a signal; one queue takes barriers alone here.");
  EXPECT_NONFATAL_FAILURE(encode_with(TwoStreams(true), "memory a 4\ndispatch A writes a\n"),
                          "encode_on_queues() take the kind of its queues, too.");
}

TEST(EncodeWith, RefusesOnSeveralQueuesWhatIsLostOrIssuedTwice) {
  class Loses final : public Encoder {
    void encode(const EncoderDispatch& /*dispatch*/, CommandSink& /*sink*/) override {}
  };
  class Repeats final : public Encoder {
    void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
      sink.issue_dispatch(dispatch.id);
      sink.use_queue(1);
      sink.issue_dispatch(dispatch.id);
    }
  };
  EXPECT_NONFATAL_FAILURE(encode_with(Loses(), kDiamond, QueueKind::kConcurrent),
                          "The encoder never issues");
  EXPECT_NONFATAL_FAILURE(encode_with(Repeats(), kDiamond, QueueKind::kConcurrent), "twice");
}

TEST(ProgramOf, RefusesSignalsThatNothingOrders) {
  EXPECT_NONFATAL_FAILURE(program_of("a: queue concurrent\nb: queue concurrent\nsignal s=1 on a\n"
                                     "signal s=2 on b\nwait s=2 on a\n"),
                          "nothing orders this signal of 's'");
}

TEST(ProgramIn, ReadsEveryQueue) {
  const std::string folder = INTERLOCK_SOURCE_DIR "/corpus/queues/";
  EXPECT_THAT(program_in(folder + "wait-on-the-other-queue.ilk"), Not(IsHazardFree()));
  EXPECT_THAT(program_in(folder + "wait-on-the-other-queue.fixed.ilk"), IsHazardFree());
  EXPECT_THAT(program_in(folder + "crossing-waits.ilk"), HasDeadlock());
  EXPECT_THAT(program_in(folder + "crossing-waits.fixed.ilk"), Not(HasDeadlock()));
}

}  // namespace
}  // namespace interlock::queue_matchers_test
