// Overlap mode on the emulated CUDA device: streams take turns in orders that a seed draws, so that
// a missing wait shows in some trial and none shows where nothing is missing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "backends/cuda/emulated/emulated_cuda_backend.h"
#include "tests/backends/corpus_bug.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/queue_trials.h"
#include "tests/program_count.h"

namespace interlock::emulated_queues_test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

constexpr int kTrials = 40;

// What CUDA orders more strictly than the program, and so never shows: see docs/backends.md.
const std::set<std::string> kNeverShown = {
    // Memory of a queue's signals and edges is visible to all, the host's too.
    "host-read-after-a-fence",
    "host-read-of-unified-memory",
    "host-write-named-after-the-wait",
    "host-write-after-submit",
    "ordered-not-available",
    "programmatic-edge",
    "read-without-an-invalidation",
    "write-without-a-flush",
    "invalidated-before-the-flush",
    "beside-a-flushed-atom",
    "lost-and-written-in-part",
    "lost-to-the-host-itself",
    // A wait holds everything, and a signal is after everything.
    "event-covers-no-event",
    "signal-after-copy",
    "signals-of-one-batch",
    "wait-before-copy",
    "wait-before-compute-of-indirect",
};

TEST(EmulatedQueues, ShowWhatIsMissingAndNothingElse) {
  std::set<std::string> never_shown;
  int shown_count = 0;
  for (const auto& path : corpus_files({"queues"})) {
    const std::optional<Program> run = queue_program_of(path);
    if (!run) continue;
    SCOPED_TRACE(path);
    EmulatedCudaBackend backend({.block_thread_count = 2});
    const int shown = first_differing_trial(backend, *run, kTrials);
    const bool is_clean = !finds_hazard(*run);
    if (is_clean) {
      EXPECT_EQ(shown, 0);
    } else if (shown == 0) {
      never_shown.insert(path.stem());
    } else {
      ++shown_count;
    }
  }
  EXPECT_THAT(never_shown, UnorderedElementsAreArray(kNeverShown));
  EXPECT_GE(shown_count, 15);
}

TEST(EmulatedQueues, OfThePublicBugsRepairedTwinsNeverDiffer) {
  int shown_count = 0;
  for (const auto& path : corpus_files({"bugs"})) {
    const std::optional<Program> run = queue_program_of(path);
    if (!run) continue;
    SCOPED_TRACE(path);
    EmulatedCudaBackend backend({.block_thread_count = 2});
    const int shown = first_differing_trial(backend, *run, 8);
    if (!finds_hazard(*run)) {
      EXPECT_EQ(shown, 0);
    }
    shown_count += shown > 0;
  }
  EXPECT_GT(shown_count, 20);
}

TEST(EmulatedQueues, LeaveWhatTheReferenceLeavesOnCleanPrograms) {
  const int count = program_count(3000);
  int clean_count = 0;
  EmulatedCudaBackend backend({.block_thread_count = 1});
  for (int seed = 0; seed < count; ++seed) {
    const std::optional<Program> run = clean_queue_program(static_cast<uint64_t>(seed));
    if (!run) continue;
    ++clean_count;
    ASSERT_EQ(first_differing_trial(backend, *run, 4), 0) << "seed " << seed << "\n"
                                                          << print(as_in_text(*run));
  }
  EXPECT_GT(clean_count, count / 40);
}

// Each barrier is an event that its own stream waits for, with nothing between two of them.
TEST(EmulatedQueues, KnowWhatAStreamWaitsForOnceHoweverManyBarriersSaySo) {
  std::string text =
      "interlock 1\nmemory x 64\nmemory y 64\nq1: queue concurrent\nq2: queue concurrent\n"
      "dispatch Make writes x on q1\nsignal s=1 on q1\nwait s=1 on q2\n";
  for (int i = 0; i < 100; ++i) text += "barrier on q1\nbarrier on q2\n";
  text += "dispatch Use reads x writes y on q2\n";
  const auto program = parse(text, "test", every_queue());
  ASSERT_TRUE(program) << program.error().message;
  EmulatedCudaBackend backend({.block_thread_count = 1});
  EXPECT_EQ(first_differing_trial(backend, reference_run(*program), 4), 0);
}

