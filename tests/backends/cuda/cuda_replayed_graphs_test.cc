// Captures and replays on CUDA: in overlap mode a capture is one graph, instantiated once, and each
// replay of it one launch; the results are those of the CPU, which knows no graphs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/programs.h"
#include "simulator/report/check.h"
#include "tests/backends/corpus_bug.h"
#include "tests/backends/cuda/cuda_device.h"
#include "tests/backends/ended_values.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::cuda_replayed_graphs_test {
namespace {

using testing::ElementsAre;

using CudaReplayedGraphs = OnCuda;
INTERLOCK_ON_CUDA(CudaReplayedGraphs);

MemoryImage right_image_of(const Program& program) {
  return image_after(program, reference_order_schedule(program));
}

// Two operands in mixes of one launch and of two, a kernel of the table, and work around.
const char* const kThreeReplays = R"(
memory big 70000
memory m 64
tensor x f32[16] = random(1)
tensor y f32[16]
before: dispatch K updates big
barrier
capture step
large: dispatch Large updates big
table: dispatch silu reads x writes y
barrier
small: dispatch Small reads big[0:64] y updates m
end
replay step
barrier
between: dispatch Between reads m updates x
barrier
replay step
barrier
replay step
barrier
after: dispatch After reads big updates m
)";

std::vector<float> gradient_of(const Program& program, const MemoryImage& image) {
  const std::vector<uint8_t> bytes = bytes_of(program, image, "grad");
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Overwrites the gradient where PyTorch took the static buffer over; the twin does not.
TEST_P(CudaReplayedGraphs, HaveTheGradientsOfPyTorch181723) {
  const Program broken = corpus_bug("pytorch-181723");
  const Program fixed = corpus_bug("pytorch-181723.fixed");
  for (const CudaLowering lowering : kCudaLowerings) {
    EXPECT_THAT(gradient_of(broken, image_by_overlap(broken, {.lowering = lowering})),
                ElementsAre(22, 44, 66, 88));
    EXPECT_THAT(gradient_of(fixed, image_by_overlap(fixed, {.lowering = lowering})),
                ElementsAre(14, 27, 40, 53));
  }
}

TEST_P(CudaReplayedGraphs, HaveTheBitsOfTheCpuWhereMixesTellReplaysApart) {
  const Program program = program_of(kThreeReplays);
  const MemoryImage right = right_image_of(program);
  for (const CudaLowering lowering : kCudaLowerings) {
    auto recording = cuda().record(program, {.lowering = lowering});
    ASSERT_TRUE(recording.has_value()) << recording.error().message;
    const MemoryImage inputs = initial_image(program, kExecutionLimitBytes).value();
    // The second time the first replay comes after the last one.
    EXPECT_TRUE((*recording)->execute(inputs).value() == right) << static_cast<int>(lowering);
    EXPECT_TRUE((*recording)->execute(inputs).value() == right) << static_cast<int>(lowering);
  }
}

// A random draft, one stretch of which is recorded, and replayed there and later on.
Program random_program_with_replays(Choice& choice) {
  RandomProgramOptions options;
  options.dispatch_count_max = 8;
  options.memory_bytes = 64;
  options.range_bytes_max = 12;
  options.barrier_percent = 60;
  options.has_execution_barriers = false;
  ProgramDraft draft = random_draft(choice, options);
  ProgramDraft captured;
  size_t left_in_body = 0;
  bool is_recorded = false;
  for (ItemDraft& item : draft.items) {
    const bool is_statement =
        std::holds_alternative<DispatchDraft>(item) || std::holds_alternative<BarrierDraft>(item);
    if (is_statement && !is_recorded && choice.below(3) == 0) {
      is_recorded = true;
      left_in_body = 1 + choice.below(5);
      captured.items.emplace_back(CaptureDraft{"c"});
    }
    const bool ends = left_in_body > 0 && (!is_statement || left_in_body == 1);
    if (ends && !is_statement) captured.items.emplace_back(EndDraft{});
    captured.items.push_back(std::move(item));
    if (ends && is_statement) captured.items.emplace_back(EndDraft{});
    if (left_in_body > 0) --left_in_body;
    if (ends) left_in_body = 0;
    if (!is_recorded || left_in_body > 0 || !is_statement) continue;
    while (choice.below(2) == 0) {
      captured.items.emplace_back(ReplayDraft{"c"});
      if (choice.below(3) > 0) captured.items.emplace_back(BarrierDraft{});
    }
  }
  if (left_in_body > 0) captured.items.emplace_back(EndDraft{});
  return value_or_fail(build(captured));
}

TEST_P(CudaReplayedGraphs, OfCleanProgramsHaveTheBitsOfTheCpu) {
  int replay_count = 0;
  int clean_count = 0;
  for (uint64_t seed = 1; seed <= program_count(600); ++seed) {
    SeededChoice choice(seed);
    const Program program = random_program_with_replays(choice);
    if (program.replays.empty()) continue;
    if (!check(program).findings.empty()) continue;
    ++clean_count;
    replay_count += static_cast<int>(program.replays.size());
    const MemoryImage right = image_after(program, reference_order_schedule(program));
    for (const CudaLowering lowering : kCudaLowerings) {
      const auto stream_count = static_cast<uint32_t>(1 + seed % 5);
      const uint64_t delay_ns = seed % 2 == 0 ? 0 : 1000;
      EXPECT_TRUE(image_by_overlap(program, {.lowering = lowering,
                                             .stream_count = stream_count,
                                             .seed = seed,
                                             .delay_ns = delay_ns}) == right)
          << static_cast<int>(lowering) << "\n"
          << print(program);
    }
  }
  EXPECT_GE(replay_count, static_cast<int>(program_count(200)));
  EXPECT_GE(clean_count, static_cast<int>(program_count(60)));
}

// The second replay reads what was freed in between, and is issued; the others are launches.
const char* const kReplayOfEndedBytes = R"(
memory m 64
tensor x f32[4] at m+0 = random(1)
tensor y f32[4]
tensor z f32[4] = zeros
capture step
run: dispatch silu reads x writes y
barrier
sum: dispatch accumulate reads y updates z
end
replay step
barrier
free x
replay step
barrier
write: dispatch fill writes x value=0
barrier
replay step
)";

