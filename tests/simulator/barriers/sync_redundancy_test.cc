// Which sync of programs with several queues can go: each sort of piece beside one that is needed,
// and removal, judged by a search of chains, as the judge of random programs. Fixed seeds.
#include "simulator/barriers/sync_redundancy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulator/programs/queue_texts.h"

namespace interlock::sync_redundancy_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> redundant_in(const std::string& body) {
  const Program program = program_with_queues(fmt::format(
      "interlock 1\nmemory x 64\nmemory y 64\nmemory z 64\nq1: queue concurrent\n{}", body));
  std::vector<std::string> pieces;
  for (const SyncPiece& piece : find_redundant_sync(program).redundant) {
    pieces.push_back(description_of(program, piece));
  }
  return pieces;
}

TEST(FindRedundantSync, NeedsAWaitThatOrdersAConflict) {
  constexpr std::string_view kBody =
      "dispatch Make writes x\nsignal s=1\nwait s=1 on q1\ndispatch Use reads {} writes y on q1\n";
  EXPECT_THAT(redundant_in(fmt::format(fmt::runtime(kBody), "x")), IsEmpty());
  EXPECT_THAT(redundant_in(fmt::format(fmt::runtime(kBody), "z")),
              ElementsAre("the wait for s=1 on q1 (statement 2)"));
}

TEST(FindRedundantSync, NeedsOneOfTwoWaits) {
  EXPECT_THAT(redundant_in(R"(
dispatch Make writes x
signal s=1, t=1
wait s=1 on q1
again: wait t=1 on q1
dispatch Use reads x writes y on q1
)"),
              ElementsAre("the wait for s=1 on q1 (statement 2)",
                          "the wait for t=1 on q1 (again, statement 3)"));
}

TEST(FindRedundantSync, NeedsAWaitForTheStagesThatItHoldsBack) {
  EXPECT_THAT(redundant_in(R"(
dispatch Make writes x
signal s=1
wait s=1 before copy on q1
wait s=1 before compute on q1
dispatch Use reads x writes y on q1
)"),
              ElementsAre("the wait for s=1 on q1 (statement 2)"));
}

TEST(FindRedundantSync, TakesTheSignalOfABinarySemaphoreWithItsWait) {
  EXPECT_THAT(redundant_in(R"(
b: semaphore binary
dispatch Make writes x
signal b
wait b on q1
dispatch Other reads z writes z on q1
host idle on q1
signal b
wait b on q1
dispatch Use reads x writes y on q1
)"),
              ElementsAre("the wait for b on q1 (statement 2) with its signal (statement 1)",
                          "the wait for b on q1 (statement 6) with its signal (statement 5)"));
}

// As one of a timeline; those that meet a wait come before it.
TEST(FindRedundantSync, NeedsNoSignalOfABinarySemaphoreThatNoWaitIsLeftFor) {
  EXPECT_THAT(redundant_in(R"(
b: semaphore binary
dispatch Make writes x
signal b
wait b on q1
dispatch Use reads x writes y on q1
signal b, s=1 on q1
wait s=1
dispatch Next writes x
)"),
              ElementsAre("the signal b on q1 (statement 4)"));
}

// What orders no access, and the uses of a bit: without it the text is an error.
TEST(FindRedundantSync, NeedsWhatOrdersTheUsesOfABinarySemaphore) {
  constexpr std::string_view kText = R"(interlock 1
memory x 64
memory y 64
memory z 64
q1: queue concurrent
b: semaphore binary
dispatch Make writes x[0:32]
signal b
wait b on q1
dispatch Use reads {} writes y on q1
signal t=1 on q1
wait t=1
signal b
wait b on q1
dispatch Other reads z writes z on q1
)";
  const std::string first = "the wait for b on q1 (statement 2) with its signal (statement 1)";
  const std::string second = "the wait for b on q1 (statement 7) with its signal (statement 6)";
  for (const bool is_first_needed : {true, false}) {
    const Program program =
        program_with_queues(fmt::format(fmt::runtime(kText), is_first_needed ? "x" : "x[32:64]"));
    for (const size_t alone_max : {24, 0}) {
      for (const bool asks_chains : {false, true}) {
        std::vector<std::string> pieces;
        for (const SyncPiece& piece :
             find_redundant_sync(program,
                                 {.alone_max = alone_max, .stride = 1, .asks_chains = asks_chains})
                 .redundant) {
          pieces.push_back(description_of(program, piece));
        }
        EXPECT_EQ(pieces, is_first_needed ? std::vector{second} : std::vector({first, second}))
            << alone_max;
      }
    }
  }
}

