// Whole programs on the emulated CUDA device: fuzzed ones agree with the CPU bit for bit whatever
// the schedule, and the witness of MLX #3630 diverges as it does there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/reference/reference.h"
#include "backends/registry.h"
#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/generator.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/backends/corpus_bug.h"
#include "tests/backends/cuda/emulated_cuda.h"
#include "tests/program_count.h"

namespace interlock::emulated_programs_test {
namespace {

using testing::HasSubstr;

// Random legal schedules have pieces and late commits; without barriers in the program all of its
// hazards show.
TEST(EmulatedCuda, AgreesWithTheCpuOnFuzzedPrograms) {
  EmulatedCudaBackend backend({.block_thread_count = 32});
  uint64_t differing_count = 0;
  for (uint64_t seed = 1; seed <= static_cast<uint64_t>(program_count(400)); ++seed) {
    SeededChoice choice(seed);
    const Program program =
        build(generate(choice, {.max_dispatches = 16, .has_barriers = seed % 2 == 0})).value();
    const HappensBefore order(program);
    const Schedule issue = reference_order_schedule(program);
    const MemoryImage reference = image_after(program, issue);
    ASSERT_TRUE(image_on(backend, program, issue) == reference) << print(program);
    std::vector<Schedule> schedules = {random_schedule(program, order, choice)};
    if (!order.has_scopes()) schedules.push_back(lazy_schedule(program, order));
    for (const Schedule& schedule : schedules) {
      const MemoryImage image = image_on(backend, program, schedule);
      ASSERT_TRUE(image == image_after(program, schedule)) << print(program);
      differing_count += image != reference;
    }
  }
  EXPECT_GT(differing_count, 0u);  // Some schedules show hazards.
}

TEST(EmulatedCuda, DivergesInGbUnderTheWitnessOfTheMlxBug) {
  const Program program = corpus_bug("mlx-3630");
  const Schedule witness = schedule_of(program, HappensBefore(program), program.witness).value();
  const MemoryImage right = image_on_emulated_cuda(program, reference_order_schedule(program));
  for (const uint64_t seed : {1u, 2u, 3u}) {
    const MemoryImage image = image_on_emulated_cuda(program, witness, {.seed = seed});
    EXPECT_NE(bytes_of(program, image, "gb"), bytes_of(program, right, "gb"));
    EXPECT_EQ(bytes_of(program, image, "gx"), bytes_of(program, right, "gx"));
    EXPECT_TRUE(image == image_after(program, witness));
  }
}

TEST(EmulatedCuda, NeverDivergesOnTheRepairedTwin) {
  const Program program = corpus_bug("mlx-3630.fixed");
  const HappensBefore order(program);
  const MemoryImage right = image_on_emulated_cuda(program, reference_order_schedule(program));
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SeededChoice choice(seed);
    EXPECT_TRUE(image_on_emulated_cuda(program, random_schedule(program, order, choice),
                                       {.seed = seed}) == right);
  }
}

TEST(EmulatedCuda, IsABackendThatUsersFind) {
  Backend* const backend = find_backend("cuda-emulated");
  ASSERT_NE(backend, nullptr);
  EXPECT_TRUE(backend->availability().is_available);
  EXPECT_TRUE(backend->supports(ExecutionMode::kOverlap));
  const Program program = corpus_bug("mlx-3630");
  EXPECT_TRUE(reference_image(program, *backend).value() ==
              reference_image(program, *find_backend("cpu")).value());
}

TEST(EmulatedCuda, RefusesMoreThanItsLimits) {
  const Program program = parsed(R"(interlock 1
memory a 600
memory b 300
first: dispatch Kernel reads b updates a
second: dispatch Kernel reads a[0:300] writes b
)");
  const Schedule issue = reference_order_schedule(program);
  EmulatedCudaBackend small({.limit_bytes = 899});
  EXPECT_THAT(small.run(program, issue, ExecutionMode::kWitness).error().message,
              HasSubstr("more than 899 bytes, the execution limit"));
  EmulatedCudaBackend backend({.limit_bytes = 900});
  EXPECT_TRUE(backend.run(program, issue, ExecutionMode::kWitness).has_value());
  EXPECT_THAT(small.run(program, issue, ExecutionMode::kOverlap).error().message,
              HasSubstr("more than 899 bytes, the execution limit"));
}

TEST(EmulatedCuda, RefusesMoreLateWritesThanItsLimit) {
  const Program program = parsed(R"(interlock 1
memory a 600
first: dispatch Kernel updates a
second: dispatch Kernel updates a
)");
  const Schedule late{{whole_step(program, DispatchId{0}, StepKind::kRunLate),
                       whole_step(program, DispatchId{1}, StepKind::kRunLate),
                       whole_step(program, DispatchId{0}, StepKind::kCommit),
                       whole_step(program, DispatchId{1}, StepKind::kCommit)}};
  EmulatedCudaBackend small({.limit_bytes = 1199});
  EXPECT_THAT(small.run(program, late, ExecutionMode::kWitness).error().message,
              HasSubstr("The late writes of this schedule need more than 1199 bytes"));
  EmulatedCudaBackend backend({.limit_bytes = 1200});
  EXPECT_TRUE(backend.run(program, late, ExecutionMode::kWitness).has_value());
}

}  // namespace
}  // namespace interlock::emulated_programs_test
