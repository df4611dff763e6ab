// interlock capture on a driver that does what lavapipe does not (changed_driver.cc). Without
// lavapipe the tests say so and skip.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/command.h"

namespace interlock::capture_drivers_test {
namespace {

using testing::HasSubstr;

constexpr const char* kDriver = "libvulkan_lvp.so";

bool has_driver() {
  void* const driver = dlopen(kDriver, RTLD_LAZY | RTLD_LOCAL);
  if (driver != nullptr) dlclose(driver);
  return driver != nullptr;
}

// With these variables and options.
CommandResult capture_changed(const std::string& variables, const std::string& options,
                              const std::string& mode) {
  const std::string manifest = temporary_file(
      "changed.json",
      "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"" CHANGED_DRIVER
      "\", \"api_version\": \"1.3.230\"}}");
  return run_shell("CHANGED_DRIVER=" + std::string(kDriver) + " VK_DRIVER_FILES=" + manifest +
                   " VK_ICD_FILENAMES=" + manifest + " " + variables + " interlock capture " +
                   options + " -- " SAMPLE_APPLICATION " " + mode);
}

CommandResult capture_losing(const std::string& call, const std::string& mode) {
  return capture_changed("LOSING_CALL=" + call, "", mode);
}

TEST(CaptureOfADriver, ThatLosesItsDeviceIsNoVerdict) {
  if (!has_driver()) GTEST_SKIP() << "there is no " << kDriver << ".";
  const CommandResult whole = capture_losing("none", "barrier");
  ASSERT_EQ(whole.status, 0) << whole.out << whole.err;
  const auto expect_no_verdict = [](const std::string& call, const std::string& mode) {
    const CommandResult result = capture_losing(call, mode);
    EXPECT_EQ(result.status, 2) << call << "\n" << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("no findings")) << call;
    EXPECT_THAT(result.out, HasSubstr("No verdict: hazards may hide in what was not understood: " +
                                      call + " that returned VK_ERROR_DEVICE_LOST.\n"));
    EXPECT_THAT(result.out, testing::ContainsRegex(
                                "1 of [12] submissions? has something that was not understood."));
  };
  expect_no_verdict("vkWaitForFences", "barrier");
  expect_no_verdict("vkQueueSubmit", "barrier");
  expect_no_verdict("vkDeviceWaitIdle", "wait-idle");
}

TEST(CaptureOfADriver, WithDebugMarkersTellsThem) {
  if (!has_driver()) GTEST_SKIP() << "there is no " << kDriver << ".";
  const CommandResult result = capture_changed("", "", "markers");
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("  s1.b0.c1: below the label 'frame / vertical'\n"));
}

TEST(CaptureOfADriver, TellsOfMadeUpFamiliesWhatItTellsOfItsOwn) {
  if (!has_driver()) GTEST_SKIP() << "there is no " << kDriver << ".";
  const CommandResult own = capture_changed("", "", "family-chains");
  EXPECT_EQ(own.status, 0) << own.out << own.err;
  const CommandResult pretended = capture_changed("", "--pretend=queues", "family-chains");
  EXPECT_EQ(pretended.status, 0) << pretended.out << pretended.err;
  EXPECT_EQ(pretended.err, own.err);
}

}  // namespace
}  // namespace interlock::capture_drivers_test
