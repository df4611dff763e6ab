// What `interlock capture` says of the messages of synchronization validation, of logs that are
// written here: each reason beside a program that is nearly the same and has it not. No driver is
// needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>

#include "capture/log/run_records.h"
#include "tests/capture/convert/synthetic_log.h"
#include "tests/cli/command.h"

namespace interlock::capture_agreement_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kQueue = 100;
constexpr uint64_t kFirst = 200;  // Command buffers.
constexpr uint64_t kSecond = 201;
constexpr uint64_t kTimeline = 50;
constexpr uint64_t kFence = 60;
constexpr uint64_t kImage = 9;
constexpr uint64_t kSwapchain = 70;
const SubresourceFields kAllOfImage = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};

constexpr const char* kTimelineReason =
    ": version 1.3.239 follows no timeline semaphore from one submission to another, and without "
    "the waits for those of the application this is a hazard here, too.\n";

// Buffers 1 to 3, set 1 from 1 to 2 and set 2 from 2 to 3, and a timeline.
SyntheticLog validated_log() {
  SyntheticLog log;
  RunOptionsRecord options;
  options.is_validated = 1;
  log.append(options);
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.append(ValidationRecord{"Khronos Validation Layer", "239"});
  log.add_chain();
  log.append(CreateSemaphoreRecord{kTimeline, 1, 0});
  return log;
}

// One dispatch in each of two command buffers; the second one reads what the first one writes.
SyntheticLog log_of_two_lists() {
  SyntheticLog log = validated_log();
  log.append(BeginCommandsRecord{kFirst, 0});
  log.add_dispatch(kFirst, 1, 1);
  log.append(BeginCommandsRecord{kSecond, 0});
  log.add_dispatch(kSecond, 1, 2);
  return log;
}

// Of 4 by 4 texels; the only one of a swapchain, if one is given.
void add_image(SyntheticLog& log, uint64_t swapchain = 0) {
  CreateImageRecord image;
  image.image = kImage;
  image.type = VK_IMAGE_TYPE_2D;
  image.format = VK_FORMAT_R8G8B8A8_UNORM;
  image.width = image.height = 4;
  image.depth = image.mip_count = image.layer_count = image.sample_count = 1;
  image.is_of_swapchain = swapchain == 0 ? 0 : 1;
  log.append(image);
  if (swapchain != 0) log.append(SwapchainImagesRecord{swapchain, {kImage}});
}

// Of all of it, in the first command buffer.
void add_clear(SyntheticLog& log) {
  TransferEndFields end;
  end.handle = kImage;
  end.is_image = 1;
  end.range = kAllOfImage;
  log.append(TransferRecord{kFirst, TransferUse::kClear, {{{}, {end}}}});
}

void submit(SyntheticLog& log, uint64_t commands, uint64_t waits_for, uint64_t signals,
            uint64_t fence = 0) {
  BatchFields batch;
  if (waits_for > 0) batch.waits = {{kTimeline, waits_for, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT}};
  batch.commands = {commands};
  if (signals > 0) batch.signals = {{kTimeline, signals, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT}};
  log.append(SubmitRecord{kQueue, fence, {batch}});
}

// As version 1.3.239 says it at a submission: of the first command of the second list, after the
// command of this number of the first one, from 1.
void say_at_submission(SyntheticLog& log, int prior = 1) {
  log.append(ValidationMessageRecord{
      kQueue, "SYNC-HAZARD-READ-AFTER-WRITE",
      "vkQueueSubmit(): Hazard READ_AFTER_WRITE for entry 0, VkCommandBuffer 0xc9[], Recorded access "
      "info (recorded_usage: SYNC_COMPUTE_SHADER_SHADER_STORAGE_READ, command: vkCmdDispatch, "
      "seq_no: 1, reset_no: 1). Access info (prior_usage: "
      "SYNC_COMPUTE_SHADER_SHADER_STORAGE_WRITE, command: vkCmdDispatch, seq_no: " +
          std::to_string(prior) + ", command_buffer: VkCommandBuffer 0xc8[], reset_no: 1)."});
}

// Of the last command of the first list, after the command of this number, from 1.
void say_at_command(SyntheticLog& log, const std::string& kind, int prior) {
  log.append(ValidationMessageRecord{kFirst, "SYNC-HAZARD-" + kind,
                                     "vkCmdDispatch: Hazard " + kind +
                                         ". Access info (usage: , prior_usage: , command: "
                                         "vkCmdDispatch, seq_no: " +
                                         std::to_string(prior) + ", reset_no: 1)."});
}

CommandResult judged(const SyntheticLog& log) {
  return run_interlock({"capture", "--log", temporary_file("validated.ilog", log.bytes())});
}

