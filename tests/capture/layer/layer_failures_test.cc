// The layer where calls fail that lavapipe does not let fail: an application goes on as it would
// without the layer, and the log says what was lost. Each test is a process of its own, whose log
// is read when it has ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/capture/layer/layer_run.h"
#include "tests/capture/layer/stand_in_driver.h"

namespace interlock::layer_failures_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

// An application that clears the images of a swapchain, and presents them.
class Frames {
 public:
  explicit Frames(const StandInDriver& driver)
      : driver_(driver), acquired_(create_semaphore(driver)), drawn_(create_semaphore(driver)) {
    begin_swapchain();
  }

  void begin_swapchain() {
    if (swapchain_ != VK_NULL_HANDLE) {
      driver_.call<PFN_vkDestroySwapchainKHR>("vkDestroySwapchainKHR")(driver_.device(), swapchain_,
                                                                       nullptr);
    }
    VkSwapchainCreateInfoKHR info = {};
    info.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR;
    info.imageFormat = VK_FORMAT_R8G8B8A8_UNORM;
    info.imageExtent = {4, 4};
    info.imageArrayLayers = 1;
    driver_.call<PFN_vkCreateSwapchainKHR>("vkCreateSwapchainKHR")(driver_.device(), &info, nullptr,
                                                                   &swapchain_);
    uint32_t count = 1;
    driver_.call<PFN_vkGetSwapchainImagesKHR>("vkGetSwapchainImagesKHR")(
        driver_.device(), swapchain_, &count, &image_);
  }

  VkResult acquire() {
    uint32_t index = 0;
    return driver_.call<PFN_vkAcquireNextImageKHR>("vkAcquireNextImageKHR")(
        driver_.device(), swapchain_, UINT64_MAX, acquired_, VK_NULL_HANDLE, &index);
  }

  VkResult acquire_2() {
    VkAcquireNextImageInfoKHR info = {};
    info.sType = VK_STRUCTURE_TYPE_ACQUIRE_NEXT_IMAGE_INFO_KHR;
    info.swapchain = swapchain_;
    info.semaphore = acquired_;
    uint32_t index = 0;
    return driver_.call<PFN_vkAcquireNextImage2KHR>("vkAcquireNextImage2KHR")(driver_.device(),
                                                                              &info, &index);
  }

  VkResult draw() {
    VkCommandBufferBeginInfo begin = {};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    driver_.call<PFN_vkBeginCommandBuffer>("vkBeginCommandBuffer")(driver_.commands(), &begin);
    const VkClearColorValue color = {};
    const VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    driver_.call<PFN_vkCmdClearColorImage>("vkCmdClearColorImage")(
        driver_.commands(), image_, VK_IMAGE_LAYOUT_GENERAL, &color, 1, &range);
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkCommandBuffer commands = driver_.commands();
    VkSubmitInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.waitSemaphoreCount = info.commandBufferCount = info.signalSemaphoreCount = 1;
    info.pWaitSemaphores = &acquired_;
    info.pWaitDstStageMask = &stage;
    info.pCommandBuffers = &commands;
    info.pSignalSemaphores = &drawn_;
    return driver_.call<PFN_vkQueueSubmit>("vkQueueSubmit")(driver_.queue(), 1, &info,
                                                            VK_NULL_HANDLE);
  }

  VkResult present() {
    const uint32_t index = 0;
    VkPresentInfoKHR info = {};
    info.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR;
    info.waitSemaphoreCount = info.swapchainCount = 1;
    info.pWaitSemaphores = &drawn_;
    info.pSwapchains = &swapchain_;
    info.pImageIndices = &index;
    return driver_.call<PFN_vkQueuePresentKHR>("vkQueuePresentKHR")(driver_.queue(), &info);
  }

  void show() {
    EXPECT_GE(acquire(), 0);
    EXPECT_EQ(draw(), VK_SUCCESS);
    EXPECT_GE(present(), 0);
  }

 private:
  const StandInDriver& driver_;
  VkSemaphore acquired_;
  VkSemaphore drawn_;
  VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
  VkImage image_ = VK_NULL_HANDLE;
};

TEST(LayerFailures, OfNothingAreNone) {
  const ConvertedLog log = log_of("whole", [] {
    const StandInDriver driver;
    Frames frames(driver);
    frames.show();
    StandInDriver::set_result("vkQueuePresentKHR", VK_SUBOPTIMAL_KHR);
    StandInDriver::set_result("vkAcquireNextImageKHR", VK_SUBOPTIMAL_KHR);
    frames.show();
    frames.show();
  });
  EXPECT_THAT(log.summary.not_understood, IsEmpty());
  EXPECT_EQ(log.summary.submission_count, 3u);
  EXPECT_THAT(findings_of(log.text), IsEmpty());
}