TEST(FindRedundantSync, NeedsABarrierThatChainsASignalToAWait) {
  // The signal covers copies alone, which what the barrier orders reaches.
  EXPECT_THAT(redundant_in(R"(
dispatch Make writes x
barrier compute.write -> copy
signal s=1 after copy
wait s=1 on q1
dispatch Use reads x writes y on q1
)"),
              IsEmpty());
  EXPECT_THAT(redundant_in(R"(
dispatch Make writes x
barrier
signal s=1
wait s=1 on q1
dispatch Use reads x writes y on q1
)"),
              ElementsAre("the barrier on q0 (statement 1)"));
}

TEST(FindRedundantSync, TakesTheSetWithItsOnlyAwait) {
  EXPECT_THAT(redundant_in(R"(
dispatch Make writes x
set e
set f
await e
await f
dispatch Use reads x writes y
dispatch Other writes z on q1
)"),
              ElementsAre("the await of e on q0 (statement 3) with its set (statement 1)",
                          "the await of f on q0 (statement 4) with its set (statement 2)"));
  EXPECT_THAT(
      redundant_in(R"(
dispatch Make writes x
set e
await e
again: await e
set f
dispatch Use reads x writes y
dispatch Other writes z on q1
)"),
      ElementsAre("the await of e on q0 (statement 2)", "the await of e on q0 (again, statement 3)",
                  "the set of f on q0 (statement 4), which nothing awaits"));
}

TEST(FindRedundantSync, NeedsTheHostsWaitForWhatItReads) {
  constexpr std::string_view kBody =
      "dispatch Make writes x on q1\nbarrier on q1\nsignal s=1 on q1\n"
      "host waits s=1\nhost idle{}\nhost reads x\n";
  EXPECT_THAT(redundant_in(fmt::format(fmt::runtime(kBody), "")),
              ElementsAre("the host's wait for s=1 (statement 3)",
                          "the host's wait for all queues (statement 4)"));
  EXPECT_THAT(redundant_in(fmt::format(fmt::runtime(kBody), " on q0")),
              ElementsAre("the host's wait for q0 (statement 4)"));
}

TEST(FindRedundantSync, NeedsTheFlushOfWhatTheHostWrote) {
  constexpr std::string_view kBody =
      "memory n 64 noncoherent=16\nhost writes n[0:4]\nhost flushes n[0:8]\n"
      "host flushes n[{}]\ndispatch Use reads n[0:4] writes y on q1\n";
  EXPECT_THAT(redundant_in(fmt::format(fmt::runtime(kBody), "4:12")),
              ElementsAre("the host's flush of n[0:8] (statement 1)",
                          "the host's flush of n[4:12] (statement 2)"));
  EXPECT_THAT(redundant_in(fmt::format(fmt::runtime(kBody), "16:32")),
              ElementsAre("the host's flush of n[16:32] (statement 2)"));
}

// Without it nothing would be wrong; it is what the finding is about, and no advice.
TEST(FindRedundantSync, IsSilentOnWhatLosesAWriteOfTheHost) {
  constexpr std::string_view kBefore = "memory n 4 noncoherent=4\nhost writes n\n";
  constexpr std::string_view kAfter = "use: dispatch Use reads n writes x\n";
  EXPECT_THAT(redundant_in(std::string(kBefore) + "lose: host invalidates n\nhost flushes n\n" +
                           std::string(kAfter)),
              IsEmpty());
  // What is written again as a whole has lost nothing that somebody reads.
  EXPECT_THAT(redundant_in(std::string(kBefore) +
                           "lose: host invalidates n\nhost writes n\nkeep: host flushes n\n" +
                           std::string(kAfter)),
              ElementsAre("the host's invalidation of n (lose, statement 1)"));
}

