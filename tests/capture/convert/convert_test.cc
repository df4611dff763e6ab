// From a log to a program: what an application said, statement by statement, and what a check finds
// in it. Each hazard stands beside its smallest repair.
#include "capture/convert/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

constexpr uint64_t kQueue = 100;
constexpr uint64_t kCommands = 200;
constexpr uint64_t kCompute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
constexpr uint64_t kShaderWrite = VK_ACCESS_2_SHADER_WRITE_BIT;
constexpr uint64_t kShaderRead = VK_ACCESS_2_SHADER_READ_BIT;

// Buffers 1 to 3, sets 1 (1 to 2) and 2 (2 to 3), pipeline 1.
SyntheticLog log_with_objects() {
  SyntheticLog log;
  log.append(ProcessRecord{1, "program", "application"});
  log.append(DeviceRecord{1, "device", "VK_KHR_swapchain", VK_API_VERSION_1_3});
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.add_chain();
  log.append(BeginCommandsRecord{kCommands, 0});
  return log;
}

constexpr const char* kMissing =
    "possible RAW hazard: s1.b0.c1 (dispatch 1) reads m2[0:1024], which s1.b0.c0 (dispatch 0) writes.";

TEST(Convert, WritesEachCommandWhereItIsSubmitted) {
  SyntheticLog log = log_with_objects();
  log.add_dispatch(kCommands, 1, 1);
  log.add_barrier(kCommands, kCompute, kShaderWrite, kCompute, kShaderRead);
  log.add_dispatch(kCommands, 1, 2);
  EXPECT_EQ(converted(log.bytes()).text, "interlock 1\n");
  log.submit(kQueue, kCommands, 7);
  log.append(FenceReachedRecord{{7}});
  log.append(FenceReachedRecord{{7}});
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.text,
            "interlock 1\n"
            "memory m1 1024\n"
            "memory m2 1024\n"
            "s1.b0.c0: dispatch Pipeline1 reads m1[0:1024] writes m2[0:1024] partial approximate\n"
            "s1.b0.c1.n0: barrier compute.write -> compute.read\n"
            "memory m3 1024\n"
            "s1.b0.c2: dispatch Pipeline1 reads m2[0:1024] writes m3[0:1024] partial approximate\n"
            "signal q0.done=1\n"
            "submit\n"
            "host waits q0.done=1\n");
  EXPECT_THAT(findings_of(result.text), IsEmpty());
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_EQ(result.summary.dispatch_count, 2u);
}

TEST(Convert, FindsAMissingBarrier) {
  SyntheticLog log = log_with_objects();
  log.add_dispatch(kCommands, 1, 1);
  log.add_dispatch(kCommands, 1, 2);
  log.submit(kQueue, kCommands);
  EXPECT_THAT(findings_of(converted(log.bytes()).text), ElementsAre(kMissing));
}

TEST(Convert, TakesAnEmptyFirstScopeForNoDependency) {
  SyntheticLog log = log_with_objects();
  log.add_dispatch(kCommands, 1, 1);
  log.add_barrier(kCommands, VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT, 0, kCompute, kShaderRead);
  log.add_dispatch(kCommands, 1, 2);
  log.submit(kQueue, kCommands);
  EXPECT_EQ(findings_of(converted(log.bytes()).text).size(), 1u);
}

TEST(Convert, KeepsTheStagesOfAnAccessApart) {
  SyntheticLog log = log_with_objects();
  log.add_dispatch(kCommands, 1, 1);
  // Orders, and makes only what copies write available.
  log.add_barrier(kCommands, kCompute | VK_PIPELINE_STAGE_2_COPY_BIT,
                  VK_ACCESS_2_TRANSFER_WRITE_BIT, kCompute, kShaderRead);
  log.add_dispatch(kCommands, 1, 2);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(result.text, HasSubstr("barrier compute|copy.write -> compute.read\n"));
  EXPECT_EQ(findings_of(result.text).size(), 1u);
}

TEST(Convert, TakesAHandleForANewObjectEachTime) {
  SyntheticLog log = log_with_objects();
  log.add_dispatch(kCommands, 1, 1);
  // Buffer 2 goes, and another one has its handle; so the second dispatch reads other bytes.
  log.append(DestroyRecord{VK_OBJECT_TYPE_BUFFER, 2});
  log.append(DestroyRecord{VK_OBJECT_TYPE_DEVICE_MEMORY, 2});
  log.add_buffer(2);
  log.add_set(3, 2, 3);
  log.add_dispatch(kCommands, 1, 3);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(result.text, HasSubstr("reads m4[0:1024] writes m3[0:1024]"));
  EXPECT_THAT(findings_of(result.text), IsEmpty());
}

