// Tests that need a Vulkan device skip without one. So where lavapipe is installed, which runs on
// any CPU, there must be one: or all of them would skip unnoticed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "tests/backends/vulkan/vulkan_device.h"

namespace interlock::vulkan_availability_test {
namespace {

namespace fs = std::filesystem;

// As Debian and Fedora name its manifest, e.g. lvp_icd.x86_64.json. Who names drivers in the
// environment may have left it out.
bool has_lavapipe() {
  for (const char* variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
    if (std::getenv(variable) != nullptr) return false;
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/share/vulkan/icd.d", error)) {
    if (entry.path().filename().string().starts_with("lvp_icd")) return true;
  }
  return false;
}

TEST(VulkanAvailability, IsThereWhereLavapipeIs) {
  if (!has_lavapipe()) GTEST_SKIP() << "lavapipe is not installed.";
  const Availability availability = vulkan().availability();
  EXPECT_TRUE(availability.is_available) << availability.reason;
}

}  // namespace
}  // namespace interlock::vulkan_availability_test
