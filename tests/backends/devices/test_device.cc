#include "tests/backends/devices/test_device.h"

#include <utility>

#include "encoder/text/printer.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock {

std::ostream& operator<<(std::ostream& out, const TestDevice& device) { return out << device.name; }

std::string device_name_of(const testing::TestParamInfo<TestDevice>& info) {
  return info.param.name;
}

void OnDevices::SetUp() {
  const Availability availability = device().availability();
  if (!availability.is_available) GTEST_SKIP() << GetParam() << ": " << availability.reason;
}

MemoryImage OnDevices::image_on_device(const Program& program, const Schedule& schedule) const {
  auto image = device().run(program, schedule, ExecutionMode::kWitness);
  if (!image) {
    ADD_FAILURE() << image.error().message << "\n" << print(program);
    return initial_image(program, kExecutionLimitBytes).value();
  }
  return std::move(*image);
}

MemoryImage OnDevices::image_on_device(const Program& program) const {
  return image_on_device(program, reference_order_schedule(program));
}

void OnDevices::expect_the_bits_of_the_cpu(const Program& program, const Schedule& schedule) const {
  EXPECT_TRUE(image_on_device(program, schedule) == image_after(program, schedule))
      << print(program);
}

}  // namespace interlock