TEST(Convert, ExecutesACommandBufferAsOftenAsItIsSubmitted) {
  SyntheticLog log = log_with_objects();
  log.add_dispatch(kCommands, 1, 1);
  log.submit(kQueue, kCommands);
  log.submit(kQueue, kCommands);
  // It writes over its own bytes, and nobody waited.
  EXPECT_THAT(
      findings_of(converted(log.bytes()).text),
      ElementsAre(StartsWith("possible WAW hazard: s2.b0.c0 (dispatch 1) writes m2[0:1024]")));
}

TEST(Convert, ForgetsWhatAResetCommandBufferHeld) {
  SyntheticLog log = log_with_objects();
  log.append(AllocateCommandsRecord{9, 0, {kCommands}});
  log.append(BeginCommandsRecord{kCommands, 0});
  log.add_dispatch(kCommands, 1, 1);
  log.append(ResetCommandPoolRecord{9});
  log.append(BeginCommandsRecord{kCommands, 0});
  log.add_dispatch(kCommands, 1, 2);
  log.submit(kQueue, kCommands);
  EXPECT_EQ(converted(log.bytes()).summary.dispatch_count, 1u);
}

TEST(Convert, ExecutesSecondaryCommandBuffers) {
  SyntheticLog log = log_with_objects();
  constexpr uint64_t kSecondary = 201;
  log.append(BeginCommandsRecord{kSecondary, 0});
  log.add_dispatch(kSecondary, 1, 1);
  log.append(ExecuteCommandsRecord{kCommands, {kSecondary}});
  log.add_dispatch(kCommands, 1, 2);
  log.submit(kQueue, kCommands);
  EXPECT_THAT(findings_of(converted(log.bytes()).text), ElementsAre(kMissing));
}

TEST(Convert, KeepsDescriptorsThatWerePushed) {
  SyntheticLog log = log_with_objects();
  const auto push = [&](uint64_t from, uint64_t to) {
    log.append(PushSetRecord{
        kCommands,
        VK_PIPELINE_BIND_POINT_COMPUTE,
        1,
        0,
        {{0, 0, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, {{from, 0, 512}, {to, 512, 512}}}}});
    log.append(BindPipelineRecord{kCommands, VK_PIPELINE_BIND_POINT_COMPUTE, 1});
    log.append(DispatchRecord{kCommands, 1, 1, 1});
  };
  push(1, 2);
  push(2, 3);  // Other bytes of 2 than those that were written.
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(result.text, HasSubstr("reads m1[0:512] writes m2[512:1024] partial approximate\n"));
  EXPECT_THAT(result.text, HasSubstr("reads m2[0:512] writes m3[512:1024] partial approximate\n"));
  EXPECT_THAT(findings_of(result.text), IsEmpty());
}

TEST(Convert, AddsDynamicOffsets) {
  SyntheticLog log = log_with_objects();
  log.append(CreateSetLayoutRecord{5,
                                   0,
                                   {{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, 1, 0},
                                    {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, 1, 0}}});
  log.append(CreatePipelineLayoutRecord{5, {5}});
  log.append(AllocateSetsRecord{1, {5}, {5}, {}});
  log.append(UpdateSetsRecord{
      {{5, 0, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, {{1, 0, 256}, {2, 128, 256}}}}, {}});
  log.append(BindPipelineRecord{kCommands, VK_PIPELINE_BIND_POINT_COMPUTE, 1});
  log.append(BindSetsRecord{kCommands, VK_PIPELINE_BIND_POINT_COMPUTE, 5, 0, {5}, {256, 512}});
  log.append(DispatchRecord{kCommands, 1, 1, 1});
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).text,
              HasSubstr("reads m1[256:512] writes m2[640:896] partial approximate\n"));
}

TEST(Convert, NamesWhatItDoesNotUnderstand) {
  SyntheticLog log = log_with_objects();
  log.append(NotUnderstoodCommandRecord{kCommands, "vkCmdDraw"});
  log.append(NotUnderstoodCommandRecord{kCommands, "vkCmdDraw"});
  log.add_dispatch(kCommands, 2, 1);  // There is no such pipeline.
  log.submit(kQueue, kCommands);
  log.append(NotUnderstoodRecord{"vkQueueBindSparse"});
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.summary.not_understood,
              ElementsAre(Pair("a dispatch whose shader is not known", 1), Pair("vkCmdDraw", 2),
                          Pair("vkQueueBindSparse", 1)));
  EXPECT_EQ(result.summary.unknown_submission_count, 1u);
  EXPECT_THAT(text_of(result.summary), HasSubstr("  not understood: vkCmdDraw (2 times)\n"));
}

// --- Queues ---

constexpr uint64_t kOtherQueue = 101;
constexpr uint64_t kOtherCommands = 202;

// The first dispatch on one queue, the second on another.
SyntheticLog log_of_two_queues() {
  SyntheticLog log = log_with_objects();
  log.append(QueueRecord{1, kOtherQueue, 1, 0});
  log.append(CreateSemaphoreRecord{50, 0, 0});
  log.append(CreateSemaphoreRecord{51, 1, 3});
  log.add_dispatch(kCommands, 1, 1);
  log.append(BeginCommandsRecord{kOtherCommands, 0});
  log.add_dispatch(kOtherCommands, 1, 2);
  return log;
}

