// The devices of tests that hold on each of them. Every test program that has such tests lists its
// own devices, and compiles the tests for them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "backends/interface/backend.h"
#include "encoder/program/program.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

struct TestDevice {
  std::string name;
  std::function<Backend&()> backend;  // For witness mode. The same at each call.
  // Runs in overlap mode, once in each way that the device has; an error fails the test.
  std::function<std::vector<MemoryImage>(const Program&)> images_by_overlap = nullptr;
  bool is_slow = false;  // Each thread is a fiber of the host.
};

std::ostream& operator<<(std::ostream& out, const TestDevice& device);

// Those of this test program.
std::vector<TestDevice> test_devices();

// Tests that need a device skip without it, and say why.
class OnDevices : public testing::TestWithParam<TestDevice> {
 protected:
  void SetUp() override;

  Backend& device() const { return GetParam().backend(); }

  // Where it does, f32 kernels have the bits of the CPU; mix has them everywhere.
  bool rounds_correctly() const { return device().capabilities().rounds_correctly; }

  // Run in witness mode; an error fails the test.
  MemoryImage image_on_device(const Program& program, const Schedule& schedule) const;
  MemoryImage image_on_device(const Program& program) const;  // In issue order.

  void expect_the_bits_of_the_cpu(const Program& program, const Schedule& schedule) const;
};

std::string device_name_of(const testing::TestParamInfo<TestDevice>& info);

// Instantiates the suite for all devices of the test program.
#define INTERLOCK_ON_DEVICES(suite) \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(test_devices()), device_name_of)

}  // namespace interlock