TEST_P(CudaReplayedGraphs, ReadPoisonAsOnTheCpu) {
  const Program program = program_of(kReplayOfEndedBytes);
  const MemoryImage right = right_image_of(program);
  for (const CudaLowering lowering : kCudaLowerings) {
    EXPECT_TRUE(image_by_overlap(program, {.lowering = lowering}) == right)
        << static_cast<int>(lowering);
  }
}

TEST(CudaReplayedGraph, IsInstantiatedOnceAndLaunchedPerReplay) {
  const Program program = program_of(kThreeReplays);
  for (const CudaLowering lowering : {CudaLowering::kOneStream, CudaLowering::kStreams}) {
    HostCudaRuntime runtime;
    CudaBackend backend({.overlap = {.lowering = lowering}, .runtime = &runtime});
    auto recording = backend.record(program, {.lowering = lowering});
    ASSERT_TRUE(recording.has_value()) << recording.error().message;
    EXPECT_EQ(runtime.counts().instantiations, 1);
    const MemoryImage inputs = initial_image(program, kExecutionLimitBytes).value();
    for (uint64_t execution = 1; execution <= 3; ++execution) {
      ASSERT_TRUE((*recording)->execute(inputs).has_value());
      EXPECT_EQ(runtime.counts().instantiations, 1);
      EXPECT_EQ(runtime.counts().graph_launches, 3 * execution);
      // Of the mixes: one of two launches, and one of one. The kernel of the table is frozen.
      EXPECT_EQ(runtime.counts().updates, 3 * 3 * execution);
      EXPECT_EQ(runtime.counts().launches, 5 * execution);  // Between, and two of two.
    }
  }
}

