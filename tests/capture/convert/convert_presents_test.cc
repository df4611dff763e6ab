// Swapchains, and semaphores that do not cover all stages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>

#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_presents_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::StartsWith;

constexpr uint64_t kQueue = 100;
constexpr uint64_t kCommands = 200;
constexpr uint64_t kSwapchain = 60;
constexpr uint64_t kImage = 9;
constexpr uint64_t kAcquired = 50;
constexpr uint64_t kDrawn = 51;
constexpr uint64_t kAll = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;

void add_image(SyntheticLog& log) {
  CreateImageRecord image;
  image.image = kImage;
  image.type = VK_IMAGE_TYPE_2D;
  image.format = VK_FORMAT_R8G8B8A8_UNORM;
  image.width = image.height = 4;
  image.depth = image.mip_count = image.layer_count = image.sample_count = 1;
  image.is_of_swapchain = 1;
  log.append(image);
}

// An image of a swapchain, and commands that clear it.
SyntheticLog log_with_image() {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  add_image(log);
  log.append(CreateSemaphoreRecord{kAcquired, 0, 0});
  log.append(CreateSemaphoreRecord{kDrawn, 0, 0});
  return log;
}

void add_clear(SyntheticLog& log) {
  TransferEndFields end;
  end.handle = kImage;
  end.is_image = 1;
  end.range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  log.append(BeginCommandsRecord{kCommands, 0});
  log.append(TransferRecord{kCommands, TransferUse::kClear, {{{}, {end}}}});
}

// A frame: acquired, cleared and presented, as the image at this position.
void add_frame(SyntheticLog& log, uint32_t acquired, uint32_t presented, uint64_t wait_stages) {
  log.append(AcquireRecord{kAcquired, 0, {kSwapchain, acquired}});
  add_clear(log);
  log.append(
      SubmitRecord{kQueue, 0, {{{{kAcquired, 0, wait_stages}}, {kCommands}, {{kDrawn, 0, kAll}}}}});
  log.append(PresentRecord{kQueue, {kDrawn}, {{kSwapchain, presented}}});
}

TEST(ConvertPresents, OrdersAnImageBetweenItsPresentationAndItsNextUse) {
  SyntheticLog log = log_with_image();
  for (int i = 0; i < 3; ++i) add_frame(log, 0, 0, kAll);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_THAT(result.text, HasSubstr("wait q0.done=2\n"));
  EXPECT_THAT(findings_of(result.text), IsEmpty());
}

// It is the presentation of that image alone that the acquisition waits for.
TEST(ConvertPresents, OrdersNoOtherImage) {
  SyntheticLog log = log_with_image();
  add_frame(log, 0, 1, kAll);
  add_frame(log, 0, 1, kAll);
  EXPECT_THAT(findings_of(converted(log.bytes()).text), ElementsAre(StartsWith("WAW hazard: ")));
  SyntheticLog gone = log_with_image();
  add_frame(gone, 0, 0, kAll);
  gone.append(DestroyRecord{VK_OBJECT_TYPE_SWAPCHAIN_KHR, kSwapchain});
  add_frame(gone, 0, 0, kAll);
  EXPECT_EQ(findings_of(converted(gone.bytes()).text).size(), 1u);
}

TEST(ConvertPresents, LetsTheHostWaitForAnAcquisition) {
  SyntheticLog log = log_with_image();
  add_frame(log, 0, 0, kAll);
  log.append(AcquireRecord{0, 7, {kSwapchain, 0}});
  log.append(FenceReachedRecord{{7}});
  add_clear(log);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(result.text, HasSubstr("host waits q0.done=1\n"));
  EXPECT_THAT(findings_of(result.text), IsEmpty());
}

TEST(ConvertPresents, TakesAHandleOfADestroyedSwapchainsImageForANewOne) {
  SyntheticLog log = log_with_image();
  add_clear(log);
  log.submit(kQueue, kCommands);
  log.append(DestroyRecord{VK_OBJECT_TYPE_IMAGE, kImage});
  add_image(log);
  add_clear(log);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(result.text, HasSubstr("fill writes m2[0:64]"));
  EXPECT_THAT(findings_of(result.text), IsEmpty());
}

