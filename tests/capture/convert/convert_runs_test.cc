// What a log says of the run itself: barriers that were left out, where commands were asked for,
// and what synchronization validation said of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "capture/convert/captured_places.h"
#include "capture/convert/foreign_message.h"
#include "capture/log/run_records.h"
#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_runs_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr uint64_t kQueue = 100;
constexpr uint64_t kCommands = 0x200;
constexpr uint64_t kOtherCommands = 0x300;
constexpr uint64_t kCompute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
constexpr uint64_t kShaderWrite = VK_ACCESS_2_SHADER_WRITE_BIT;
constexpr uint64_t kShaderRead = VK_ACCESS_2_SHADER_READ_BIT;

// Buffers 1 to 3, sets 1 (1 to 2) and 2 (2 to 3), pipeline 1.
SyntheticLog log_with(const RunOptionsRecord& options) {
  SyntheticLog log;
  log.append(ProcessRecord{1, "program", "application"});
  log.append(options);
  log.append(DeviceRecord{1, "device", "", VK_API_VERSION_1_3});
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.add_chain();
  log.append(BeginCommandsRecord{kCommands, 0});
  return log;
}

RunOptionsRecord that_drops(uint64_t number) {
  RunOptionsRecord options;
  options.drops_barrier = 1;
  options.dropped_barrier = number;
  return options;
}

RunOptionsRecord that_validates() {
  RunOptionsRecord options;
  options.is_validated = 1;
  return options;
}

TEST(ConvertRuns, NumbersBarriersAsTheyAreRecorded) {
  SyntheticLog log = log_with({});
  log.add_barrier(kCommands, kCompute, kShaderWrite, kCompute, kShaderRead);
  log.append(BeginCommandsRecord{kOtherCommands, 0});
  log.add_barrier(kOtherCommands, kCompute, kShaderWrite, kCompute, kShaderRead);
  log.submit(kQueue, kOtherCommands);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(result.text, HasSubstr("s1.b0.c0.n1: barrier "));
  EXPECT_THAT(result.text, HasSubstr("s2.b0.c0.n0: barrier "));
  EXPECT_EQ(result.summary.recorded_barrier_count, 2u);
}

TEST(ConvertRuns, SaysWhichBarrierIsLeftOutAndKeepsThePlacesOfTheRest) {
  SyntheticLog log = log_with(that_drops(0));
  log.add_dispatch(kCommands, 1, 1);
  DependencyFields order;
  order.source_stages = order.destination_stages = kCompute;
  log.append(DroppedBarrierRecord{kCommands, 0, {order}});
  log.append(BarrierRecord{kCommands, {}});
  log.add_dispatch(kCommands, 1, 2);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(result.text, Not(HasSubstr("barrier")));
  EXPECT_THAT(result.text, HasSubstr("s1.b0.c2: dispatch"));
  EXPECT_TRUE(result.summary.has_dropped_barrier);
  EXPECT_THAT(text_of(result.summary),
              HasSubstr("--drop-barrier=0: this barrier of the application is left out\n"));
  EXPECT_EQ(findings_of(result.text).size(), 1u);
}

TEST(ConvertRuns, SaysInTheHeadOfTheFileWhatTheRunWasTold) {
  RunOptionsRecord options;
  options.is_dry = 1;
  options.pretended = "integrated\nqueues";
  const ConvertedLog result = converted(log_with(options).bytes());
  EXPECT_THAT(text_of_options(result.summary),
              HasSubstr("--dry: dispatches were recorded, and not executed\n"));
  EXPECT_THAT(text_of_options(result.summary), HasSubstr("--pretend=integrated?queues: "));
  EXPECT_EQ(text_of_options(converted(log_with({}).bytes()).summary), "");
}

TEST(ConvertRuns, KnowsWhereACommandWasAskedFor) {
  SyntheticLog log = log_with({});
  log.append(ModuleRecord{0x1000, 0x2000, 0x800, "/usr/lib/libapplication.so.2"});
  log.append(LabelRecord{kCommands, LabelUse::kBegin, "frame"});
  log.append(LabelRecord{kCommands, LabelUse::kInsert, "blur"});
  // The last address is in no file that is known.
  log.append(CallerRecord{kCommands, {0x1010, 0x1fff, 0x2000}});
  log.add_dispatch(kCommands, 1, 1);
  log.add_dispatch(kCommands, 1, 1);
  log.append(LabelRecord{kCommands, LabelUse::kEnd, {}});
  log.append(QueueLabelRecord{kQueue, LabelUse::kBegin, "batch"});
  log.submit(kQueue, kCommands);
  const CapturedPlaces& places = converted(log.bytes()).summary.places;
  const CommandOrigin* const first = places.find({1, 0, 0});
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->labels, "frame / blur");
  ASSERT_EQ(first->callers.size(), 2u);
  EXPECT_EQ(text_of(first->callers[0]), "libapplication.so.2+0x810");
  EXPECT_EQ(text_of(first->callers[1]), "libapplication.so.2+0x17ff");
  const CommandOrigin* const second = places.find({1, 0, 1});
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->labels, "frame");
  EXPECT_THAT(second->callers, IsEmpty());
  const CommandOrigin* const submission = places.find({1});
  ASSERT_NE(submission, nullptr);
  EXPECT_EQ(submission->labels, "batch");
  EXPECT_EQ(places.find({1, 0, 2}), nullptr);
}