TEST(FindRedundantSync, NeedsOneOfTwoWaysAlongEdges) {
  EXPECT_THAT(redundant_in(R"(
g: queue graph
start: dispatch Make writes x on g
step: dispatch Step reads x writes y after start on g
last: dispatch Use reads x y writes z after start step on g
)"),
              ElementsAre("the edge from start (dispatch 0) to last (dispatch 2)"));
}

TEST(FindRedundantSync, NeedsNoSignalThatNothingWaitsFor) {
  EXPECT_THAT(
      redundant_in(R"(
dispatch Make writes x
signal s=1, t=1
wait s=1 on q1
dispatch Use reads x writes y on q1
host signals h=1
)"),
      ElementsAre("the signal t=1 on q0 (statement 1)", "the host's signal h=1 (statement 4)"));
}

// Who presents an image waits for a bit that no wait of the program takes: neither the signal nor a
// stage of it is known to be more than is needed. A timeline that nobody waits for is no such bit.
TEST(FindRedundantSync, KeepsASignalThatSomebodyOutsideTakes) {
  const std::string frame = R"(
dispatch Draw writes x
signal shown{} after compute|copy
dispatch Next writes y
)";
  EXPECT_THAT(redundant_in(fmt::format(fmt::runtime(frame), "")), IsEmpty());
  EXPECT_THAT(redundant_in(fmt::format(fmt::runtime(frame), "=1")),
              ElementsAre("the signal shown=1 on q0 (statement 1)"));
  // As soon as the program waits for one of its signals it is its own.
  EXPECT_THAT(redundant_in(R"(
dispatch Draw writes x
signal shown
wait shown on q1
dispatch Show reads x on q1
signal shown on q1
dispatch Next writes y
)"),
              ElementsAre("the signal shown on q1 (statement 4)"));
}

TEST(FindRedundantSync, NeedsASignalThatALaterOneCovers) {
  // The second signal covers what the first one covers, computing too.
  EXPECT_THAT(redundant_in(R"(
dispatch Make writes x
signal s=1 after compute
signal t=1 after copy
wait t=1 on q1
dispatch Use reads x writes y on q1
)"),
              IsEmpty());
}

TEST(FindRedundantSync, NeedsAWaitThatKeepsSignalsInOrder) {
  EXPECT_THAT(
      redundant_in(R"(
signal s=1
wait s=1 on q1
signal s=2 on q1
host waits s=1
)"),
      ElementsAre("the signal s=2 on q1 (statement 2)", "the host's wait for s=1 (statement 3)"));
}

TEST(FindRedundantSync, NeedsAWaitForADestroy) {
  constexpr std::string_view kBody =
      "tensor t f32[4] at x+0 = zeros\ndispatch Use reads t writes y on q1\nsignal s=1 on q1\n"
      "host waits s=1\n{} t\n";
  EXPECT_THAT(redundant_in(fmt::format(fmt::runtime(kBody), "destroy")), IsEmpty());
  EXPECT_THAT(redundant_in(fmt::format(fmt::runtime(kBody), "free")),
              ElementsAre("the host's wait for s=1 (statement 2)"));
}

TEST(FindRedundantSync, NeedsAWaitThatKeepsTheProgramOrder) {
  // Without the wait the reader would run first, and read another value.
  EXPECT_THAT(redundant_in(R"(
wait s=1 on q1
dispatch Use order=1 reads x writes y on q1
dispatch Make order=0 writes x
signal s=1
)"),
              IsEmpty());
}

TEST(FindRedundantSync, DoesNotBlameWhatFailsToOrderAHazard) {
  EXPECT_THAT(redundant_in(R"(
dispatch Make writes x
signal s=1 after copy
wait s=1 on q1
dispatch Use reads x writes y on q1
)"),
              IsEmpty());
  EXPECT_THAT(redundant_in(R"(
dispatch Make writes x
dispatch Other writes z
signal s=1
dispatch Use reads x writes y on q1
wait s=1 on q1
dispatch Last reads z on q1
signal t=1
wait t=1 on q1
)"),
              ElementsAre("the wait for t=1 on q1 (statement 7)"));
}

