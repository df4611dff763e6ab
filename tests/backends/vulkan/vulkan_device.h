// The Vulkan device of the tests: always under validation, so that a run with any complaint of the
// layers is an error.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "backends/vulkan/vulkan_backend.h"

namespace interlock {

// One per process and kind of overlap. Each test is a process of its own under ctest.
VulkanBackend& vulkan(OverlapKind overlap = OverlapKind::kOneQueue);

// A device that divides and takes roots as IEEE 754 says: then f32 kernels have the bits of the
// CPU.
bool has_correct_rounding();

// Runs in witness mode; an error fails the test.
MemoryImage image_on_vulkan(const Program& program, const Schedule& schedule);

// Tests that need a device skip without one, and say why.
class OnVulkan : public testing::Test {
 protected:
  void SetUp() override {
    const Availability availability = vulkan().availability();
    if (!availability.is_available) GTEST_SKIP() << "no Vulkan: " << availability.reason;
  }
};

}  // namespace interlock