TEST(CaptureAgreement, ProvesThatATimelineOrdersAPair) {
  for (const bool waits_on_host : {false, true}) {
    SyntheticLog log = log_of_two_lists();
    submit(log, kFirst, 0, 1);
    if (waits_on_host) log.append(SemaphoreReachedRecord{kTimeline, 1});
    submit(log, kSecond, waits_on_host ? 0 : 1, 0);
    say_at_submission(log);
    const CommandResult result = judged(log);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr(": both 0, only here 0, only there 1.\n"));
    EXPECT_THAT(result.out, HasSubstr(std::string("  only there, 1") + kTimelineReason +
                                      "    RAW at s2.b0.c0, after s1.b0.c0\n"));
  }
}

// There is a hazard at the later command without the timeline, but nobody knows whether it is the
// one that validation means.
TEST(CaptureAgreement, TakesNoTimelineForAReasonWhereTheEarlierCommandIsUnknown) {
  SyntheticLog log = log_of_two_lists();
  submit(log, kFirst, 0, 1);
  submit(log, kSecond, 1, 0);
  say_at_submission(log, 9);
  EXPECT_THAT(judged(log).out, HasSubstr("  only there, 1: there is no known reason.\n"));
}

// The application has a timeline, and something else orders the pair: if validation names it all
// the same, nobody knows why.
TEST(CaptureAgreement, TakesNoTimelineForAReasonThatOrdersNothing) {
  enum class Order { kByFence, kByBarrier };
  for (const Order order : {Order::kByFence, Order::kByBarrier}) {
    SyntheticLog log = validated_log();
    log.append(BeginCommandsRecord{kFirst, 0});
    log.add_dispatch(kFirst, 1, 1);
    log.append(BeginCommandsRecord{kSecond, 0});
    if (order == Order::kByBarrier) {
      log.add_barrier(kSecond, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_WRITE_BIT,
                      VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_READ_BIT);
    }
    log.add_dispatch(kSecond, 1, 2);
    submit(log, kFirst, 0, 1, order == Order::kByFence ? kFence : 0);
    if (order == Order::kByFence) log.append(FenceReachedRecord{{kFence}});
    submit(log, kSecond, 1, 0);
    std::string text =
        "for entry 0, VkCommandBuffer 0xc9[], Recorded access info (command: vkCmdDispatch, "
        "seq_no: " +
        std::string(order == Order::kByBarrier ? "2" : "1") +
        "). Access info (command: vkCmdDispatch, seq_no: 1, command_buffer: VkCommandBuffer "
        "0xc8[]).";
    log.append(ValidationMessageRecord{kQueue, "SYNC-HAZARD-READ-AFTER-WRITE", text});
    const CommandResult result = judged(log);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_THAT(result.out,
                HasSubstr("  only there, 1: there is no known reason.\n    RAW at s2.b0."));
    EXPECT_THAT(result.out, Not(HasSubstr("follows no timeline semaphore")));
  }
}

// Nothing orders it, so that both name it, timelines or not.
TEST(CaptureAgreement, IsOfBothWhereNothingOrdersAPair) {
  SyntheticLog log = log_of_two_lists();
  submit(log, kFirst, 0, 1);
  submit(log, kSecond, 0, 2);
  say_at_submission(log);
  EXPECT_THAT(judged(log).out, HasSubstr(": both 1, only here 0, only there 0.\n"));
}

TEST(CaptureAgreement, IsNoneOnADifferentEarlierCommand) {
  for (const int prior : {1, 2}) {
    SyntheticLog log = validated_log();
    log.append(BeginCommandsRecord{kFirst, 0});
    log.add_buffer(4);
    log.add_set(3, 1, 4);
    log.add_dispatch(kFirst, 1, 1);
    log.add_dispatch(kFirst, 1, 3);
    log.add_dispatch(kFirst, 1, 2);
    say_at_command(log, "READ-AFTER-WRITE", prior);
    submit(log, kFirst, 0, 0);
    const CommandResult result = judged(log);
    EXPECT_EQ(result.status, 1) << result.out << result.err;
    if (prior == 1) {
      EXPECT_THAT(result.out, HasSubstr(": both 1, only here 0, only there 0.\n"));
      continue;
    }
    EXPECT_THAT(result.out, HasSubstr(": both 0, only here 1, only there 1.\n"
                                      "  only here, 1: there is no known reason.\n"
                                      "    RAW at s1.b0.c2, after s1.b0.c0\n"
                                      "  only there, 1: there is no known reason.\n"
                                      "    RAW at s1.b0.c2, after s1.b0.c1\n"));
  }
}

