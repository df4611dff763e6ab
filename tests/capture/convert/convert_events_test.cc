// Events of both generations: the older calls say at each wait what becomes visible, the newer ones
// at the set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <string>

#include "capture/log/command_records.h"
#include "capture/log/queue_records.h"
#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_events_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::SizeIs;

constexpr uint64_t kQueue = 90;
constexpr uint64_t kOtherQueue = 91;
constexpr uint64_t kCommands = 80;
constexpr uint64_t kOtherCommands = 81;
constexpr uint64_t kCompute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
constexpr uint64_t kCopy = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
constexpr uint64_t kShaderRead = VK_ACCESS_2_SHADER_READ_BIT;
constexpr uint64_t kShaderWrite = VK_ACCESS_2_SHADER_WRITE_BIT;
constexpr uint64_t kCopyRead = VK_ACCESS_2_TRANSFER_READ_BIT;
constexpr uint64_t kCopyWrite = VK_ACCESS_2_TRANSFER_WRITE_BIT;

SyntheticLog log_with_objects() {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.append(QueueRecord{1, kOtherQueue, 1, 0});
  log.add_chain();
  log.append(BeginCommandsRecord{kCommands, 0});
  log.append(BeginCommandsRecord{kOtherCommands, 0});
  return log;
}

DependencyFields scopes(uint64_t source_stages, uint64_t source_accesses,
                        uint64_t destination_stages, uint64_t destination_accesses) {
  DependencyFields fields;
  fields.source_stages = source_stages;
  fields.source_accesses = source_accesses;
  fields.destination_stages = destination_stages;
  fields.destination_accesses = destination_accesses;
  return fields;
}

const DependencyFields kDispatches = scopes(kCompute, kShaderWrite, kCompute, kShaderRead);

// The older calls.
void set(SyntheticLog& log, uint64_t commands, uint64_t stages = kCompute) {
  log.append(SetEventRecord{commands, 7, 0, {scopes(stages, 0, 0, 0)}});
}
void wait(SyntheticLog& log, uint64_t commands, const DependencyFields& fields = kDispatches) {
  log.append(WaitEventsRecord{commands, {7}, {fields}});
}

// A copy of what buffer 1 holds.
void add_copy(SyntheticLog& log, uint64_t commands, uint64_t from, uint64_t to) {
  TransferRecord record;
  record.commands = commands;
  record.use = TransferUse::kCopy;
  TransferEndFields source;
  source.handle = from;
  source.size_bytes = 1024;
  TransferEndFields destination = source;
  destination.handle = to;
  record.regions.push_back({{source}, {destination}});
  log.append(record);
}

TEST(ConvertEvents, AreBarriersInTwoHalves) {
  for (const bool is_newer : {false, true}) {
    for (const uint64_t event : {uint64_t{7}, uint64_t{8}}) {
      SyntheticLog log = log_with_objects();
      log.add_dispatch(kCommands, 1, 1);
      log.append(SetEventRecord{
          kCommands, 7, is_newer ? 1u : 0u, {is_newer ? kDispatches : scopes(kCompute, 0, 0, 0)}});
      log.append(WaitEventsRecord{kCommands, {event}, {kDispatches}});
      log.add_dispatch(kCommands, 1, 2);
      log.submit(kQueue, kCommands);
      const ConvertedLog result = converted(log.bytes());
      EXPECT_EQ(result.error, "");
      // Of an event that nobody set nothing is known; that the two are unordered, neither.
      EXPECT_EQ(result.summary.not_understood.size(), event == 7 ? 0u : 1u);
      EXPECT_THAT(result.text, event == 7 ? HasSubstr("await e1\n") : HasSubstr("barrier comp"));
      EXPECT_THAT(findings_of(result.text), IsEmpty());
    }
  }
}

TEST(ConvertEvents, CoverOnlyWhatStandsBeforeTheirSet) {
  for (const bool is_newer : {false, true}) {
    SyntheticLog log = log_with_objects();
    log.append(SetEventRecord{
        kCommands, 7, is_newer ? 1u : 0u, {is_newer ? kDispatches : scopes(kCompute, 0, 0, 0)}});
    log.add_dispatch(kCommands, 1, 1);
    wait(log, kCommands);
    log.add_dispatch(kCommands, 1, 2);
    log.submit(kQueue, kCommands);
    EXPECT_EQ(findings_of(converted(log.bytes()).text).size(), 1u);
  }
}

// A fill; a copy reads it after one wait, and a dispatch after another. Either alone lets only its
// own stage see it.
std::string filled_for_two(bool has_first, bool has_second) {
  SyntheticLog log = log_with_objects();
  log.add_fill(kCommands, 1);
  set(log, kCommands, kCopy);
  if (has_first) wait(log, kCommands, scopes(kCopy, kCopyWrite, kCopy, kCopyRead));
  add_copy(log, kCommands, 1, 3);
  if (has_second) wait(log, kCommands, scopes(kCopy, kCopyWrite, kCompute, kShaderRead));
  log.add_dispatch(kCommands, 1, 1);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  return result.text;
}

