// Which words of sync can go: each sort of word where it does something and where it does not, and
// the statement that is left. What a judge says of random programs is in sync_removal_test.cc.
#include "simulator/barriers/sync_words.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "simulator/barriers/sync_redundancy.h"
#include "simulator/report/shorter_text.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::sync_words_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What can go, and what the statement then is.
std::vector<std::string> words_of(const std::string& body) {
  const Program program = program_with_queues(fmt::format(
      "interlock 1\nmemory x 64\nmemory y 64\nmemory z 64\nq1: queue concurrent\n{}", body));
  std::vector<std::string> words;
  for (const SyncPiece& piece : find_redundant_sync(program).redundant) {
    words.push_back(piece.is_word() ? fmt::format("{}: {}", description_of(program, piece),
                                                  shorter_text_of(program, piece))
                                    : description_of(program, piece));
  }
  return words;
}

TEST(SyncWords, OfASignalAreTheStagesThatNothingNeeds) {
  constexpr std::string_view kBody =
      "dispatch Make writes x\nsignal s=1 after {}\nwait s=1 on q1\n"
      "dispatch Use reads x writes y on q1\n";
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody), "compute")), IsEmpty());
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody), "compute|copy")),
              ElementsAre("`copy` in `after compute|copy` of the signal s=1 on q0 (statement 1): "
                          "signal s=1 after compute"));
  // All stages are what a signal covers that says nothing.
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody), "all")), IsEmpty());
}

TEST(SyncWords, OfAWaitAreTheStagesThatNeedNotBeHeldBack) {
  constexpr std::string_view kBody =
      "dispatch Make writes x\nsignal s=1\nwait s=1 before compute|copy on q1\n{}\n";
  EXPECT_THAT(
      words_of(fmt::format(fmt::runtime(kBody), "dispatch Use reads x writes y on q1")),
      ElementsAre("`copy` in `before compute|copy` of the wait for s=1 on q1 (statement 2): "
                  "wait s=1 before compute on q1"));
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody),
                                   "dispatch Use reads x writes y on q1\n"
                                   "dispatch copy reads x writes z on q1")),
              IsEmpty());
}

// The second signal covers what the first one covers, and a dispatch more.
TEST(SyncWords, OfAWaitIsTheValueIfTheSignalBeforeDoes) {
  constexpr std::string_view kBody =
      "dispatch Make writes x\nsignal s=1\ndispatch More writes z\nsignal s=4\n"
      "wait s={} before compute on q1\ndispatch Use reads {} writes y on q1\n";
  const std::string unused = "the signal s=1 on q0 (statement 1)";
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody), 3, "x")),
              ElementsAre(unused,
                          "the value 3 of the wait for s=3 on q1 (statement 4): "
                          "wait s=1 before compute on q1"));
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody), 3, "x z")), ElementsAre(unused));
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody), 1, "x")),
              ElementsAre("the signal s=4 on q0 (statement 3)"));
}

// What the host signals covers less than what it waited for: the lower signal makes x visible.
TEST(SyncWords, OfAWaitIsTheValueOnlyWhereOneQueueSignalsBoth) {
  constexpr std::string_view kBody =
      "dispatch Make writes x\nsignal s=1\nhost waits s=1\n{}\n"
      "wait s=2 on q1\nsubmit on q1\ndispatch Use writes y on q1\n";
  const auto words = words_of(fmt::format(fmt::runtime(kBody), "host signals s=2"));
  EXPECT_THAT(words, testing::Not(testing::Contains(testing::HasSubstr("the value"))));
}

TEST(SyncWords, OfABinarySemaphoreAreTheStagesOfItsSignal) {
  EXPECT_THAT(words_of(R"(
b: semaphore binary
dispatch Make writes x
signal b after copy|compute
wait b on q1
dispatch Use reads x writes y on q1
)"),
              ElementsAre("`copy` in `after compute|copy` of the signal b on q0 (statement 1): "
                          "signal b after compute"));
}

