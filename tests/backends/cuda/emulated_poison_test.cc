// Poison on the emulated CUDA device: the bytes of the CPU, whatever the schedule.
#include <gtest/gtest.h>

#include "simulator/order/happens_before.h"
#include "simulator/schedules/strategy_random.h"
#include "tests/backends/cuda/emulated_cuda.h"
#include "tests/backends/ended_values.h"
#include "tests/program_count.h"

namespace interlock::emulated_poison_test {
namespace {

TEST(EmulatedPoison, IsThatOfTheCpu) {
  for (const Program& program : programs_of_ended_values()) {
    const Schedule issue = issue_order_schedule(program);
    EXPECT_TRUE(image_on_emulated_cuda(program, issue) == image_on_cpu(program, issue))
        << print(program);
  }
  SeededChoice choice(1);
  for (int i = 0; i < program_count(100); ++i) {
    const Program program = random_program_of_ended_values(choice);
    const Schedule schedule = random_schedule(program, HappensBefore(program), choice);
    ASSERT_TRUE(image_on_emulated_cuda(program, schedule) == image_on_cpu(program, schedule))
        << print(program);
  }
}

}  // namespace
}  // namespace interlock::emulated_poison_test