// Of two writes the report names the later one; a check of all pairs has the other, too.
TEST(CaptureAgreement, KnowsEarlierCommandsThatALaterOneHides) {
  SyntheticLog log = validated_log();
  log.append(BeginCommandsRecord{kFirst, 0});
  for (const uint64_t set : {1, 1, 2}) log.add_dispatch(kFirst, 1, set);
  say_at_command(log, "READ-AFTER-WRITE", 1);
  submit(log, kFirst, 0, 0);
  const CommandResult result = judged(log);
  EXPECT_THAT(result.out, HasSubstr("RAW hazard: s1.b0.c2 (dispatch 2) reads m2[0:1024], which "
                                    "s1.b0.c1 "));
  EXPECT_THAT(result.out, HasSubstr(": both 1, only here 1, only there 0.\n"));
  EXPECT_THAT(result.out, HasSubstr("    WAW at s1.b0.c1, after s1.b0.c0\n"));
}

TEST(CaptureAgreement, CountsAnotherKindAtTheSameCommand) {
  SyntheticLog log = validated_log();
  log.append(BeginCommandsRecord{kFirst, 0});
  log.add_dispatch(kFirst, 1, 1);
  log.add_dispatch(kFirst, 1, 2);
  say_at_command(log, "WRITE-AFTER-READ", 1);
  submit(log, kFirst, 0, 0);
  EXPECT_THAT(judged(log).out, HasSubstr(": both 0, only here 1, only there 1.\n"
                                         "  only here, 1: there is no known reason.\n"
                                         "    RAW at s1.b0.c1, after s1.b0.c0\n"
                                         "  only there, 1: there is no known reason.\n"
                                         "    WAR at s1.b0.c1, after s1.b0.c0\n"));
}

// The earlier command reads buffer 1 and writes it. Where it writes another part than it reads,
// each of the two would have been named.
TEST(CaptureAgreement, ProvesThatItKeepsOneOfAReadAndAWriteOfTheSameBytes) {
  for (const bool is_in_place : {true, false}) {
    SyntheticLog log = validated_log();
    log.append(BeginCommandsRecord{kFirst, 0});
    log.append(AllocateSetsRecord{1, {3}, {1}, {}});
    const uint64_t written_offset = is_in_place ? 0 : 512;
    log.append(
        UpdateSetsRecord{{{3, 0, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, {{1, 0, 512}}},
                          {3, 1, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, {{1, written_offset, 512}}}},
                         {}});
    log.add_dispatch(kFirst, 1, 3);
    log.add_fill(kFirst, 1);
    say_at_command(log, "WRITE-AFTER-WRITE", 1);
    submit(log, kFirst, 0, 0);
    const std::string reason =
        is_in_place ? "the earlier command reads and writes these bytes, and of a command it keeps "
                      "one of the two: it names the other one"
                    : "there is no known reason";
    EXPECT_THAT(judged(log).out,
                HasSubstr(": both 1, only here 1, only there 0.\n  only here, 1: " + reason +
                          ".\n    WAR at s1.b0.c1, after s1.b0.c0\n"));
  }
}

// The later dispatch writes what the earlier one writes, and reads, too. Had it only read,
// validation would have told the WAR.
TEST(CaptureAgreement, KnowsThatNothingIsToldOfTwoDispatchesThatWrite) {
  for (const bool writes : {true, false}) {
    SyntheticLog log = validated_log();
    log.append(BeginCommandsRecord{kFirst, 0});
    log.add_set(3, 1, writes ? 1 : 2);
    log.add_set(4, 3, 1);
    log.add_dispatch(kFirst, 1, 3);
    log.add_dispatch(kFirst, 1, 4);
    submit(log, kFirst, 0, 0);
    const CommandResult result = judged(log);
    if (!writes) {
      EXPECT_THAT(result.out, HasSubstr(": both 0, only here 1, only there 0.\n  only here, 1: "
                                        "there is no known reason.\n    WAR at s1.b0.c1"));
      continue;
    }
    const std::string rule =
        "of a write of a dispatch after one of another dispatch of the same command buffer it tells "
        "nothing.\n";
    EXPECT_THAT(result.out, HasSubstr("  only here, 1: " + rule + "    WAW at s1.b0.c1"));
    EXPECT_THAT(
        result.out,
        HasSubstr("  only here, 1: the earlier command reads and writes these bytes, and of "
                  "a command it keeps one of the two: here the write; " +
                  rule + "    WAR at s1.b0.c1"));
  }
}