// Who presents reads the image, once the presentation's semaphores are signalled: a use that does
// not wait for the acquisition may overwrite what is shown.
TEST(ConvertPresents, ReadWhatIsPresented) {
  for (const bool waits : {true, false}) {
    SyntheticLog log = log_with_image();
    log.append(SwapchainImagesRecord{kSwapchain, {kImage}});
    add_frame(log, 0, 0, kAll);
    log.append(WaitIdleRecord{0, kQueue});
    log.append(AcquireRecord{kAcquired, 0, {kSwapchain, 0}});
    add_clear(log);
    BatchFields batch{{}, {kCommands}, {}};
    if (waits) batch.waits = {{kAcquired, 0, kAll}};
    log.append(SubmitRecord{kQueue, 0, {batch}});
    const ConvertedLog result = converted(log.bytes());
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.summary.queue_count, 1u);
    EXPECT_THAT(result.summary.not_understood, IsEmpty());
    EXPECT_THAT(
        result.text,
        HasSubstr("presented1: dispatch Present reads m1[0:64] writes screen1[0:1] on present\n"));
    if (waits) {
      EXPECT_THAT(findings_of(result.text), IsEmpty());
    } else {
      EXPECT_THAT(findings_of(result.text),
                  ElementsAre("WAR hazard: s2.b0.c0 (dispatch 2) writes m1[0:64], which presented1 "
                              "(dispatch 1) reads."));
    }
  }
}

// What is drawn is to be there before it is shown.
TEST(ConvertPresents, WaitForWhatThePresentationWaitsFor) {
  for (const bool waits : {true, false}) {
    SyntheticLog log = log_with_image();
    log.append(SwapchainImagesRecord{kSwapchain, {kImage}});
    add_clear(log);
    log.append(SubmitRecord{kQueue, 0, {{{}, {kCommands}, {{kDrawn, 0, kAll}}}}});
    PresentRecord present{kQueue, {}, {{kSwapchain, 0}}};
    if (waits) present.semaphores = {kDrawn};
    log.append(present);
    EXPECT_EQ(findings_of(converted(log.bytes()).text).size(), waits ? 0u : 1u);
  }
}

// The host has waited for all that was submitted, and nobody for who presents: that is in the next
// window, too, until somebody who acquires the image has waited.
TEST(ConvertPresents, GoOnInTheNextWindow) {
  for (const bool is_acquired_before : {true, false}) {
    for (const bool waits : {true, false}) {
      SyntheticLog log = log_with_image();
      log.append(SwapchainImagesRecord{kSwapchain, {kImage}});
      log.append(CreateSemaphoreRecord{52, 0, 0});
      add_frame(log, 0, 0, kAll);
      if (is_acquired_before) log.append(AcquireRecord{52, 0, {kSwapchain, 0}});
      log.append(WaitIdleRecord{1, 0});
      if (!is_acquired_before) {
        // A submission begins the window.
        log.append(SubmitRecord{kQueue, 0, {{{}, {}, {}}}});
        log.append(AcquireRecord{52, 0, {kSwapchain, 0}});
      }
      add_clear(log);
      BatchFields batch{{}, {kCommands}, {}};
      if (waits) batch.waits = {{52, 0, kAll}};
      log.append(SubmitRecord{kQueue, 0, {batch}});
      log.append(WaitIdleRecord{1, 0});
      add_clear(log);
      log.append(SubmitRecord{kQueue, 0, {{{}, {kCommands}, {}}}});
      const auto windows = windows_of(log.bytes());
      ASSERT_EQ(windows.size(), 3u);
      EXPECT_THAT(windows[1].text,
                  HasSubstr("dispatch Present reads m1[0:64] writes screen2[0:1] on present\n"));
      EXPECT_EQ(findings_of(windows[1].text).size(), waits ? 0u : 1u) << windows[1].text;
      // Once somebody has waited it is over.
      EXPECT_EQ(windows[2].text.find("Present") == std::string::npos, waits);
    }
  }
}

