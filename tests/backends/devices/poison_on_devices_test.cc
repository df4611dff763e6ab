// Poison on every device: the bytes of the CPU, in every schedule of witness mode and every way of
// overlap mode.
#include <gtest/gtest.h>

#include <vector>

#include "encoder/text/printer.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/strategy_random.h"
#include "tests/backends/devices/test_device.h"
#include "tests/backends/ended_values.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/program_count.h"

namespace interlock::poison_on_devices_test {
namespace {

using PoisonOnDevices = OnDevices;
INTERLOCK_ON_DEVICES(PoisonOnDevices);

TEST_P(PoisonOnDevices, IsThatOfTheCpuInWitnessMode) {
  for (const Program& program : programs_of_ended_values()) {
    expect_the_bits_of_the_cpu(program, reference_order_schedule(program));
  }
  SeededChoice choice(1);
  for (int i = 0; i < program_count(100); ++i) {
    const Program program = random_program_of_ended_values(choice);
    expect_the_bits_of_the_cpu(program, random_schedule(program, HappensBefore(program), choice));
  }
}

// Poison waits for the readers before it, which the program need not order.
TEST_P(PoisonOnDevices, IsThatOfTheCpuInOverlapMode) {
  if (GetParam().images_by_overlap == nullptr) GTEST_SKIP() << GetParam() << " overlaps nothing";
  std::vector<Program> programs = programs_of_ended_values();
  SeededChoice choice(3);
  for (int i = 0; i < program_count(30); ++i) {
    programs.push_back(in_order(random_program_of_ended_values(choice)));
  }
  for (const Program& program : programs) {
    const MemoryImage right = image_after(program, reference_order_schedule(program));
    const std::vector<MemoryImage> images = GetParam().images_by_overlap(program);
    EXPECT_FALSE(images.empty());
    for (size_t i = 0; i < images.size(); ++i) {
      EXPECT_TRUE(images[i] == right) << "in way " << i << "\n" << print(program);
    }
  }
}

}  // namespace
}  // namespace interlock::poison_on_devices_test