// A presentation is no command, and the acquisition of an image that was never presented no read.
TEST(CaptureAgreement, KnowsWhichImagesWerePresented) {
  for (const bool is_presented : {true, false}) {
    SyntheticLog log = validated_log();
    add_image(log, kSwapchain);
    log.append(CreateSemaphoreRecord{51, 0, 0});
    if (is_presented) log.append(PresentRecord{kQueue, {}, {{kSwapchain, 0}}});
    log.append(AcquireRecord{51, 0, {kSwapchain, 0}});
    log.append(BeginCommandsRecord{kFirst, 0});
    add_clear(log);
    submit(log, kFirst, 0, 0);
    log.append(ValidationMessageRecord{
        kQueue, "SYNC-HAZARD-WRITE-AFTER-READ",
        "vkQueueSubmit: Hazard WRITE_AFTER_READ for entry 0, VkCommandBuffer 0xc8[], Recorded access "
        "info (recorded_usage: SYNC_CLEAR_TRANSFER_WRITE, command: vkCmdClearColorImage, seq_no: 1, "
        "reset_no: 1). Access info (prior_usage: "
        "SYNC_PRESENT_ENGINE_SYNCVAL_PRESENT_ACQUIRE_READ_SYNCVAL, read_barriers: )."});
    const CommandResult result = judged(log);
    EXPECT_EQ(result.status, is_presented ? 1 : 0) << result.out << result.err;
    if (is_presented) {
      EXPECT_THAT(result.out,
                  HasSubstr(": both 1, only here 0, only there 0.\n"
                            "  Of both, 1 without an earlier command there that is known here.\n"));
    } else {
      EXPECT_THAT(result.out,
                  HasSubstr(": both 0, only here 0, only there 1.\n"
                            "  only there, 1: the earlier access is the acquisition of an image "
                            "that was not presented before, so that nobody reads it.\n"
                            "    WAR at s1.b0.c0"));
    }
  }
}

// A second clear of what was presented: the first one is held against the presentation, and the
// second one against the first.
TEST(CaptureAgreement, KnowsThatAWriteHidesAPresentation) {
  SyntheticLog log = validated_log();
  add_image(log, kSwapchain);
  log.append(PresentRecord{kQueue, {}, {{kSwapchain, 0}}});
  log.append(BeginCommandsRecord{kFirst, 0});
  for (int i = 0; i < 2; ++i) add_clear(log);
  submit(log, kFirst, 0, 0);
  const std::string out = judged(log).out;
  EXPECT_THAT(out, HasSubstr("  only here, 1: it keeps the last write to each byte and the reads "
                             "since, and all of these bytes are written again in between.\n"
                             "    WAR at s1.b0.c1\n"));
  EXPECT_THAT(out, HasSubstr("(whether it names one is not checked).\n    WAR at s1.b0.c0\n"));
}

// A change of layout reads and writes. Where another command is named, that says nothing.
TEST(CaptureAgreement, ProvesThatOneSideOfAChangeOfLayoutIsHeldAgainstOthers) {
  for (const int prior : {1, 9}) {
    SyntheticLog log = validated_log();
    log.append(AllocateMemoryRecord{9, 64, 0});
    add_image(log);
    log.append(BindImageRecord{kImage, 9, 0, 0});
    log.append(BeginCommandsRecord{kFirst, 0});
    add_clear(log);
    DependencyFields change;
    change.object = DependencyObject::kImage;
    change.handle = kImage;
    change.old_layout = VK_IMAGE_LAYOUT_GENERAL;
    change.new_layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    change.source_family = change.destination_family = VK_QUEUE_FAMILY_IGNORED;
    change.range = kAllOfImage;
    log.append(BarrierRecord{kFirst, {change}});
    log.append(ValidationMessageRecord{
        kFirst, "SYNC-HAZARD-READ-AFTER-WRITE",
        "Access info (usage: SYNC_IMAGE_LAYOUT_TRANSITION, prior_usage: , command: "
        "vkCmdClearColorImage, seq_no: " +
            std::to_string(prior) + ", reset_no: 1)."});
    submit(log, kFirst, 0, 0);
    const std::string reason =
        prior == 1
            ? "the later command reads and writes these bytes, and only what it does first is "
              "held against earlier ones: it names the other one"
            : "there is no known reason";
    EXPECT_THAT(judged(log).out,
                HasSubstr(": both 1, only here 1, only there 0.\n  only here, 1: " + reason +
                          ".\n    WAW at s1.b0.c1, after s1.b0.c0\n"));
  }
}

// It says no command that is known here: then the later one decides.
TEST(CaptureAgreement, SaysWhereTheEarlierCommandIsNotNamed) {
  SyntheticLog log = validated_log();
  log.append(BeginCommandsRecord{kFirst, 0});
  log.add_dispatch(kFirst, 1, 1);
  log.add_dispatch(kFirst, 1, 2);
  say_at_command(log, "READ-AFTER-WRITE", 9);
  submit(log, kFirst, 0, 0);
  EXPECT_THAT(judged(log).out,
              HasSubstr(": both 1, only here 0, only there 0.\n"
                        "  Of both, 1 without an earlier command there that is known here.\n"));
}

}  // namespace
}  // namespace interlock::capture_agreement_test