TEST(SyncWords, OfABarrierAreStagesAndAccesses) {
  constexpr std::string_view kBody =
      "dispatch Make writes x\nmid: barrier {}\ndispatch Use reads x writes y\n"
      "dispatch Other writes z on q1\n";
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody), "compute.write -> compute.read")),
              IsEmpty());
  EXPECT_THAT(
      words_of(fmt::format(fmt::runtime(kBody), "compute.write|copy.write -> compute.read|host")),
      ElementsAre("`copy.write` in the source of the barrier on q0 (mid, statement 1): "
                  "barrier compute.write -> compute.read|host",
                  "`host` in the destination of the barrier on q0 (mid, statement 1): "
                  "barrier compute.write|copy.write -> compute.read"));
  EXPECT_THAT(
      words_of(fmt::format(fmt::runtime(kBody), "all.write -> compute.read|compute.write")),
      ElementsAre("`compute.write` in the destination of the barrier on q0 (mid, statement 1): "
                  "barrier all.write -> compute.read"));
}

TEST(SyncWords, OfABarrierAreAccessesWhereOrderIsEnough) {
  EXPECT_THAT(
      words_of(R"(
dispatch Use reads x writes y
barrier all.write -> compute.write
dispatch Make writes x
dispatch Other writes z on q1
)"),
      ElementsAre("the access of `all.write` in the source of the barrier on q0 (statement 1): "
                  "barrier all -> compute.write",
                  "the access of `compute.write` in the destination of the barrier on q0 "
                  "(statement 1): barrier all.write -> compute"));
}

TEST(SyncWords, OfABarrierWithoutScopesIsItsMemory) {
  constexpr std::string_view kBody =
      "dispatch Use reads x writes y\nbarrier\ndispatch Make writes {}\n"
      "dispatch Other writes z on q1\n";
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody), "x")),
              ElementsAre("the memory dependency of the barrier on q0 (statement 1): "
                          "barrier execution"));
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody), "y")), IsEmpty());
}

TEST(SyncWords, OfABarrierAreWholeDependencies) {
  // Of what can go as a whole no word is listed.
  EXPECT_THAT(words_of(R"(
dispatch Make writes x
barrier compute.write -> compute.read x, copy.write -> compute.read|compute.write z
dispatch Use reads x writes y
dispatch Other writes z on q1
)"),
              ElementsAre("the dependency `copy.write -> compute.read|compute.write` of the "
                          "barrier on q0 (statement 1): "
                          "barrier compute.write -> compute.read x"));
}

TEST(SyncWords, OfADependencyAreOperandsUpToTheLast) {
  EXPECT_THAT(words_of(R"(
dispatch Make writes x[0:8]
barrier compute.write -> compute.read x[0:8] x[32:64 rows 2 pitch 16 width 8] y
dispatch Use reads x[0:8] writes y
dispatch Other writes z on q1
)"),
              ElementsAre("the operand x[32:64 rows 2 pitch 16 width 8] of the barrier on q0 "
                          "(statement 1): barrier compute.write -> compute.read x[0:8] y",
                          "the operand y of the barrier on q0 (statement 1): "
                          "barrier compute.write -> compute.read x[0:8] "
                          "x[32:64 rows 2 pitch 16 width 8]"));
}

TEST(SyncWords, DoNotWidenADependencyOfWhichAllOperandsGoAtOnce) {
  const Program program = program_with_queues(R"(interlock 1
memory x 64
memory y 64
q1: queue concurrent
dispatch Make writes x y
barrier compute.write -> compute.read x y
dispatch Use reads x y
dispatch Other writes y[0:0] on q1
)");
  EXPECT_THAT(find_redundant_sync(program, {.alone_max = 0, .stride = 1}).redundant, IsEmpty());
}

TEST(SyncWords, OfAnOperandThatHasRowsAreAllRows) {
  // Of the first operand the second row is needed.
  EXPECT_THAT(words_of(R"(
dispatch Make writes x[16:24]
barrier compute.write -> compute.read x[0:32 rows 2 pitch 16 width 8] y
dispatch Use reads x[16:24] writes z
dispatch Other writes y[0:0] on q1
)"),
              ElementsAre("the operand y of the barrier on q0 (statement 1): barrier "
                          "compute.write -> compute.read x[0:32 rows 2 pitch 16 width 8]"));
}