// The device is lost, once, however often the application is told so.
TEST(LayerFailures, OfAPresentationThatLosesTheDeviceAreSaid) {
  const ConvertedLog log = log_of("present", [] {
    const StandInDriver driver;
    Frames frames(driver);
    frames.show();
    StandInDriver::set_result("vkQueuePresentKHR", VK_ERROR_DEVICE_LOST);
    StandInDriver::set_result("vkAcquireNextImageKHR", VK_ERROR_DEVICE_LOST);
    EXPECT_EQ(frames.acquire(), VK_ERROR_DEVICE_LOST);
    EXPECT_EQ(frames.present(), VK_ERROR_DEVICE_LOST);
    EXPECT_EQ(frames.present(), VK_ERROR_DEVICE_LOST);
  });
  EXPECT_THAT(
      log.summary.not_understood.count("vkAcquireNextImageKHR that returned VK_ERROR_DEVICE_LOST"),
      1u);
  EXPECT_THAT(
      log.summary.not_understood.count("vkQueuePresentKHR that returned VK_ERROR_DEVICE_LOST"), 0u);
  EXPECT_EQ(log.summary.unknown_submission_count, 1u);
}

TEST(LayerFailures, NameTheCallThatLosesTheDevice) {
  struct Loss {
    const char* call;
    std::function<VkResult(Frames&)> make;
  };
  const Loss losses[] = {
      {"vkQueuePresentKHR", [](Frames& frames) { return frames.present(); }},
      {"vkAcquireNextImageKHR", [](Frames& frames) { return frames.acquire(); }},
      {"vkAcquireNextImage2KHR", [](Frames& frames) { return frames.acquire_2(); }},
  };
  for (const Loss& loss : losses) {
    const ConvertedLog log = log_of(loss.call, [&] {
      const StandInDriver driver;
      Frames frames(driver);
      frames.show();
      EXPECT_EQ(frames.acquire(), VK_SUCCESS);
      EXPECT_EQ(frames.draw(), VK_SUCCESS);
      StandInDriver::set_result(loss.call, VK_ERROR_DEVICE_LOST);
      EXPECT_EQ(loss.make(frames), VK_ERROR_DEVICE_LOST);
    });
    EXPECT_THAT(
        log.summary.not_understood,
        ElementsAre(Pair(std::string(loss.call) + " that returned VK_ERROR_DEVICE_LOST", 1)));
    EXPECT_EQ(log.summary.submission_count, 2u);
    EXPECT_EQ(log.summary.unknown_submission_count, 1u);
  }
}

// A surface that is another one, or gone, is ordinary: the application makes a swapchain anew. A
// presentation that says so has taken its semaphores, and an acquisition has signalled none.
TEST(LayerFailures, OfASurfaceAreOrdinary) {
  for (const VkResult result : {VK_ERROR_OUT_OF_DATE_KHR, VK_ERROR_SURFACE_LOST_KHR}) {
    const ConvertedLog log = log_of("surface", [&] {
      const StandInDriver driver;
      Frames frames(driver);
      frames.show();
      EXPECT_EQ(frames.acquire(), VK_SUCCESS);
      EXPECT_EQ(frames.draw(), VK_SUCCESS);
      StandInDriver::set_result("vkQueuePresentKHR", result);
      EXPECT_EQ(frames.present(), result);
      StandInDriver::set_result("vkAcquireNextImageKHR", result);
      EXPECT_EQ(frames.acquire(), result);
      StandInDriver::set_result("vkQueuePresentKHR", VK_SUCCESS);
      StandInDriver::set_result("vkAcquireNextImageKHR", VK_SUCCESS);
      frames.begin_swapchain();
      frames.show();
      frames.show();
    });
    EXPECT_THAT(log.summary.not_understood, IsEmpty());
    EXPECT_EQ(log.summary.submission_count, 4u);
    EXPECT_THAT(findings_of(log.text), IsEmpty());
  }
}

// It drew without an image: nothing signals what it waited for, so that it may draw over what was
// drawn, and over what is shown.
TEST(LayerFailures, OfAnAcquisitionSignalNothing) {
  const ConvertedLog log = log_of("unacquired", [] {
    const StandInDriver driver;
    Frames frames(driver);
    frames.show();
    StandInDriver::set_result("vkAcquireNextImageKHR", VK_ERROR_OUT_OF_DATE_KHR);
    EXPECT_EQ(frames.acquire(), VK_ERROR_OUT_OF_DATE_KHR);
    EXPECT_EQ(frames.draw(), VK_SUCCESS);
  });
  EXPECT_THAT(log.summary.not_understood,
              ElementsAre(Pair("a wait for a semaphore that nothing in the log signals", 1)));
  EXPECT_THAT(findings_of(log.text), SizeIs(2));
}

// What the host learns of an event is not followed; what it sets and resets is.
TEST(LayerFailures, NameAnEventThatTheHostFindsSet) {
  const ConvertedLog log = log_of("host_events", [] {
    const StandInDriver driver;
    const auto event = reinterpret_cast<VkEvent>(uint64_t{800});
    driver.call<PFN_vkSetEvent>("vkSetEvent")(driver.device(), event);
    driver.call<PFN_vkResetEvent>("vkResetEvent")(driver.device(), event);
    const auto get = driver.call<PFN_vkGetEventStatus>("vkGetEventStatus");
    EXPECT_EQ(get(driver.device(), event), VK_EVENT_RESET);
    StandInDriver::set_result("vkGetEventStatus", VK_EVENT_SET);
    EXPECT_EQ(get(driver.device(), event), VK_EVENT_SET);
  });
  EXPECT_THAT(log.summary.not_understood,
              ElementsAre(Pair("vkGetEventStatus of one that is set", 1)));
}

}  // namespace
}  // namespace interlock::layer_failures_test
