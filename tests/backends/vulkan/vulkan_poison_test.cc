// Poison on Vulkan, under validation: the bytes of the CPU, in every schedule of witness mode and
// both kinds of overlap.
#include <gtest/gtest.h>

#include "simulator/order/happens_before.h"
#include "simulator/schedules/strategy_random.h"
#include "tests/backends/ended_values.h"
#include "tests/backends/vulkan/vulkan_device.h"
#include "tests/program_count.h"

namespace interlock::vulkan_poison_test {
namespace {

using VulkanPoison = OnVulkan;

TEST_F(VulkanPoison, IsThatOfTheCpuInWitnessMode) {
  for (const Program& program : programs_of_ended_values()) {
    const Schedule issue = issue_order_schedule(program);
    EXPECT_TRUE(image_on_vulkan(program, issue) == image_on_cpu(program, issue)) << print(program);
  }
  SeededChoice choice(4);
  for (int i = 0; i < program_count(60); ++i) {
    const Program program = random_program_of_ended_values(choice);
    const Schedule schedule = random_schedule(program, HappensBefore(program), choice);
    ASSERT_TRUE(image_on_vulkan(program, schedule) == image_on_cpu(program, schedule))
        << print(program);
  }
}

// Poison waits for the readers before it, which the program need not order.
TEST_F(VulkanPoison, IsThatOfTheCpuInOverlapMode) {
  std::vector<Program> programs = programs_of_ended_values();
  SeededChoice choice(5);
  for (int i = 0; i < program_count(20); ++i) {
    programs.push_back(in_order(random_program_of_ended_values(choice)));
  }
  for (const OverlapKind overlap : {OverlapKind::kOneQueue, OverlapKind::kSeveralQueues}) {
    for (const Program& program : programs) {
      const Schedule issue = issue_order_schedule(program);
      const auto image = vulkan(overlap).run(program, issue, ExecutionMode::kOverlap);
      ASSERT_TRUE(image.has_value()) << image.error().message;
      EXPECT_TRUE(*image == image_on_cpu(program, issue)) << print(program);
    }
  }
  EXPECT_TRUE(vulkan(OverlapKind::kOneQueue).take_messages().empty());
}

}  // namespace
}  // namespace interlock::vulkan_poison_test
