// Poison on CUDA: the bytes of the CPU, in every schedule of witness mode and every lowering of
// overlap mode.
#include <gtest/gtest.h>

#include "simulator/order/happens_before.h"
#include "simulator/schedules/strategy_random.h"
#include "tests/backends/cuda/cuda_device.h"
#include "tests/backends/ended_values.h"
#include "tests/program_count.h"

namespace interlock::cuda_poison_test {
namespace {

using CudaPoison = OnCuda;
INTERLOCK_ON_CUDA(CudaPoison);

TEST_P(CudaPoison, IsThatOfTheCpuInWitnessMode) {
  for (const Program& program : programs_of_ended_values()) {
    const Schedule issue = issue_order_schedule(program);
    EXPECT_TRUE(image_on_cuda(program, issue) == image_on_cpu(program, issue)) << print(program);
  }
  SeededChoice choice(2);
  for (int i = 0; i < program_count(100); ++i) {
    const Program program = random_program_of_ended_values(choice);
    const Schedule schedule = random_schedule(program, HappensBefore(program), choice);
    ASSERT_TRUE(image_on_cuda(program, schedule) == image_on_cpu(program, schedule))
        << print(program);
  }
}

// Poison waits for the readers before it, which the program need not order.
TEST_P(CudaPoison, IsThatOfTheCpuInOverlapMode) {
  std::vector<Program> programs = programs_of_ended_values();
  SeededChoice choice(3);
  for (int i = 0; i < program_count(30); ++i) {
    programs.push_back(in_order(random_program_of_ended_values(choice)));
  }
  for (const Program& program : programs) {
    const MemoryImage right = image_on_cpu(program, issue_order_schedule(program));
    for (const CudaLowering lowering : kCudaLowerings) {
      for (const uint64_t seed : {1u, 2u}) {
        EXPECT_TRUE(image_by_overlap(program, {.lowering = lowering, .seed = seed}) == right)
            << static_cast<int>(lowering) << "\n"
            << print(program);
      }
    }
  }
}

}  // namespace
}  // namespace interlock::cuda_poison_test
