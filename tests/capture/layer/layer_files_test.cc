// Semaphores and fences that an application shares by file descriptors: which of them are the same
// the layer tells by the files, whatever their numbers are.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>

#include "tests/capture/layer/layer_run.h"

namespace interlock::layer_files_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr const char* kWaitForOthers =
    "a wait for a semaphore that was imported (who signals it is not seen)";
constexpr const char* kFenceOfOthers =
    "a fence that was imported (what it tells the host is not known)";

// An application that fills one buffer again and again, and shares what orders the fills.
class Fills {
 public:
  Fills() {
    VkBufferCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = 1024;
    VkMemoryAllocateInfo allocation = {};
    allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocation.allocationSize = 1024;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    call<PFN_vkCreateBuffer>("vkCreateBuffer")(device(), &info, nullptr, &buffer);
    call<PFN_vkAllocateMemory>("vkAllocateMemory")(device(), &allocation, nullptr, &memory);
    call<PFN_vkBindBufferMemory>("vkBindBufferMemory")(device(), buffer, memory, 0);
    VkCommandBufferBeginInfo begin = {};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    call<PFN_vkBeginCommandBuffer>("vkBeginCommandBuffer")(driver.commands(), &begin);
    call<PFN_vkCmdFillBuffer>("vkCmdFillBuffer")(driver.commands(), buffer, 0, VK_WHOLE_SIZE, 0);
  }

  template <typename Function>
  Function call(const char* name) const {
    return driver.call<Function>(name);
  }
  VkDevice device() const { return driver.device(); }

  void submit(VkSemaphore waits_for, VkSemaphore signals, VkFence fence = VK_NULL_HANDLE) const {
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkCommandBuffer commands = driver.commands();
    VkSubmitInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.waitSemaphoreCount = waits_for == VK_NULL_HANDLE ? 0 : 1;
    info.pWaitSemaphores = &waits_for;
    info.pWaitDstStageMask = &stage;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    info.signalSemaphoreCount = signals == VK_NULL_HANDLE ? 0 : 1;
    info.pSignalSemaphores = &signals;
    call<PFN_vkQueueSubmit>("vkQueueSubmit")(driver.queue(), 1, &info, fence);
  }

  int file_of(VkSemaphore semaphore, VkResult expected = VK_SUCCESS) const {
    VkSemaphoreGetFdInfoKHR info = {};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR;
    info.semaphore = semaphore;
    info.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    int file = -1;
    EXPECT_EQ(call<PFN_vkGetSemaphoreFdKHR>("vkGetSemaphoreFdKHR")(device(), &info, &file),
              expected);
    return file;
  }
  void import(VkSemaphore semaphore, int file, VkResult expected = VK_SUCCESS) const {
    VkImportSemaphoreFdInfoKHR info = {};
    info.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR;
    info.semaphore = semaphore;
    info.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    info.fd = file;
    EXPECT_EQ(call<PFN_vkImportSemaphoreFdKHR>("vkImportSemaphoreFdKHR")(device(), &info),
              expected);
  }

  int file_of(VkFence fence) const {
    VkFenceGetFdInfoKHR info = {};
    info.sType = VK_STRUCTURE_TYPE_FENCE_GET_FD_INFO_KHR;
    info.fence = fence;
    info.handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT;
    int file = -1;
    call<PFN_vkGetFenceFdKHR>("vkGetFenceFdKHR")(device(), &info, &file);
    return file;
  }
  void import(VkFence fence, int file, bool is_temporary, VkResult expected = VK_SUCCESS) const {
    VkImportFenceFdInfoKHR info = {};
    info.sType = VK_STRUCTURE_TYPE_IMPORT_FENCE_FD_INFO_KHR;
    info.fence = fence;
    info.flags = is_temporary ? VK_FENCE_IMPORT_TEMPORARY_BIT : 0;
    info.handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT;
    info.fd = file;
    EXPECT_EQ(call<PFN_vkImportFenceFdKHR>("vkImportFenceFdKHR")(device(), &info), expected);
  }
  void wait(VkFence fence) const {
    call<PFN_vkWaitForFences>("vkWaitForFences")(device(), 1, &fence, VK_TRUE, UINT64_MAX);
  }
  void reset(VkFence fence) const { call<PFN_vkResetFences>("vkResetFences")(device(), 1, &fence); }

  const StandInDriver driver;
};

// What fails is not written.
TEST(LayerFiles, OfImportsThatFailAreNotWritten) {
  const ConvertedLog log = log_of("failed_imports", [] {
    const Fills fills;
    const VkSemaphore semaphore = create_semaphore(fills.driver);
    const VkFence fence = create_fence(fills.driver);
    fills.submit(VK_NULL_HANDLE, semaphore, fence);
    for (const char* const call :
         {"vkGetSemaphoreFdKHR", "vkImportSemaphoreFdKHR", "vkImportFenceFdKHR"}) {
      StandInDriver::set_result(call, VK_ERROR_INVALID_EXTERNAL_HANDLE);
    }
    fills.file_of(semaphore, VK_ERROR_INVALID_EXTERNAL_HANDLE);
    fills.import(semaphore, 4, VK_ERROR_INVALID_EXTERNAL_HANDLE);
    fills.import(fence, 5, false, VK_ERROR_INVALID_EXTERNAL_HANDLE);
    fills.submit(semaphore, VK_NULL_HANDLE);
    fills.wait(fence);
  });
  EXPECT_THAT(log.summary.remarks, IsEmpty());
  EXPECT_THAT(log.summary.not_understood, IsEmpty());
  EXPECT_THAT(findings_of(log.text), IsEmpty());
}

