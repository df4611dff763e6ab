#include "tests/capture/layer/layer_run.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace interlock {

ConvertedLog log_of(const std::string& name, const std::function<void()>& application) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("interlock_layer_" + name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const pid_t child = fork();
  if (child == 0) {
    setenv("INTERLOCK_CAPTURE_DIR", folder.c_str(), 1);
    unsetenv("INTERLOCK_CAPTURE");
    unsetenv("INTERLOCK_CAPTURE_OPTIONS");
    unsetenv("INTERLOCK_CAPTURE_EXACT");
    application();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  std::ostringstream bytes;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
  }
  ConvertedLog log = converted(bytes.str());
  EXPECT_EQ(log.error, "");
  return log;
}

VkSemaphore create_semaphore(const StandInDriver& driver) {
  VkSemaphoreCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  driver.call<PFN_vkCreateSemaphore>("vkCreateSemaphore")(driver.device(), &info, nullptr,
                                                          &semaphore);
  return semaphore;
}

VkFence create_fence(const StandInDriver& driver) {
  VkFenceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  VkFence fence = VK_NULL_HANDLE;
  driver.call<PFN_vkCreateFence>("vkCreateFence")(driver.device(), &info, nullptr, &fence);
  return fence;
}

}  // namespace interlock