TEST(ConvertEvents, AreWaitedForWithTheScopesOfEachWait) {
  EXPECT_THAT(findings_of(filled_for_two(true, true)), IsEmpty());
  EXPECT_THAT(findings_of(filled_for_two(true, false)),
              ElementsAre(HasSubstr("(dispatch 2) reads m1")));
  EXPECT_THAT(findings_of(filled_for_two(false, true)),
              ElementsAre(HasSubstr("(dispatch 1) reads m1")));
}

TEST(ConvertEvents, OrderAcrossCommandBuffersOfASubmission) {
  for (const bool is_before : {true, false}) {
    SyntheticLog log = log_with_objects();
    if (is_before) log.add_dispatch(kCommands, 1, 1);
    set(log, kCommands);
    if (!is_before) log.add_dispatch(kCommands, 1, 1);
    wait(log, kOtherCommands);
    log.add_dispatch(kOtherCommands, 1, 2);
    log.append(SubmitRecord{kQueue, 0, {{{}, {kCommands, kOtherCommands}, {}}}});
    const ConvertedLog result = converted(log.bytes());
    EXPECT_EQ(result.error, "");
    EXPECT_THAT(result.summary.not_understood, IsEmpty());
    EXPECT_EQ(findings_of(result.text).size(), is_before ? 0u : 1u);
  }
}

TEST(ConvertEvents, OrderAcrossSecondaryCommandBuffers) {
  SyntheticLog log = log_with_objects();
  log.append(BeginCommandsRecord{82, 0});
  log.append(BeginCommandsRecord{83, 0});
  log.add_dispatch(82, 1, 1);
  set(log, 82);
  wait(log, 83);
  log.append(ExecuteCommandsRecord{kCommands, {82, 83}});
  log.add_dispatch(kCommands, 1, 2);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_THAT(result.text, HasSubstr("await e1\n"));
  EXPECT_THAT(findings_of(result.text), IsEmpty());
}

// Each execution sets it anew, and a reset ends it: the wait after it is for somebody else.
TEST(ConvertEvents, EndAtTheirReset) {
  SyntheticLog log = log_with_objects();
  log.add_dispatch(kCommands, 1, 1);
  set(log, kCommands);
  wait(log, kCommands);
  log.append(ResetEventRecord{kCommands, 7});
  log.add_dispatch(kCommands, 1, 2);
  log.submit(kQueue, kCommands);
  log.submit(kQueue, kCommands);
  const ConvertedLog twice = converted(log.bytes());
  EXPECT_THAT(twice.summary.not_understood, IsEmpty());
  EXPECT_THAT(twice.text, HasSubstr("s2.b0.c3"));
  EXPECT_THAT(twice.text, HasSubstr("await e2\n"));
  wait(log, kOtherCommands);
  log.submit(kQueue, kOtherCommands);
  EXPECT_THAT(converted(log.bytes()).summary.not_understood, Not(IsEmpty()));
}

// What is submitted to a queue later comes later there: the event orders across submissions as it
// does within one.
TEST(ConvertEvents, OrderAcrossSubmissionsOfTheirQueue) {
  for (const bool is_newer : {false, true}) {
    for (const bool is_before : {true, false}) {
      SyntheticLog log = log_with_objects();
      const SetEventRecord set_record{
          kCommands, 7, is_newer ? 1u : 0u, {is_newer ? kDispatches : scopes(kCompute, 0, 0, 0)}};
      if (is_before) log.add_dispatch(kCommands, 1, 1);
      log.append(set_record);
      if (!is_before) log.add_dispatch(kCommands, 1, 1);
      log.submit(kQueue, kCommands);
      wait(log, kOtherCommands);
      log.add_dispatch(kOtherCommands, 1, 2);
      log.submit(kQueue, kOtherCommands);
      const ConvertedLog result = converted(log.bytes());
      EXPECT_EQ(result.error, "");
      EXPECT_THAT(result.summary.not_understood, IsEmpty());
      EXPECT_EQ(findings_of(result.text).size(), is_before ? 0u : 1u) << result.text;
    }
  }
}

// As filled_for_two(), each wait in a submission of its own, the set in the first one of all.
std::string filled_for_submissions(bool has_first, bool has_second) {
  SyntheticLog log = log_with_objects();
  log.add_fill(kCommands, 1);
  set(log, kCommands, kCopy);
  log.submit(kQueue, kCommands);
  if (has_first) wait(log, kOtherCommands, scopes(kCopy, kCopyWrite, kCopy, kCopyRead));
  add_copy(log, kOtherCommands, 1, 3);
  log.submit(kQueue, kOtherCommands);
  log.append(BeginCommandsRecord{82, 0});
  if (has_second) wait(log, 82, scopes(kCopy, kCopyWrite, kCompute, kShaderRead));
  log.add_dispatch(82, 1, 1);
  log.submit(kQueue, 82);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  return result.text;
}

