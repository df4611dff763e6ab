// A program in windows: where it is cut, and what a window knows of those before.
#include "capture/convert/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/capture/convert/synthetic_log.h"
#include "tests/program_count.h"

namespace interlock::windows_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::StartsWith;

constexpr uint64_t kQueues[] = {100, 101};
constexpr uint64_t kCompute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
constexpr uint64_t kCopy = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
constexpr uint64_t kAll = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
constexpr uint64_t kHost = VK_PIPELINE_STAGE_2_HOST_BIT;
constexpr uint64_t kShaderWrite = VK_ACCESS_2_SHADER_WRITE_BIT;
constexpr uint64_t kHostRead = VK_ACCESS_2_HOST_READ_BIT;

// Buffers 1 to 4, set 1 from 1 to 2, set 2 from 2 to 3, set 3 from 3 to 1; two queues.
SyntheticLog log_with_objects() {
  SyntheticLog log;
  log.append(ProcessRecord{1, "program", "application"});
  for (const uint64_t queue : kQueues) log.append(QueueRecord{1, queue, 0, 0});
  log.add_chain();
  log.add_buffer(4);
  log.add_set(3, 3, 1);
  return log;
}

void submit_fill(SyntheticLog& log, uint64_t commands, uint64_t buffer, uint64_t fence,
                 uint64_t queue = kQueues[0]) {
  log.append(BeginCommandsRecord{commands, 0});
  log.add_fill(commands, buffer);
  log.submit(queue, commands, fence);
}

void invalidate(SyntheticLog& log, uint64_t memory) {
  log.append(HostRangeRecord{HostRangeUse::kInvalidate, memory, 0, VK_WHOLE_SIZE});
}

// --- Where a program is cut ---

