// Overlap mode of programs with several queues on Vulkan, under validation of every call: real
// submissions and semaphores. Where the device has fewer queues than the program, trials submit in
// other orders, and so a missing wait shows even where nothing overlaps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/backends/queue_trials.h"
#include "tests/backends/vulkan/vulkan_device.h"
#include "tests/program_count.h"

namespace interlock::vulkan_queues_test {
namespace {

using testing::HasSubstr;
using testing::IsSubsetOf;

class VulkanQueues : public OnVulkan {};

constexpr int kTrials = 40;

// What needs more than another order of the dispatches to show.
const std::set<std::string> kMayNotShow = {
    // Memory is coherent, and every command of one queue is over before the next one starts.
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
    // Queues that share one of the device wait for all that is submitted to it before.
    "signal-after-copy",
    "signals-of-one-batch",
    "wait-before-copy",
    "wait-before-compute-of-indirect",
    "event-covers-no-event",
    "event-set-too-early",
};

TEST_F(VulkanQueues, ShowWhatIsMissingAndNothingElse) {
  VulkanBackend backend({.validates = true});
  std::set<std::string> not_shown;
  int shown_count = 0;
  for (const auto& path : corpus_files({"queues"})) {
    const std::optional<Program> run = queue_program_of(path);
    if (!run) continue;
    SCOPED_TRACE(path);
    const int shown = first_differing_trial(backend, *run, kTrials);
    if (!finds_hazard(*run)) {
      EXPECT_EQ(shown, 0);
    } else if (shown == 0) {
      not_shown.insert(path.stem());
    } else {
      ++shown_count;
    }
  }
  EXPECT_THAT(not_shown, IsSubsetOf(kMayNotShow));
  EXPECT_GE(shown_count, 14);
}

TEST_F(VulkanQueues, OfThePublicBugsRepairedTwinsNeverDiffer) {
  VulkanBackend backend({.validates = true});
  int shown_count = 0;
  for (const auto& path : corpus_files({"bugs"})) {
    const std::optional<Program> run = queue_program_of(path);
    if (!run) continue;
    SCOPED_TRACE(path);
    const int shown = first_differing_trial(backend, *run, 8);
    if (!finds_hazard(*run)) {
      EXPECT_EQ(shown, 0);
    }
    shown_count += shown > 0;
  }
  EXPECT_GT(shown_count, 20);
}

TEST_F(VulkanQueues, LeaveWhatTheReferenceLeavesOnCleanPrograms) {
  VulkanBackend backend({.validates = true});
  const int count = program_count(2000);
  int clean_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    const std::optional<Program> run = clean_queue_program(static_cast<uint64_t>(seed));
    if (!run) continue;
    ++clean_count;
    ASSERT_EQ(first_differing_trial(backend, *run, 3), 0) << "seed " << seed << "\n"
                                                          << print(as_in_text(*run));
  }
  EXPECT_GT(clean_count, count / 40);
}

TEST_F(VulkanQueues, LeaveWhatTheReferenceLeavesOnCleanLaunches) {
  VulkanBackend backend({.validates = true});
  const int count = program_count(400);
  int clean_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    const std::optional<Program> run = clean_launch_program(static_cast<uint64_t>(seed));
    if (!run) continue;
    ++clean_count;
    ASSERT_EQ(first_differing_trial(backend, *run, 3), 0) << "seed " << seed << "\n"
                                                          << print(as_in_text(*run));
  }
  EXPECT_GE(clean_count, count / 60);
}

TEST_F(VulkanQueues, RefuseADeadlock) {
  const Program program = corpus_program(INTERLOCK_SOURCE_DIR "/corpus/queues/crossing-waits.ilk");
  const auto image =
      vulkan().run(program, reference_order_schedule(program), ExecutionMode::kOverlap);
  ASSERT_FALSE(image.has_value());
  EXPECT_EQ(image.error().kind, ErrorKind::kRefused);
  EXPECT_THAT(image.error().message, HasSubstr("deadlocks"));
}

}  // namespace
}  // namespace interlock::vulkan_queues_test