TEST(ConvertEvents, AreWaitedForInLaterSubmissionsWithTheScopesOfEachWait) {
  EXPECT_THAT(findings_of(filled_for_submissions(true, true)), IsEmpty());
  EXPECT_THAT(findings_of(filled_for_submissions(true, false)),
              ElementsAre(HasSubstr("(dispatch 2) reads m1")));
  EXPECT_THAT(findings_of(filled_for_submissions(false, true)),
              ElementsAre(HasSubstr("(dispatch 1) reads m1")));
}

// The wait names bytes of buffers that nothing before the set has named: they are declared first.
TEST(ConvertEvents, NameInTheirPlaceWhatIsUsedLater) {
  for (const uint64_t later : {uint64_t{3}, uint64_t{4}}) {
    SyntheticLog log = log_with_objects();
    log.add_buffer(4);
    log.add_dispatch(kCommands, 1, 1);
    set(log, kCommands);
    log.submit(kQueue, kCommands);
    log.append(BeginCommandsRecord{82, 0});
    log.add_fill(82, 3);
    set(log, 82, kCopy);
    log.submit(kQueue, 82);
    DependencyFields fields = kDispatches;
    fields.object = DependencyObject::kBuffer;
    fields.handle = later;
    fields.size_bytes = VK_WHOLE_SIZE;
    fields.source_family = fields.destination_family = VK_QUEUE_FAMILY_IGNORED;
    log.append(WaitEventsRecord{kOtherCommands, {7}, {kDispatches, fields}});
    log.add_dispatch(kOtherCommands, 1, 2);
    log.submit(kQueue, kOtherCommands);
    const ConvertedLog result = converted(log.bytes());
    EXPECT_EQ(result.error, "");
    EXPECT_THAT(result.summary.not_understood, IsEmpty());
    // The second set was of copies: it has nothing for these scopes but the fill.
    EXPECT_THAT(findings_of(result.text), Not(IsEmpty()));
  }
}

// A reset ends it, and so does another set, also across submissions.
TEST(ConvertEvents, AreForTheLastSetBeforeTheirWait) {
  SyntheticLog log = log_with_objects();
  log.add_dispatch(kCommands, 1, 1);
  set(log, kCommands);
  log.submit(kQueue, kCommands);
  set(log, kOtherCommands, kCopy);
  log.submit(kQueue, kOtherCommands);
  log.append(BeginCommandsRecord{82, 0});
  wait(log, 82);
  log.add_dispatch(82, 1, 2);
  log.submit(kQueue, 82);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_EQ(findings_of(result.text).size(), 1u);
}

// A window is cut between the two: what was before the set is before the window. Within one, the
// set has its place in the text of that window.
TEST(ConvertEvents, KeepTheirPlaceInAWindow) {
  SyntheticLog log = log_with_objects();
  for (int i = 0; i < 2; ++i) {
    log.append(BeginCommandsRecord{kCommands, 0});
    log.append(BeginCommandsRecord{kOtherCommands, 0});
    log.add_dispatch(kCommands, 1, 1);
    set(log, kCommands);
    log.submit(kQueue, kCommands);
    wait(log, kOtherCommands);
    log.add_dispatch(kOtherCommands, 1, 2);
    log.submit(kQueue, kOtherCommands);
    log.append(WaitIdleRecord{1, 0});
  }
  CaptureSummary summary;
  const auto windows = windows_of(log.bytes(), 0, &summary);
  EXPECT_EQ(windows.size(), 2u);
  EXPECT_THAT(summary.not_understood, IsEmpty());
  for (const CapturedWindow& window : windows) {
    EXPECT_THAT(findings_of(window.text), IsEmpty()) << window.text;
    EXPECT_THAT(window.text, HasSubstr("set e"));
  }
}

// "Events must not be used to insert a dependency between commands submitted to different queues."
TEST(ConvertEvents, OfOtherQueuesOrderNothing) {
  SyntheticLog log = log_with_objects();
  log.add_dispatch(kCommands, 1, 1);
  set(log, kCommands);
  log.submit(kQueue, kCommands);
  wait(log, kOtherCommands);
  log.add_dispatch(kOtherCommands, 1, 2);
  log.submit(kOtherQueue, kOtherCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(findings_of(result.text), SizeIs(1));
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_THAT(
      result.summary.remarks,
      ElementsAre(Key("waits for events that another queue set (Vulkan 1.3, 7.5: these must "
                      "not order commands of different queues; here they order nothing)")));
}

}  // namespace
}  // namespace interlock::convert_events_test