constexpr uint64_t kAllStagesOfAll = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;

TEST(Convert, OrdersQueuesByBinarySemaphores) {
  SyntheticLog log = log_of_two_queues();
  log.append(SubmitRecord{kQueue, 0, {{{}, {kCommands}, {{50, 0, kAllStagesOfAll}}}}});
  log.append(SubmitRecord{kOtherQueue, 0, {{{{50, 0, kCompute}}, {kOtherCommands}, {}}}});
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(result.text, HasSubstr("wait q0.done=1 before compute on q1\n"));
  EXPECT_THAT(findings_of(result.text), IsEmpty());
}

TEST(Convert, FindsThatNobodyWaits) {
  SyntheticLog log = log_of_two_queues();
  log.append(SubmitRecord{kQueue, 0, {{{}, {kCommands}, {{50, 0, kAllStagesOfAll}}}}});
  log.submit(kOtherQueue, kOtherCommands);
  EXPECT_EQ(findings_of(converted(log.bytes()).text).size(), 1u);
}

TEST(Convert, OrdersQueuesByTimelines) {
  for (const bool waits_first : {false, true}) {
    SyntheticLog log = log_of_two_queues();
    const SubmitRecord signals{kQueue, 0, {{{}, {kCommands}, {{51, 5, kAllStagesOfAll}}}}};
    const SubmitRecord waits{kOtherQueue, 0, {{{{51, 4, kAllStagesOfAll}}, {kOtherCommands}, {}}}};
    log.append(waits_first ? waits : signals);
    log.append(waits_first ? signals : waits);
    const ConvertedLog result = converted(log.bytes());
    EXPECT_EQ(result.error, "");
    EXPECT_THAT(result.text, HasSubstr("s1: semaphore = 3\n"));
    // The queue that is used first is q0.
    EXPECT_THAT(result.text, HasSubstr(waits_first ? "wait s1=4\n" : "wait s1=4 on q1\n"));
    EXPECT_THAT(result.text, HasSubstr(waits_first ? "signal s1=5 on q1\n" : "signal s1=5\n"));
    EXPECT_THAT(findings_of(result.text), IsEmpty());
  }
}

// Of two signals the later value is submitted first, and waits for the other.
TEST(Convert, TakesSignalsThatAreSubmittedOutOfOrder) {
  SyntheticLog log = log_of_two_queues();
  log.append(
      SubmitRecord{kOtherQueue,
                   0,
                   {{{{51, 4, kAllStagesOfAll}}, {kOtherCommands}, {{51, 5, kAllStagesOfAll}}}}});
  log.append(SubmitRecord{kQueue, 0, {{{}, {kCommands}, {{51, 4, kAllStagesOfAll}}}}});
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_THAT(findings_of(result.text), IsEmpty());
}

TEST(Convert, NamesStagesThatTheFormatDoesNotHave) {
  SyntheticLog log = log_with_objects();
  log.add_dispatch(kCommands, 1, 1);
  log.add_barrier(kCommands, kCompute, kShaderWrite, VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR,
                  kShaderRead);
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).summary.not_understood,
              ElementsAre(Key("a barrier of stages that are not followed")));
}

TEST(Convert, NamesADescriptorOfWhatIsNotKnown) {
  SyntheticLog log = log_with_objects();
  log.add_set(3, 1, 77);
  log.add_dispatch(kCommands, 1, 3);
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).summary.not_understood,
              ElementsAre(Key("a descriptor of a buffer or an image that is not known")));
}

TEST(Convert, EndsALogWhoseSignalNeverCame) {
  SyntheticLog log = log_of_two_queues();
  log.append(SubmitRecord{kOtherQueue, 0, {{{{51, 4, kAllStagesOfAll}}, {kOtherCommands}, {}}}});
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.summary.not_understood,
              ElementsAre(Key("a wait for a timeline that nothing in the log signals so far")));
}

TEST(Convert, TakesOneWaitIdleForAllQueuesOfItsDevice) {
  SyntheticLog log = log_of_two_queues();
  log.submit(kQueue, kCommands);
  log.append(WaitIdleRecord{1, 0});
  log.submit(kOtherQueue, kOtherCommands);
  EXPECT_THAT(findings_of(converted(log.bytes()).text), IsEmpty());
  SyntheticLog other = log_of_two_queues();
  other.submit(kQueue, kCommands);
  other.append(WaitIdleRecord{0, kOtherQueue});
  other.submit(kOtherQueue, kOtherCommands);
  EXPECT_EQ(findings_of(converted(other.bytes()).text).size(), 1u);
}

}  // namespace
}  // namespace interlock::convert_test