TEST(CudaReplayedGraph, StandsBetweenGraphsWhereTheProgramIsOne) {
  const Program program = program_of(kThreeReplays);
  for (const CudaLowering lowering :
       {CudaLowering::kGraph, CudaLowering::kCapturedGraph, CudaLowering::kConflictGraph}) {
    HostCudaRuntime runtime;
    CudaBackend backend({.overlap = {.lowering = lowering}, .runtime = &runtime});
    ASSERT_TRUE(backend.run(program, reference_order_schedule(program), ExecutionMode::kOverlap)
                    .has_value());
    EXPECT_EQ(runtime.counts().instantiations, 4);  // before, step, between, after.
    EXPECT_EQ(runtime.counts().graph_launches, 6);
  }
}

TEST(CudaReplayedGraph, IsIssuedInsteadWhereItReadsPoison) {
  HostCudaRuntime runtime;
  CudaBackend backend({.overlap = {.lowering = CudaLowering::kStreams}, .runtime = &runtime});
  const Program program = program_of(kReplayOfEndedBytes);
  ASSERT_TRUE(
      backend.run(program, reference_order_schedule(program), ExecutionMode::kOverlap).has_value());
  EXPECT_EQ(runtime.counts().instantiations, 1);
  EXPECT_EQ(runtime.counts().graph_launches, 2);
  EXPECT_EQ(runtime.counts().updates, 0);
  EXPECT_EQ(runtime.counts().launches, 4);  // Poison, run@2, sum@2, write.
}

// A replay without a barrier before it overlaps with what is in front of it: the launch waits for
// no more than its dispatches do. Odds of 2^-50 that no seed shows it.
TEST(CudaReplayedGraph, OverlapsWithWhatItsDispatchesDoNotWaitFor) {
  const Program program = program_of(R"(
memory m 64
memory n 64
capture c
run: dispatch K reads m updates n
end
write: dispatch L writes m
replay c
)");
  const MemoryImage right = right_image_of(program);
  int count = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    HostCudaRuntime runtime({.seed = seed});
    CudaBackend backend({.overlap = {.lowering = CudaLowering::kStreams}, .runtime = &runtime});
    const auto image =
        backend.run(program, reference_order_schedule(program), ExecutionMode::kOverlap);
    count += image.value() != right;
  }
  EXPECT_GE(count, 1);
}

TEST(CudaReplayedGraph, CleansUpAfterAnyCallThatFails) {
  const Program program = program_of(kThreeReplays);
  const Schedule issue = reference_order_schedule(program);
  const MemoryImage right = right_image_of(program);
  for (const CudaLowering lowering : kCudaLowerings) {
    for (const CudaStatus status : {CudaStatus::kMemoryAllocation, CudaStatus::kIllegalAddress}) {
      for (uint64_t call = 0;; call += is_slow_build() ? 9 : 1) {
        SCOPED_TRACE(fmt::format("{} call {}", static_cast<int>(lowering), call));
        HostCudaRuntime runtime({.seed = call});
        {
          CudaBackend backend({.overlap = {.lowering = lowering}, .runtime = &runtime});
          ASSERT_TRUE(backend.availability().is_available);
          runtime.fail_call(call, status);
          const auto image = backend.run(program, issue, ExecutionMode::kOverlap);
          if (status == CudaStatus::kIllegalAddress) {
            EXPECT_EQ(backend.availability().is_available, runtime.failure_count() == 0);
            EXPECT_LE(runtime.failure_count(), 1);  // Nothing is called any more.
          } else if (!image) {
            const auto again = backend.run(program, issue, ExecutionMode::kOverlap);
            ASSERT_TRUE(again.has_value()) << again.error().message;
            EXPECT_TRUE(*again == right);
          }
          if (image) {
            EXPECT_TRUE(*image == right);
          }
        }
        if (runtime.failure_count() == 0) {
          EXPECT_GE(call, 25);
          EXPECT_EQ(runtime.live_count(), 0);
          break;
        }
        // The one thing whose release failed may be left.
        if (status == CudaStatus::kMemoryAllocation) {
          EXPECT_LE(runtime.live_count(), 1);
        }
      }
    }
  }
}

}  // namespace
}  // namespace interlock::cuda_replayed_graphs_test
