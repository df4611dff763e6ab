// Programs with several queues, and with the host, step by step on every device: each observable
// hazard of the corpus shows there in numbers, with the very bytes that it leaves on the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/interface/transitions.h"
#include "encoder/text/parser.h"
#include "fuzz/judge/replay.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/displacements.h"
#include "tests/backends/devices/test_device.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/corpus_files.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_host_programs.h"

namespace interlock::queues_on_devices_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

class QueuesOnDevices : public OnDevices {};

INTERLOCK_ON_DEVICES(QueuesOnDevices);

Program run_of(const std::string& text) {
  return reference_run(parse(text, "test", every_queue()).value());
}

TEST_P(QueuesOnDevices, ShowEachObservableHazardOfTheCorpusInNumbers) {
  size_t diverging = 0;
  for (const auto& path : corpus_files({"bugs", "queues"})) {
    const Program run = reference_run(corpus_program(path));
    if (!needs_queue_order(run) || run.has_program_order) continue;
    if (transition_refusal(run)) continue;
    SCOPED_TRACE(path);
    const HappensBefore order(run);
    const MemoryImage right = image_on_device(run);
    if (rounds_correctly()) {
      EXPECT_TRUE(right == image_after(run, reference_order_schedule(run)));
    }
    for (const Finding& finding : check(run).findings) {
      if (finding.witness.empty()) continue;
      const Result<Schedule> schedule = schedule_of(run, order, finding.witness);
      ASSERT_TRUE(schedule.has_value());
      const MemoryImage wrong = image_on_device(run, *schedule);
      // What is copied there and back is equal bytes (tests/fuzz/judge/queue_replay_test.cc).
      const bool differs = outputs_differ(run, image_after(run, reference_order_schedule(run)),
                                          image_after(run, *schedule));
      EXPECT_EQ(outputs_differ(run, right, wrong), differs) << finding.headline;
      if (rounds_correctly()) {
        EXPECT_TRUE(wrong == image_after(run, *schedule)) << finding.headline;
      }
      diverging += differs;
    }
  }
  EXPECT_GT(diverging, 50u);
}

// Whole atoms go with a write of the host: what stands beside it is found before, and put back with
// the commit, whoever has written there meanwhile.
TEST_P(QueuesOnDevices, PutBackWhatStandsBesideWritesOfTheHost) {
  const int count = program_count(4000);
  int shown = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 60'000);
    const std::string text = random_host_program(choice);
    const auto program = parse(text, "test", every_queue());
    if (!program || transition_refusal(*program)) continue;
    const Program run = reference_run(*program);
    const HappensBefore order(run);
    SCOPED_TRACE(text);
    for (const Finding& finding : check(run, {.redundancy_budget = 0}).findings) {
      if (finding.witness.empty()) continue;
      const Result<Schedule> schedule = schedule_of(run, order, finding.witness);
      ASSERT_TRUE(schedule.has_value());
      const auto image = device().run(run, *schedule, ExecutionMode::kWitness);
      if (!image && image.error().kind == ErrorKind::kRefused) continue;
      ASSERT_TRUE(image.has_value()) << image.error().message;
      ASSERT_TRUE(*image == image_after(run, *schedule)) << finding.headline;
      ++shown;
    }
  }
  EXPECT_GT(shown, count / 20);
}

// Four operands at odd places, two reads of one statement, and values that end in mid word.
TEST_P(QueuesOnDevices, WriteAndReadWhatTheHostSays) {
  const Program run = run_of(R"(interlock 1
memory m 32
tensor in f32[2] at m+0
tensor bytes u8[3] at m+9
tensor out f32[2] at m+16
host writes in = values(1.5,-2)
host writes bytes = values(7,8,9)
dispatch copy reads in writes out
host idle
all: host reads bytes m[16:20]
again: host reads out
host writes out = zeros
)");
  const MemoryImage image = image_on_device(run);
  EXPECT_EQ(image.host_reads.size(), 5u);
  EXPECT_THAT(image.host_reads[2], ElementsAre(7, 8, 9, 0, 0, 0xc0, 0x3f));
  EXPECT_THAT(image.host_reads[3], SizeIs(8));
  EXPECT_THAT(std::vector<uint8_t>(image.memories[0].begin() + 16, image.memories[0].begin() + 24),
              Each(0));
  EXPECT_TRUE(image == image_after(run, reference_order_schedule(run)));
}