// Launches of captured graphs, two on one stream. What is left out shows in some trial: an edge
// between two operations of a launch, and the wait of another stream for all of it.
TEST(EmulatedQueues, ShowWhatIsMissingInAndAfterLaunches) {
  constexpr std::string_view kText = R"(interlock 1
memory x 64
memory y 64
memory z 64
memory out 64
work: queue serial
copies: queue serial
capture step
make: dispatch Make reads x writes y
fold: dispatch Fold reads y updates x after make
side: dispatch Side reads {} writes z after make
end
replay step on work
replay step on work
signal done=1 on work
{}fetch: dispatch Fetch reads y z writes out on copies
)";
  const auto shown = [&](std::string_view read, std::string_view wait) {
    const auto program = parse(fmt::format(fmt::runtime(kText), read, wait), "test", every_queue());
    EXPECT_TRUE(program.has_value()) << program.error().message;
    EmulatedCudaBackend backend({.block_thread_count = 2});
    return first_differing_trial(backend, reference_run(*program), kTrials);
  };
  const std::string_view wait = "wait done=1 on copies\n";
  EXPECT_EQ(shown("y", wait), 0);
  EXPECT_GT(shown("x", wait), 0);  // `fold` writes it, and stands in no order with `side`.
  EXPECT_GT(shown("y", ""), 0);
}

TEST(EmulatedQueues, LeaveWhatTheReferenceLeavesOnCleanLaunches) {
  const int count = program_count(1500);
  int clean_count = 0;
  EmulatedCudaBackend backend({.block_thread_count = 1});
  for (int seed = 0; seed < count; ++seed) {
    const std::optional<Program> run = clean_launch_program(static_cast<uint64_t>(seed));
    if (!run) continue;
    ++clean_count;
    ASSERT_EQ(first_differing_trial(backend, *run, 4), 0) << "seed " << seed << "\n"
                                                          << print(as_in_text(*run));
  }
  EXPECT_GT(clean_count, count / 60);
}

// The kernels have a block for each row: without a barrier they take turns between rows, and the
// sums mix old and new ones.
TEST(EmulatedQueues, TakeTurnsBetweenTheBlocksOfLaunches) {
  const Program program = corpus_bug("mlx-3630");
  EmulatedCudaBackend backend({.block_thread_count = 1});
  const Schedule issue = reference_order_schedule(program);
  std::set<std::vector<uint8_t>> sums;
  for (int trial = 0; trial < 20; ++trial) {
    const auto image = backend.run(program, issue, ExecutionMode::kOverlap);
    ASSERT_TRUE(image.has_value()) << image.error().message;
    sums.insert(bytes_of(program, *image, "gb"));
  }
  EXPECT_GT(sums.size(), 3u);  // All of one first, all of the other first, and others.
}

TEST(EmulatedQueues, AreTheSameForTheSameSeeds) {
  const std::optional<Program> run =
      queue_program_of(INTERLOCK_SOURCE_DIR "/corpus/queues/next-upload.ilk");
  ASSERT_TRUE(run.has_value());
  std::vector<std::vector<MemoryImage>> images(2);
  for (std::vector<MemoryImage>& own : images) {
    EmulatedCudaBackend backend({.block_thread_count = 1});
    for (int trial = 0; trial < 10; ++trial) {
      own.push_back(
          backend.run(*run, reference_order_schedule(*run), ExecutionMode::kOverlap).value());
    }
  }
  EXPECT_TRUE(images[0] == images[1]);
}

TEST(EmulatedQueues, RefuseADeadlock) {
  const Program program = corpus_program(INTERLOCK_SOURCE_DIR "/corpus/queues/crossing-waits.ilk");
  EmulatedCudaBackend backend;
  const auto image =
      backend.run(program, reference_order_schedule(program), ExecutionMode::kOverlap);
  ASSERT_FALSE(image.has_value());
  EXPECT_EQ(image.error().kind, ErrorKind::kRefused);
  EXPECT_THAT(image.error().message, HasSubstr("deadlocks"));
}

}  // namespace
}  // namespace interlock::emulated_queues_test