// As version 1.3.239 writes it.
constexpr const char* kRecordedMessage =
    "vkCmdDispatch: Hazard READ_AFTER_WRITE for VkImageView 0x5596b1192bb0[], in VkCommandBuffer "
    "0x200[], and VkPipeline 0x5596b148dc70[], VkDescriptorSet 0x5596b0233c20[], type: "
    "VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, imageLayout: VK_IMAGE_LAYOUT_GENERAL, binding #0, "
    "index 0. Access info (usage: SYNC_COMPUTE_SHADER_SHADER_SAMPLED_READ, prior_usage: "
    "SYNC_COMPUTE_SHADER_SHADER_STORAGE_WRITE, write_barriers: 0, command: vkCmdDispatch, seq_no: "
    "2, reset_no: 1).";
constexpr const char* kSubmittedMessage =
    "vkQueueSubmit: Hazard WRITE_AFTER_WRITE for entry 0, VkCommandBuffer 0x300[], Recorded access "
    "info (recorded_usage: SYNC_IMAGE_LAYOUT_TRANSITION, command: vkCmdDispatch, seq_no: 1, "
    "reset_no: 1). Access info (prior_usage: SYNC_COMPUTE_SHADER_SHADER_STORAGE_WRITE, "
    "write_barriers: 0, queue: VkQueue 0x5596b0262838[], submit: 4, batch: 0, batch_tag: 11, "
    "command: vkCmdDispatch, seq_no: 2, command_buffer: VkCommandBuffer 0x200[], reset_no: 1).";

TEST(ForeignMessage, ReadsWhatItNames) {
  const ForeignMessage recorded = parsed_message("SYNC-HAZARD-READ-AFTER-WRITE", kRecordedMessage);
  EXPECT_EQ(recorded.kind, FindingKind::kReadAfterWrite);
  EXPECT_EQ(recorded.prior.name, "vkCmdDispatch");
  EXPECT_EQ(recorded.prior.sequence, 2u);
  EXPECT_FALSE(recorded.recorded.has_value());
  const ForeignMessage submitted =
      parsed_message("SYNC-HAZARD-WRITE-AFTER-WRITE", kSubmittedMessage);
  EXPECT_EQ(submitted.kind, FindingKind::kWriteAfterWrite);
  ASSERT_TRUE(submitted.recorded.has_value());
  EXPECT_EQ(submitted.recorded->commands, 0x300u);
  EXPECT_EQ(submitted.recorded->sequence, 1u);
  EXPECT_EQ(submitted.prior.commands, 0x200u);
  EXPECT_EQ(submitted.prior.sequence, 2u);
  const ForeignMessage other = parsed_message("SYNC-HAZARD-WRITE-RACING-WRITE", "seq_no: 99");
  EXPECT_FALSE(other.kind.has_value());
  EXPECT_EQ(other.prior.sequence, 0u);
}

TEST(ConvertRuns, FindsTheCommandsOfAMessageWhereItWasRecorded) {
  SyntheticLog log = log_with(that_validates());
  log.append(ValidationRecord{"Validation", "239"});
  log.add_barrier(kCommands, kCompute, kShaderWrite, kCompute, kShaderRead);
  log.add_dispatch(kCommands, 1, 1);
  log.add_dispatch(kCommands, 1, 2);
  log.append(ValidationMessageRecord{kCommands, "SYNC-HAZARD-READ-AFTER-WRITE", kRecordedMessage});
  log.submit(kQueue, kCommands);
  log.submit(kQueue, kCommands);
  const CaptureSummary summary = converted(log.bytes()).summary;
  EXPECT_EQ(summary.validation, "Validation 239");
  // Once for each execution.
  ASSERT_EQ(summary.places.foreign().size(), 2u);
  for (const uint64_t submission : {1, 2}) {
    const ForeignHazard& hazard = summary.places.foreign()[submission - 1];
    EXPECT_EQ(hazard.kind, FindingKind::kReadAfterWrite);
    EXPECT_EQ(hazard.second, (CapturedPlace{submission, 0, 2}));
    EXPECT_EQ(hazard.first, (CapturedPlace{submission, 0, 1}));
    EXPECT_FALSE(hazard.is_at_submission);
  }
}

