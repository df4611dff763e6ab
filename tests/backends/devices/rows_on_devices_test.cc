// Copies and fills of rows have the bytes of the CPU on every device, at once and late, and with
// the sync of the program on its queue.
#include <gtest/gtest.h>

#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/backends/devices/test_device.h"
#include "tests/backends/dispatch_steps.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/row_copies.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::rows_on_devices_test {
namespace {

class RowsOnDevices : public OnDevices {};

INTERLOCK_ON_DEVICES(RowsOnDevices);

TEST_P(RowsOnDevices, MoveTheBytesThatTheirDefinitionSays) {
  SeededChoice choice(1);
  for (int i = 0; i < program_count(60, 4); ++i) {
    const RowCopyCase c = random_row_copy(choice);
    const Program program = program_with_queues(c.text);
    const HappensBefore order(program);
    for (const Schedule& schedule :
         {reference_order_schedule(program), lazy_schedule(program, order)}) {
      const MemoryImage image = image_on_device(program, schedule);
      ASSERT_EQ(image.memories[0], c.m) << c.text;
      ASSERT_EQ(image.memories[1], c.out) << c.text;
    }
    if (GetParam().images_by_overlap == nullptr) continue;
    for (const MemoryImage& image : GetParam().images_by_overlap(program)) {
      ASSERT_EQ(image.memories[0], c.m) << c.text;
      ASSERT_EQ(image.memories[1], c.out) << c.text;
    }
  }
}

}  // namespace
}  // namespace interlock::rows_on_devices_test