TEST(SyncWords, OfWhatTheHostMovesAreOperandsThatNobodyNeedsThere) {
  constexpr std::string_view kBody =
      "memory n 64 noncoherent=16\nhost writes n[0:4] n[32:36]\n"
      "host flushes n[0:4] n[16:48 rows 2 pitch 16 width 16] n[48:64]\n"
      "dispatch Use reads n[{}:{}] writes y on q1\n";
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody), 0, 36)),
              ElementsAre("the operand n[48:64] of the host's flush (statement 1): "
                          "host flushes n[0:4] n[16:48 rows 2 pitch 16 width 16]"));
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody), 0, 4)),
              ElementsAre("the operand n[16:48 rows 2 pitch 16 width 16] of the host's flush "
                          "(statement 1): host flushes n[0:4] n[48:64]",
                          "the operand n[48:64] of the host's flush (statement 1): "
                          "host flushes n[0:4] n[16:48 rows 2 pitch 16 width 16]"));
  EXPECT_THAT(words_of(R"(
memory n 64 noncoherent=16
dispatch Make writes n[0:4] on q1
barrier on q1
host idle on q1
host invalidates n[0:4] n[16:20]
host reads n[0:4]
)"),
              ElementsAre("the operand n[16:20] of the host's invalidation (statement 3): "
                          "host invalidates n[0:4]"));
}

TEST(SyncWords, OfAWaitOfTheHostForAllAreTheOtherQueues) {
  constexpr std::string_view kBody =
      "dispatch Use reads x writes y on q1\ndispatch Other writes {} on q0\n"
      "idle: host idle\nhost writes x\n";
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody), "z")),
              ElementsAre("all queues but q1 in the host's wait for all queues (idle, statement 2)"
                          ": host idle on q1"));
  EXPECT_THAT(words_of(fmt::format(fmt::runtime(kBody), "x[0:0]")), testing::SizeIs(1));
  EXPECT_THAT(words_of("dispatch Use reads x writes y on q1\ndispatch Other reads x writes z\n"
                       "host idle\nhost writes x\n"),
              IsEmpty());
  // The other queue has no work of its own, so that this says the same.
  EXPECT_THAT(words_of("dispatch Use reads x writes y on q1\nhost idle\nhost writes x\n"),
              IsEmpty());
}

// The one queue waits for the other: either will do.
TEST(SyncWords, OfAWaitOfTheHostForAllCanBeSeveral) {
  constexpr std::string_view kBody = R"(
dispatch Use reads x writes y on q1
signal s=1 on q1
wait s=1
dispatch Next reads y writes z
host idle
host writes x
)";
  EXPECT_THAT(words_of(std::string(kBody)), testing::SizeIs(2));
}

TEST(SyncWords, OfAnEventAreThoseOfItsSet) {
  EXPECT_THAT(words_of(R"(
dispatch Make writes x
set e compute.write -> compute.read|copy.read
await e
again: await e
dispatch Use reads x writes y
dispatch Other writes z on q1
)"),
              ElementsAre("`copy.read` in the destination of the set of e on q0 (statement 1): "
                          "set e compute.write -> compute.read",
                          "the await of e on q0 (statement 2)",
                          "the await of e on q0 (again, statement 3)"));
  EXPECT_THAT(words_of(R"(
dispatch Use reads x writes y
set e
await e
dispatch Make writes x
dispatch Other writes z on q1
)"),
              ElementsAre("the memory dependency of the set of e on q0 (statement 1): "
                          "set e execution"));
}

// `programmatic` is no weaker word for an edge: such an edge comes from a point before the end.
TEST(SyncWords, OfAnEdgeAreNone) {
  EXPECT_THAT(words_of("g: queue graph\nstart: dispatch Start reads x writes y on g\n"
                       "last: dispatch Last writes x after start on g\n"),
              IsEmpty());
}

TEST(SyncWords, OfASignalGoWhetherItsWaitCanGoOrNot) {
  EXPECT_THAT(
      words_of(R"(
dispatch Make writes x
signal s=1 after compute|copy
wait s=1 before compute|copy on q1
dispatch Use reads z writes y on q1
)"),
      ElementsAre("`compute` in `after compute|copy` of the signal s=1 on q0 (statement 1): "
                  "signal s=1 after copy",
                  "`copy` in `after compute|copy` of the signal s=1 on q0 (statement 1): "
                  "signal s=1 after compute",
                  "the wait for s=1 on q1 (statement 2)"));
}

TEST(SyncWords, OfSyncThatFailsToOrderAHazardAreNone) {
  EXPECT_THAT(words_of(R"(
dispatch Make writes x
barrier compute -> compute.read|copy.read
dispatch Use reads x writes y
dispatch Other writes z on q1
)"),
              IsEmpty());
}

}  // namespace
}  // namespace interlock::sync_words_test