// What was left out and was order alone was never seen below, also where another thread records
// meanwhile; a second command by another name is not the one that is meant.
TEST(ConvertRuns, CountsCommandsAsTheyReachedTheValidation) {
  SyntheticLog log = log_with(that_validates());
  log.append(BeginCommandsRecord{kOtherCommands, 0});
  log.add_dispatch(kCommands, 1, 1);
  log.append(DroppedBarrierRecord{kCommands, 0, {DependencyFields()}});
  log.add_dispatch(kOtherCommands, 1, 1);
  log.append(BarrierRecord{kCommands, {}});
  log.add_dispatch(kCommands, 1, 1);
  log.add_barrier(kCommands, kCompute, kShaderWrite, kCompute, 0);
  log.add_dispatch(kCommands, 1, 2);
  log.append(ValidationMessageRecord{kCommands, "SYNC-HAZARD-READ-AFTER-WRITE", kRecordedMessage});
  std::string third = kRecordedMessage;
  third.replace(third.find("seq_no: 2"), 9, "seq_no: 3");
  log.append(ValidationMessageRecord{kCommands, "SYNC-HAZARD-READ-AFTER-WRITE", third});
  log.submit(kQueue, kCommands);
  const CaptureSummary summary = converted(log.bytes()).summary;
  ASSERT_EQ(summary.places.foreign().size(), 2u);
  EXPECT_EQ(summary.places.foreign()[0].first, (CapturedPlace{1, 0, 2}));
  EXPECT_EQ(summary.places.foreign()[0].second, (CapturedPlace{1, 0, 4}));
  EXPECT_EQ(summary.places.foreign()[1].first, std::nullopt);
}

TEST(ConvertRuns, FindsTheCommandsOfAMessageAboutASubmission) {
  SyntheticLog log = log_with(that_validates());
  log.add_barrier(kCommands, kCompute, kShaderWrite, kCompute, kShaderRead);
  log.add_dispatch(kCommands, 1, 1);
  log.submit(kQueue, kCommands);
  log.append(BeginCommandsRecord{kOtherCommands, 0});
  log.add_dispatch(kOtherCommands, 1, 1);
  log.submit(kQueue, kOtherCommands);
  log.append(ValidationMessageRecord{kQueue, "SYNC-HAZARD-WRITE-AFTER-WRITE", kSubmittedMessage});
  const CaptureSummary summary = converted(log.bytes()).summary;
  ASSERT_EQ(summary.places.foreign().size(), 1u);
  const ForeignHazard& hazard = summary.places.foreign().front();
  EXPECT_TRUE(hazard.is_at_submission);
  EXPECT_EQ(hazard.second, (CapturedPlace{2, 0, 0}));
  EXPECT_EQ(hazard.first, (CapturedPlace{1, 0, 1}));
}

// As libplacebo does: each signal of the text names a semaphore once.
TEST(ConvertRuns, RaiseATimelineTwiceInOneBatch) {
  SyntheticLog log = log_with({});
  log.append(CreateSemaphoreRecord{9, 1, 0});
  log.add_dispatch(kCommands, 1, 1);
  SubmitRecord submit{kQueue, 0, {}};
  submit.batches.push_back({{},
                            {kCommands},
                            {{9, 1, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT},
                             {9, 2, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT}}});
  log.append(submit);
  log.append(SemaphoreReachedRecord{9, 2});
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text, HasSubstr("signal s1=1\nsignal s1=2\n"));
  EXPECT_THAT(result.text, HasSubstr("host waits s1=2\n"));
}

TEST(CapturedPlaces, AreNamedByLabels) {
  EXPECT_EQ(place_of_label("s3.b0.c7"), (CapturedPlace{3, 0, 7}));
  EXPECT_EQ(place_of_label("s3.b1.c7.r2"), (CapturedPlace{3, 1, 7}));
  EXPECT_EQ(place_of_label("s3.b1.c7.n12"), (CapturedPlace{3, 1, 7}));
  for (const char* const other : {"", "h3", "s3", "s3.b0", "s.b0.c1", "s3b0c7", "x3.b0.c7"}) {
    EXPECT_EQ(place_of_label(other), std::nullopt) << other;
  }
  EXPECT_EQ(text_of(CapturedPlace{3, 1, 7}), "s3.b1.c7");
  EXPECT_EQ(text_of(CapturedPlace{3}), "s3");
}

}  // namespace
}  // namespace interlock::convert_runs_test