// The number that an application imports is another one than it exported; and the one that it
// exported may be that of another file by then.
TEST(LayerFiles, AreKnownByWhatTheyAreAndNotByTheirNumber) {
  for (const bool is_same : {false, true}) {
    const ConvertedLog log = log_of("semaphore_files", [&] {
      const Fills fills;
      const VkSemaphore first = create_semaphore(fills.driver);
      const VkSemaphore second = create_semaphore(fills.driver);
      const int exported = fills.file_of(first);
      const int other = fills.file_of(create_semaphore(fills.driver));
      int imported = dup(exported);
      if (!is_same) imported = dup2(other, exported);
      fills.import(second, imported);
      fills.submit(VK_NULL_HANDLE, first);
      fills.submit(second, VK_NULL_HANDLE);
    });
    EXPECT_THAT(findings_of(log.text), SizeIs(is_same ? 0 : 1));
    EXPECT_THAT(log.summary.not_understood, SizeIs(is_same ? 0 : 1));
  }
}

// What it makes of descriptors that are not its own is its own affair.
TEST(LayerFiles, StayAsTheyAreWhereTheApplicationTakesTheirDescriptors) {
  const ConvertedLog log = log_of("closed_files", [] {
    const Fills fills;
    const VkSemaphore first = create_semaphore(fills.driver);
    const int exported = fills.file_of(first);
    // Of all that is open but the log, as a daemon does; then others take the numbers.
    rlimit limit = {};
    getrlimit(RLIMIT_NOFILE, &limit);
    const int begin = static_cast<int>(std::min<rlim_t>(limit.rlim_cur / 2, 1u << 19));
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    for (int file = begin; file < begin + 8; ++file) {
      if (fcntl(file, F_GETFD) < 0) continue;
      EXPECT_EQ(dup2(ends[file % 2], file), file);
    }
    for (int i = 0; i < 100; ++i) close(fills.file_of(create_semaphore(fills.driver)));
    // What the layer closes another descriptor takes: so it is looked at what they are.
    for (const int file : {begin, begin + 1}) {
      struct stat status = {};
      EXPECT_EQ(fstat(file, &status), 0);
      EXPECT_TRUE(S_ISFIFO(status.st_mode));
    }
    const VkSemaphore second = create_semaphore(fills.driver);
    fills.import(second, exported);
    fills.submit(VK_NULL_HANDLE, first);
    fills.submit(second, VK_NULL_HANDLE);
  });
  EXPECT_THAT(log.summary.not_understood, ElementsAre(Pair(kWaitForOthers, 1)));
}

// It is in nobody's way: an application has as many descriptors as without the layer.
TEST(LayerFiles, TakeFewDescriptors) {
  log_of("few_files", [] {
    const Fills fills;
    const int before = dup(0);
    for (int i = 0; i < 1000; ++i) {
      const int file = fills.file_of(create_semaphore(fills.driver));
      EXPECT_EQ(file, before + 1);
      close(file);
    }
    EXPECT_LE(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}), 80);
  });
}

TEST(LayerFiles, OfFencesLastUntilAReset) {
  for (const bool is_reset : {false, true}) {
    const ConvertedLog log = log_of("fence_files", [&] {
      const Fills fills;
      const VkFence first = create_fence(fills.driver);
      const VkFence second = create_fence(fills.driver);
      fills.import(second, fills.file_of(first), true);
      if (is_reset) fills.reset(second);
      fills.submit(VK_NULL_HANDLE, VK_NULL_HANDLE, first);
      fills.wait(second);
      fills.submit(VK_NULL_HANDLE, VK_NULL_HANDLE);
    });
    // No driver would let it wait for what nobody signals; the log is as if.
    EXPECT_THAT(findings_of(log.text), SizeIs(is_reset ? 1 : 0));
    EXPECT_THAT(log.summary.remarks,
                UnorderedElementsAre(
                    Key("fences that are exported (what others do with them is not seen)"),
                    Key("fences that are imported (what others do with them is not seen)")));
    EXPECT_THAT(log.summary.not_understood, IsEmpty());
  }
}

TEST(LayerFiles, OfOthersTellNothing) {
  const ConvertedLog log = log_of("files_of_others", [] {
    const Fills fills;
    const VkFence fence = create_fence(fills.driver);
    fills.submit(VK_NULL_HANDLE, VK_NULL_HANDLE, fence);
    fills.import(fence, dup(0), false);
    fills.wait(fence);
    fills.submit(VK_NULL_HANDLE, VK_NULL_HANDLE);
  });
  EXPECT_THAT(log.summary.not_understood, ElementsAre(Pair(kFenceOfOthers, 1)));
  EXPECT_THAT(findings_of(log.text), SizeIs(1));
}

}  // namespace
}  // namespace interlock::layer_files_test