TEST(Windows, EndAtTheFirstSubmissionAfterAFullWait) {
  SyntheticLog log = log_with_objects();
  submit_fill(log, 10, 1, 7);
  log.append(FenceReachedRecord{{7}});
  invalidate(log, 1);
  submit_fill(log, 11, 1, 8);
  submit_fill(log, 12, 2, 9);
  log.append(FenceReachedRecord{{8}});
  submit_fill(log, 13, 3, 0);
  const std::vector<CapturedWindow> windows = windows_of(log.bytes());
  ASSERT_EQ(windows.size(), 2u);
  // What the host reads stands in the window of what it may not see.
  EXPECT_THAT(windows[0].text, HasSubstr("host waits q0.done=1\nh1: host reads m1[0:1024]"));
  EXPECT_EQ(findings_of(windows[0].text).size(), 1u);
  EXPECT_EQ(windows[1].text,
            "interlock 1\n"
            "# captured from program (application)\n"
            "# window 2, from submission 2 on: what was before had executed, and was waited for\n"
            "memory m1 1024\n"
            "memory m2 1024\n"
            "memory m3 1024\n"
            "s2.b0.c0: dispatch fill writes m1[0:1024] value=0\n"
            "signal q0.done=2\n"
            "submit\n"
            "s3.b0.c0: dispatch fill writes m2[0:1024] value=0\n"
            "signal q0.done=3\n"
            "submit\n"
            "host waits q0.done=2\n"
            "s4.b0.c0: dispatch fill writes m3[0:1024] value=0\n"
            "submit\n" +
                windows[1].text.substr(windows[1].text.find("# captured: ")));
  EXPECT_EQ(windows[1].first_submission, 2u);
  EXPECT_EQ(windows[1].last_submission, 4u);
  EXPECT_TRUE(windows[1].is_last);
  // One that is not long enough is not cut.
  EXPECT_EQ(windows_of(log.bytes(), 100'000).size(), 1u);
}

TEST(Windows, EndWhereTheHostWaitedForEveryQueue) {
  for (const bool waits_for_other : {false, true}) {
    SyntheticLog log = log_with_objects();
    log.append(CreateSemaphoreRecord{50, 0, 0});
    log.append(BeginCommandsRecord{10, 0});
    log.add_fill(10, 1);
    log.append(SubmitRecord{kQueues[1], 0, {{{}, {10}, {{50, 0, kAll}}}}});
    log.append(BeginCommandsRecord{11, 0});
    log.add_fill(11, 2);
    std::vector<SemaphoreUseFields> waits;
    if (waits_for_other) waits.push_back({50, 0, kCompute});
    log.append(SubmitRecord{kQueues[0], 7, {{waits, {11}, {}}}});
    log.append(FenceReachedRecord{{7}});
    submit_fill(log, 12, 3, 0);
    EXPECT_EQ(windows_of(log.bytes()).size(), waits_for_other ? 2u : 1u);
  }
}

// The wait of queue 1 is met by the host's signal, which comes later and is of the same value, and
// not by that of queue 0 of a greater one: so nobody has waited for queue 0.
TEST(Windows, DoNotEndWhereAWaitMayBeMetByALaterSignal) {
  SyntheticLog log = log_with_objects();
  log.append(CreateSemaphoreRecord{60, 1, 0});
  log.append(BeginCommandsRecord{10, 0});
  log.add_fill(10, 1);
  BatchFields first;
  first.waits.push_back({60, 5, kAll});
  first.commands.push_back(10);
  first.signals.push_back({60, 10, kAll});
  log.append(SubmitRecord{kQueues[0], 0, {first}});
  BatchFields second;
  second.waits.push_back({60, 5, kAll});
  log.append(SubmitRecord{kQueues[1], 7, {second}});
  log.append(HostSignalRecord{60, 5});
  log.append(FenceReachedRecord{{7}});
  submit_fill(log, 11, 1, 0, kQueues[1]);
  const std::vector<CapturedWindow> windows = windows_of(log.bytes());
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(findings_of(windows[0].text).size(), 1u);
}

TEST(Windows, KeepTheValuesOfTimelinesAndForgetWhatWasWaitedFor) {
  SyntheticLog log = log_with_objects();
  log.append(CreateSemaphoreRecord{50, 0, 0});
  log.append(CreateSemaphoreRecord{51, 1, 3});
  log.append(BeginCommandsRecord{10, 0});
  log.add_fill(10, 1);
  log.append(SubmitRecord{kQueues[0], 0, {{{}, {10}, {{50, 0, kAll}, {51, 5, kAll}}}}});
  log.append(SemaphoreReachedRecord{51, 4});
  log.append(BeginCommandsRecord{11, 0});
  log.add_fill(11, 1);
  log.append(
      SubmitRecord{kQueues[1], 0, {{{{50, 0, kAll}, {51, 5, kAll}}, {11}, {{51, 6, kAll}}}}});
  log.append(WaitIdleRecord{1, 0});
  CaptureSummary summary;
  const std::vector<CapturedWindow> windows = windows_of(log.bytes(), 0, &summary);
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_THAT(windows[1].text, HasSubstr("\ns1: semaphore = 5\n"));
  EXPECT_THAT(windows[1].text, HasSubstr("\nq1: queue concurrent\n"));
  EXPECT_THAT(windows[1].text, Not(HasSubstr("\nwait ")));
  EXPECT_THAT(findings_of(windows[1].text), IsEmpty());
  EXPECT_THAT(summary.not_understood, IsEmpty());
}

// --- What the host sees of earlier windows ---

// Buffer 1 is written, with a barrier after it or not; another submission follows.
SyntheticLog log_with_write(uint64_t source_stages, uint64_t source_accesses) {
  SyntheticLog log = log_with_objects();
  log.append(BeginCommandsRecord{10, 0});
  log.add_fill(10, 1);
  if (source_stages != 0) log.add_barrier(10, source_stages, source_accesses, kHost, kHostRead);
  log.submit(kQueues[0], 10);
  log.append(WaitIdleRecord{1, 0});
  submit_fill(log, 11, 2, 0);
  log.append(WaitIdleRecord{1, 0});
  return log;
}

TEST(Windows, CarryWhatTheHostDoesNotSee) {
  SyntheticLog log = log_with_write(0, 0);
  submit_fill(log, 12, 3, 0);
  invalidate(log, 1);
  const std::vector<CapturedWindow> windows = windows_of(log.bytes());
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_THAT(findings_of(windows[0].text), IsEmpty());
  EXPECT_THAT(findings_of(windows[1].text), IsEmpty());
  EXPECT_THAT(windows[2].text, HasSubstr("\ns1.b0.c0: dispatch Fill in copy writes m1[0:1024]\n"
                                         "submit\nhost idle on q0\n"));
  EXPECT_THAT(findings_of(windows[2].text), ElementsAre(StartsWith("possible RAW hazard: h1 ")));
}

TEST(Windows, CarryNothingThatABarrierShowedTheHost) {
  SyntheticLog log = log_with_write(kCopy, VK_ACCESS_2_TRANSFER_WRITE_BIT);
  submit_fill(log, 12, 3, 0);
  invalidate(log, 1);
  CaptureSummary summary;
  const std::vector<CapturedWindow> windows = windows_of(log.bytes(), 0, &summary);
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_THAT(windows[2].text, Not(HasSubstr("s1.b0.c0")));
  EXPECT_THAT(summary.not_understood, IsEmpty());
  // A later one does, too, whatever it names: all of it is available by then.
  SyntheticLog later = log_with_write(0, 0);
  later.append(BeginCommandsRecord{12, 0});
  later.add_barrier(12, kCompute, 0, kHost, kHostRead);
  later.submit(kQueues[1], 12);
  later.append(WaitIdleRecord{1, 0});
  submit_fill(later, 13, 3, 0);
  invalidate(later, 1);
  EXPECT_THAT(findings_of(converted(later.bytes()).text), IsEmpty());
  EXPECT_THAT(windows_of(later.bytes(), 0, &summary).back().text, Not(HasSubstr("s1.b0.c0")));
  EXPECT_THAT(summary.not_understood, IsEmpty());
}

// What a barrier shows the host sees once it has waited for it.
TEST(Windows, CarryWhatIsShownAndNotWaitedForYet) {
  for (const bool waits : {false, true}) {
    SyntheticLog log = log_with_write(0, 0);
    log.append(BeginCommandsRecord{12, 0});
    log.add_barrier(12, kCompute, 0, kHost, kHostRead);
    log.submit(kQueues[0], 12);
    if (waits) log.append(WaitIdleRecord{1, 0});
    invalidate(log, 1);
    EXPECT_EQ(findings_of(converted(log.bytes()).text).size(), waits ? 0u : 1u);
    EXPECT_EQ(findings_of(windows_of(log.bytes()).back().text).size(), waits ? 0u : 1u);
  }
}

TEST(Windows, SayWhereItIsNotKnownWhetherTheHostSees) {
  // Another stage: what the barrier shows depends on what else is ordered before it.
  SyntheticLog log = log_with_write(kCompute, kShaderWrite);
  submit_fill(log, 12, 3, 0);
  CaptureSummary summary;
  windows_of(log.bytes(), 0, &summary);
  EXPECT_THAT(summary.not_understood, IsEmpty());
  invalidate(log, 1);
  windows_of(log.bytes(), 0, &summary);
  EXPECT_THAT(summary.not_understood, ElementsAre(Key("what the host sees of an earlier window")));
}

// --- Memory ---

constexpr uint64_t kFrameTimeline = 51;

// Three dispatches and barriers, that are waited for. Memory and timelines come and go.
void add_frame(SyntheticLog& log, uint64_t frame) {
  log.append(DestroyRecord{VK_OBJECT_TYPE_SEMAPHORE, kFrameTimeline});
  log.append(CreateSemaphoreRecord{kFrameTimeline, 1, frame - 1});
  log.append(DestroyRecord{VK_OBJECT_TYPE_BUFFER, 3});
  log.append(DestroyRecord{VK_OBJECT_TYPE_DEVICE_MEMORY, 3});
  log.add_buffer(3);
  log.add_set(2, 2, 3);
  log.add_set(3, 3, 1);
  log.append(BeginCommandsRecord{10, 0});
  for (uint64_t set = 1; set <= 3; ++set) {
    log.add_dispatch(10, 1, set);
    log.add_barrier(10, kCompute, kShaderWrite, kCompute, VK_ACCESS_2_SHADER_READ_BIT);
  }
  log.append(SubmitRecord{kQueues[0], 7, {{{}, {10}, {{kFrameTimeline, frame, kAll}}}}});
  log.append(FenceReachedRecord{{7}});
  log.append(SemaphoreReachedRecord{kFrameTimeline, frame});
}

TEST(Windows, TakeNoMoreMemoryOfALongerLog) {
  SyntheticLog log = log_with_objects();
  for (uint64_t frame = 1; frame <= 2000; ++frame) add_frame(log, frame);
  std::istringstream input(log.bytes());
  uint64_t early_bytes = 0;
  uint64_t late_bytes = 0;
  uint64_t window_count = 0;
  const auto take = [&](const CapturedWindow& window, const CaptureSummary&) {
    ++window_count;
    EXPECT_LT(window.text.size(), 32u << 10);
    if (window.number == 9) early_bytes = mallinfo2().uordblks;
    if (!window.is_last) late_bytes = mallinfo2().uordblks;
    return Result<Success>(Success{});
  };
  ASSERT_TRUE(convert_log_in_windows(input, "test.ilog", 16 << 10, take).has_value());
  EXPECT_GT(window_count, 50u);
  // The text of a window has more than half of that; under a sanitizer both are 0.
  EXPECT_LE(late_bytes, early_bytes + (48 << 10));
}

// 16 MB of frames that are ordered, and one more that is not, which is found where it is: converted
// and checked.
TEST(Windows, JudgeALongLogToItsEnd) {
  SyntheticLog log = log_with_objects();
  const uint64_t log_bytes = is_slow_build() ? 2'000'000 : 16'000'000;
  uint64_t frame_count = 0;
  while (log.bytes().size() < log_bytes) {
    // A shader, as long as those of applications are.
    log.append(CreateShaderModuleRecord{9, std::vector<uint32_t>(8000)});
    add_frame(log, ++frame_count);
  }
  submit_fill(log, 11, 2, 0);
  submit_fill(log, 12, 2, 0);
  std::istringstream input(log.bytes());
  uint64_t submission_count = 0;
  std::vector<std::string> findings;
  const auto take = [&](const CapturedWindow& window, const CaptureSummary& summary) {
    submission_count = summary.submission_count;
    const std::vector<std::string> found = findings_of(window.text);
    EXPECT_TRUE(found.empty() || window.is_last);
    findings.insert(findings.end(), found.begin(), found.end());
    return Result<Success>(Success{});
  };
  ASSERT_TRUE(convert_log_in_windows(input, "test.ilog", 4 << 20, take).has_value());
  EXPECT_EQ(submission_count, frame_count + 2);
  EXPECT_THAT(findings, ElementsAre(StartsWith("WAW hazard: ")));
}

}  // namespace
}  // namespace interlock::windows_test