TEST(ConvertPresents, TakeWhatAHostileLogSays) {
  SyntheticLog log = log_with_image();
  CreateImageRecord empty;
  empty.image = 8;
  log.append(empty);
  log.append(SwapchainImagesRecord{kSwapchain, {8, kImage, kImage, 7}});
  log.append(QueueRecord{1, UINT64_MAX, 0, 0});
  add_clear(log);
  for (const uint64_t queue : {kQueue, uint64_t{UINT64_MAX}}) {
    for (uint32_t i = 0; i < 6; ++i) {
      log.append(SubmitRecord{queue, 0, {{{}, {kCommands}, {{kDrawn, 0, kAll}}}}});
      log.append(PresentRecord{queue, {kDrawn, 7}, {{kSwapchain, i}, {kSwapchain, 1}}});
      log.append(AcquireRecord{kDrawn, 7, {kSwapchain, 1}});
      log.append(WaitIdleRecord{1, 0});
    }
    log.append(DestroyRecord{VK_OBJECT_TYPE_IMAGE, kImage});
  }
  EXPECT_EQ(converted(log.bytes()).error, "");
  EXPECT_FALSE(windows_of(log.bytes()).empty());
}

// Stages of graphics are not all stages: what waits before them holds no copy back.
TEST(ConvertPresents, HoldsBackNoMoreThanAWaitNames) {
  SyntheticLog log = log_with_image();
  add_frame(log, 0, 0, kAll);
  add_frame(log, 0, 0, VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_THAT(result.summary.remarks,
              ElementsAre(Key(StartsWith("waits before parts of graphics"))));
  EXPECT_EQ(findings_of(result.text).size(), 1u);
}

TEST(ConvertPresents, CoversNoMoreThanASignalNames) {
  for (const uint64_t stages :
       {uint64_t{VK_PIPELINE_STAGE_2_COPY_BIT}, uint64_t{VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT},
        uint64_t{VK_PIPELINE_STAGE_2_NONE}}) {
    SyntheticLog log = log_with_image();
    add_clear(log);
    log.append(
        SubmitRecord{kQueue, 3, {{{}, {kCommands}, {{kDrawn, 0, stages}, {kAcquired, 0, kAll}}}}});
    log.append(SubmitRecord{kQueue, 0, {{{{kDrawn, 0, kAll}}, {kCommands}, {}}}});
    const ConvertedLog result = converted(log.bytes());
    EXPECT_EQ(result.error, "");
    const bool covers = stages == VK_PIPELINE_STAGE_2_COPY_BIT;
    EXPECT_EQ(findings_of(result.text).size(), covers ? 0u : 1u) << result.text;
    EXPECT_THAT(result.summary.not_understood, IsEmpty());
  }
}

// All of graphics is a stage of the format: a chain through it holds.
TEST(ConvertPresents, ChainsThroughAllOfGraphics) {
  for (const uint64_t second :
       {uint64_t{VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT}, uint64_t{VK_PIPELINE_STAGE_2_HOST_BIT}}) {
    SyntheticLog log = log_with_image();
    add_clear(log);
    log.add_barrier(kCommands, VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                    VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT, VK_ACCESS_2_SHADER_READ_BIT);
    log.add_barrier(kCommands, second, 0, VK_PIPELINE_STAGE_2_COPY_BIT,
                    VK_ACCESS_2_TRANSFER_WRITE_BIT);
    log.submit(kQueue, kCommands);
    add_clear(log);
    log.submit(kQueue, kCommands);
    const ConvertedLog result = converted(log.bytes());
    EXPECT_THAT(result.text, HasSubstr("copy.write -> indirect|graphics.read\n"));
    EXPECT_THAT(result.summary.not_understood, IsEmpty());
    const bool chains = second == VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT;
    EXPECT_EQ(findings_of(result.text).size(), chains ? 0u : 1u);
  }
}

}  // namespace
}  // namespace interlock::convert_presents_test