// Without the wait nothing orders the second signal after the first; without both nothing asks.
TEST(FindRedundantSync, KeepsAWaitThatOrdersSignals) {
  const Program program = program_with_queues(
      "interlock 1\nmemory x 64\nq1: queue serial\nq2: queue serial\ndispatch Use reads x on q1\n"
      "signal s=1 on q1\nwait s=1 on q2\nsignal s=2 on q2\n");
  for (const size_t alone_max : {size_t{0}, SIZE_MAX}) {
    const SyncRedundancy found =
        find_redundant_sync(program, {.alone_max = alone_max, .stride = 1});
    ASSERT_EQ(found.redundant.size(), 1u);
    EXPECT_EQ(found.redundant[0].kind, SyncPieceKind::kSignal);
  }
}

TEST(FindRedundantSync, IsSilentInADeadlock) {
  EXPECT_THAT(redundant_in(R"(
wait t=1
signal s=1
wait s=1 on q1
signal t=1 on q1
barrier on q1
)"),
              IsEmpty());
}

TEST(FindRedundantSync, LeavesOutNothingBeyondTheLimit) {
  const Program program = program_with_queues(
      "interlock 1\nmemory x 64\nq1: queue concurrent\ndispatch A writes x\nsignal s=1\n"
      "wait s=1 on q1\nbarrier on q1\ndispatch B reads x on q1\n");
  const SyncRedundancy none = find_redundant_sync(program, {.work_limit = 0});
  EXPECT_THAT(none.redundant, IsEmpty());
  EXPECT_EQ(none.unjudged_count, 2);
  const SyncRedundancy all = find_redundant_sync(program);
  EXPECT_EQ(all.redundant.size(), 1);
  EXPECT_EQ(all.unjudged_count, 0);
}

// Each by itself they take 10,000,000 steps, and 40,000 that check the program once.
TEST(FindRedundantSync, JudgesFlushesOfManyAtomsAtOnce) {
  constexpr int kWrites = 400;
  std::string text = "interlock 1\nmemory n 6400 noncoherent=16\nmemory y 400\n";
  for (int i = 0; i < kWrites; ++i) {
    text += fmt::format("host writes n[{}:{}]\n", 16 * i, 16 * i + 4);
    for (int k = 0; k < 1 + i % 2; ++k) {
      text += fmt::format("host flushes n[{}:{}]\n", 16 * i + 3 * k, 16 * i + 8);
    }
  }
  for (int i = 0; i < kWrites; ++i) {
    text +=
        fmt::format("dispatch Use reads n[{}:{}] writes y[{}:{}]\n", 16 * i, 16 * i + 4, i, i + 1);
  }
  const SyncRedundancy redundant =
      find_redundant_sync(program_with_queues(text), {.work_limit = 4'000'000});
  EXPECT_EQ(redundant.unjudged_count, 0);
  EXPECT_EQ(redundant.redundant.size(), kWrites);  // One of two, or the other.
}

// An invalidation after them loses what one flush keeps, and both keep.
TEST(FindRedundantSync, NeedsOneFlushBeforeAnInvalidation) {
  std::string text = "interlock 1\nmemory n 1024 noncoherent=16\nmemory y 64\n";
  for (int i = 0; i < 64; ++i) {
    text += fmt::format("host writes n[{}:{}]\nhost flushes n[{}:{}]\n", 16 * i, 16 * i + 4, 16 * i,
                        16 * i + 16);
  }
  text += "host invalidates n\n";
  for (int i = 0; i < 64; ++i) text += fmt::format("host reads n[{}:{}]\n", 16 * i, 16 * i + 4);
  const Program program = program_with_queues(text);
  std::vector<std::string> pieces;
  for (const SyncPiece& piece : find_redundant_sync(program).redundant) {
    pieces.push_back(description_of(program, piece));
  }
  EXPECT_THAT(pieces, ElementsAre("the host's invalidation of n (statement 128)"));
}

}  // namespace
}  // namespace interlock::sync_redundancy_test
