// Real bugs on every device: the recorded witness of MLX #3630 diverges there every time, and the
// repaired twin never does; the gradients of two bugs of PyTorch are those of the reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/backends/corpus_bug.h"
#include "tests/backends/devices/test_device.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::replay_on_devices_test {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

class ReplayOnDevices : public OnDevices {
 protected:
  // The values of `tensor` after corpus/bugs/`bug`.ilk in issue order.
  std::vector<float> values_after(const std::string& bug, const char* tensor) const {
    const Program program = corpus_bug(bug);
    return values_of(program, image_on_device(program), tensor);
  }
};

INTERLOCK_ON_DEVICES(ReplayOnDevices);

Schedule schedule_by(const Program& program, const std::vector<Displacement>& displacements) {
  auto schedule = schedule_of(program, HappensBefore(program), displacements);
  INTERLOCK_CHECK(schedule.has_value());
  return std::move(schedule).value();
}

TEST_P(ReplayOnDevices, OfTheMlxBugDivergesInGbEveryTime) {
  const Program program = corpus_bug("mlx-3630");
  const MemoryImage right = image_on_device(program);
  const Schedule witness = schedule_by(program, program.witness);
  for (int i = 0; i < 20; ++i) {
    const MemoryImage image = image_on_device(program, witness);
    EXPECT_NE(bytes_of(program, image, "gb"), bytes_of(program, right, "gb"));
    EXPECT_EQ(bytes_of(program, image, "gx"), bytes_of(program, right, "gx"));
    EXPECT_EQ(bytes_of(program, image, "gw"), bytes_of(program, right, "gw"));
    if (rounds_correctly()) {
      EXPECT_TRUE(image == image_after(program, witness));
    }
  }
}

TEST_P(ReplayOnDevices, OfTheRepairedTwinNeverDiverges) {
  const Program program = corpus_bug("mlx-3630.fixed");
  const HappensBefore order(program);
  const MemoryImage right = image_on_device(program);
  EXPECT_FALSE(schedule_of(program, order, corpus_bug("mlx-3630").witness).has_value());
  EXPECT_TRUE(image_on_device(program, epoch_reversed_schedule(program, order)) == right);
  EXPECT_TRUE(image_on_device(program, lazy_schedule(program, order)) == right);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SeededChoice choice(seed);
    EXPECT_TRUE(image_on_device(program, random_schedule(program, order, choice)) == right);
  }
}

// Some rows of vjp, then the reduction, then the other rows: gb mixes old and new rows, and gx,
// which no one else writes, is right.
TEST_P(ReplayOnDevices, OfAnInterleavingHalfWayIsWrongInGbAndRightInGx) {
  const Program program = corpus_bug("mlx-3630");
  const MemoryImage right = image_on_device(program);
  const MemoryImage all_first = image_on_device(program, schedule_by(program, program.witness));
  for (const uint32_t count : {1u, 8u, 15u}) {
    Displacement part = program.witness[0];
    part.has_slices = true;
    part.slice_count = count;
    const MemoryImage image = image_on_device(program, schedule_by(program, {part}));
    EXPECT_NE(bytes_of(program, image, "gb"), bytes_of(program, right, "gb")) << count;
    EXPECT_NE(bytes_of(program, image, "gb"), bytes_of(program, all_first, "gb")) << count;
    EXPECT_EQ(bytes_of(program, image, "gx"), bytes_of(program, right, "gx")) << count;
  }
}

TEST_P(ReplayOnDevices, OfAGraphOverwritesTheGradientThatWasTakenOver) {
  EXPECT_THAT(values_after("pytorch-181723", "grad"), ElementsAre(22, 44, 66, 88));
  EXPECT_THAT(values_after("pytorch-181723.fixed", "grad"), ElementsAre(14, 27, 40, 53));
}

TEST_P(ReplayOnDevices, OfPytorch180952HasTheNumbersOfTheReport) {
  constexpr float kReported = 1e-6f;
  EXPECT_THAT(values_after("pytorch-180952", "d_w"),
              ElementsAre(FloatNear(0.39f, kReported), FloatNear(2.15f, kReported),
                          FloatNear(-0.71f, kReported), FloatNear(-1.83f, kReported)));
  EXPECT_THAT(values_after("pytorch-180952.fixed", "d_w"),
              ElementsAre(FloatNear(0.17f, kReported), FloatNear(1.05f, kReported),
                          FloatNear(-0.57f, kReported), FloatNear(-1.13f, kReported)));
}

}  // namespace
}  // namespace interlock::replay_on_devices_test