// `use` has read its arguments before `make` writes them, and one half of what `make` writes is
// there before the other. The bytes that wait are an atomic's, too.
TEST_P(QueuesOnDevices, FetchAndCommitSomeBytesByThemselves) {
  const Program program = parsed(R"(interlock 1
memory x 64
memory y 64
make: dispatch Make writes x[0:33] atomics x[40:56] atomic=add
use: dispatch Use reads x[1:56] updates y[0:17]
)");
  const DispatchId make(0);
  const DispatchId use(1);
  const auto whole = [&](StepKind kind, DispatchId d) { return whole_step(program, d, kind); };
  Schedule schedule;
  const auto add_bytes = [&](StepKind kind, DispatchId dispatch, MemoryId memory, ByteRange range,
                             StageAccess sort) {
    const auto first = static_cast<uint32_t>(schedule.bytes.size());
    schedule.steps.push_back({kind, dispatch, first, 1});
    schedule.bytes.push_back({memory, range, sort});
  };
  add_bytes(StepKind::kFetch, use, MemoryId(0), {3, 11}, StageAccess::kComputeRead);
  schedule.steps.push_back(whole(StepKind::kRunLate, make));
  add_bytes(StepKind::kCommit, make, MemoryId(0), {0, 21}, StageAccess::kComputeWrite);
  add_bytes(StepKind::kCommit, make, MemoryId(0), {44, 48}, StageAccess::kComputeWrite);
  schedule.steps.push_back(whole(StepKind::kRun, use));
  schedule.steps.push_back(whole(StepKind::kCommit, make));
  const MemoryImage image = image_on_device(program, schedule);
  EXPECT_TRUE(image == image_after(program, schedule));
  EXPECT_FALSE(image == image_on_device(program));
}

// What two launches leave: in each the two branches after `make` are in no order, and what `fold`
// reads of the first launch it has written over in the second.
constexpr std::string_view kTwoLaunches = R"(interlock 1
memory x 64
memory y 64
memory z 64
memory out 64
work: queue serial
copies: queue serial
first: dispatch First writes x on work
capture step
make: dispatch Make reads x writes y
fold: dispatch Fold reads y updates x after make
side: dispatch Side reads y writes z after make
end
replay step on work
replay step on work
last: dispatch Last reads x z writes y on work
signal done=1 on work
wait done=1 on copies
fetch: dispatch Fetch in copy reads y z writes out on copies
)";

TEST_P(QueuesOnDevices, LaunchWhatIsCapturedAsOneStatementOfItsQueue) {
  const Program run = run_of(std::string(kTwoLaunches));
  const HappensBefore order(run);
  ASSERT_THAT(check(run).findings, SizeIs(0));
  const MemoryImage right = image_after(run, reference_order_schedule(run));
  EXPECT_TRUE(image_on_device(run) == right);
  // The other branch first, in the second launch.
  const auto swapped = schedule_of(
      run, order, {{DispatchId(size_t{6}), DispatchId(size_t{5}), DisplacementKind::kBefore}});
  ASSERT_TRUE(swapped.has_value()) << swapped.error().message;
  EXPECT_FALSE(*swapped == reference_order_schedule(run));
  EXPECT_TRUE(image_on_device(run, *swapped) == right);
  if (GetParam().images_by_overlap == nullptr) return;
  for (const MemoryImage& image : GetParam().images_by_overlap(run)) EXPECT_TRUE(image == right);
}

}  // namespace
}  // namespace interlock::queues_on_devices_test
