// Semaphores and fences that are shared by file descriptors: nobody sees what others do, and what
// the application shares with itself is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_shared_sync_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;
using testing::SizeIs;

constexpr uint64_t kQueue = 100;
constexpr uint64_t kCommands = 200;
constexpr uint64_t kSemaphore = 50;
constexpr uint64_t kFence = 60;
constexpr uint64_t kAll = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
constexpr uint32_t kOpaque = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
constexpr uint32_t kSyncFile = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT;
constexpr uint32_t kSyncFileOfFence = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT;

constexpr const char* kExported =
    "semaphores that are exported (what others do with them is not seen)";
constexpr const char* kImported =
    "semaphores that are imported (what others do with them is not seen)";
constexpr const char* kWaitForOthers =
    "a wait for a semaphore that was imported (who signals it is not seen)";
constexpr const char* kWaitForNobody = "a wait for a semaphore that nothing in the log signals";

SyntheticLog log_with_semaphore(bool is_timeline) {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.add_buffer(1);
  log.append(BeginCommandsRecord{kCommands, 0});
  log.add_fill(kCommands, 1);
  log.append(CreateSemaphoreRecord{kSemaphore, is_timeline ? 1u : 0u, 0});
  return log;
}

void submit(SyntheticLog& log, uint64_t waits_for, uint64_t signals, uint64_t fence = 0) {
  BatchFields batch;
  if (waits_for > 0) batch.waits = {{kSemaphore, waits_for, kAll}};
  batch.commands = {kCommands};
  if (signals > 0) batch.signals = {{kSemaphore, signals, kAll}};
  log.append(SubmitRecord{kQueue, fence, {batch}});
}

void export_it(SyntheticLog& log, uint32_t handle_type) {
  log.append(ShareSyncRecord{kSemaphore, VK_OBJECT_TYPE_SEMAPHORE, 0, handle_type, 0, 0, 0});
}

void import_it(SyntheticLog& log, bool is_temporary, bool is_signalled = false) {
  log.append(ShareSyncRecord{kSemaphore, VK_OBJECT_TYPE_SEMAPHORE, 1,
                             is_temporary ? kSyncFile : kOpaque, is_temporary ? 1u : 0u,
                             is_signalled ? 1u : 0u, 0});
}

// A wait that orders what it should not would hide the hazard of two fills.
TEST(ConvertSharedSync, OrdersNothingByWhatOthersSignal) {
  for (const bool is_timeline : {false, true}) {
    SyntheticLog log = log_with_semaphore(is_timeline);
    submit(log, 0, 1);
    import_it(log, !is_timeline);
    submit(log, 1, 0);
    const ConvertedLog result = converted(log.bytes());
    EXPECT_EQ(result.error, "");
    EXPECT_THAT(findings_of(result.text), SizeIs(1)) << result.text;
    EXPECT_THAT(result.summary.not_understood, ElementsAre(Pair(kWaitForOthers, 1)));
    EXPECT_EQ(result.summary.unknown_submission_count, 1u);
    EXPECT_THAT(result.summary.remarks, ElementsAre(Pair(kImported, 1)));
  }
}

// A copy lasts until a wait for it; then the semaphore is what it was.
TEST(ConvertSharedSync, GoesOnAfterACopy) {
  SyntheticLog log = log_with_semaphore(false);
  submit(log, 0, 1);
  import_it(log, true);
  log.append(SubmitRecord{kQueue, 0, {{{{kSemaphore, 0, kAll}}, {}, {}}}});
  submit(log, 1, 0);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(findings_of(result.text), IsEmpty());
  EXPECT_THAT(result.summary.not_understood, ElementsAre(Pair(kWaitForOthers, 1)));
}

// What the application signals itself orders as ever.
TEST(ConvertSharedSync, OrdersByItsOwnSignals) {
  for (const bool is_timeline : {false, true}) {
    SyntheticLog log = log_with_semaphore(is_timeline);
    import_it(log, false);
    submit(log, 0, 1);
    submit(log, 1, 2);
    const ConvertedLog result = converted(log.bytes());
    EXPECT_THAT(findings_of(result.text), IsEmpty());
    EXPECT_THAT(result.summary.not_understood, IsEmpty());
  }
}

// Without a descriptor it is signalled, by nobody.
TEST(ConvertSharedSync, KnowsWhatIsSignalledWithoutADescriptor) {
  SyntheticLog log = log_with_semaphore(false);
  import_it(log, true, true);
  submit(log, 0, 0);
  submit(log, 1, 0);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(findings_of(result.text), SizeIs(1));
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
}

// An export as a copy takes the signal, as a wait does.
TEST(ConvertSharedSync, TakesTheSignalOfWhatIsExportedAsACopy) {
  for (const uint32_t handle_type : {kOpaque, kSyncFile}) {
    SyntheticLog log = log_with_semaphore(false);
    submit(log, 0, 1);
    export_it(log, handle_type);
    submit(log, 1, 0);
    const ConvertedLog result = converted(log.bytes());
    const bool is_taken = handle_type == kSyncFile;
    EXPECT_THAT(findings_of(result.text), SizeIs(is_taken ? 1 : 0));
    EXPECT_THAT(result.summary.remarks, ElementsAre(Pair(kExported, 1)));
    if (is_taken) {
      EXPECT_THAT(result.summary.not_understood, ElementsAre(Pair(kWaitForNobody, 1)));
    } else {
      EXPECT_THAT(result.summary.not_understood, IsEmpty());
    }
  }
}

// The host learns nothing of the application's own work from a fence of others, until it submits
// it.
TEST(ConvertSharedSync, LearnsNothingFromAFenceOfOthers) {
  for (const bool is_submitted_again : {false, true}) {
    SyntheticLog log = log_with_semaphore(false);
    submit(log, 0, 0, kFence);
    log.append(ShareSyncRecord{kFence, VK_OBJECT_TYPE_FENCE, 1, kOpaque, 0, 0, 0});
    if (is_submitted_again) log.append(SubmitRecord{kQueue, kFence, {}});
    log.append(FenceReachedRecord{{kFence}});
    submit(log, 0, 0);
    const ConvertedLog result = converted(log.bytes());
    EXPECT_EQ(result.error, "");
    EXPECT_THAT(findings_of(result.text), SizeIs(is_submitted_again ? 0 : 1));
    EXPECT_THAT(result.summary.not_understood, SizeIs(is_submitted_again ? 0 : 1));
    EXPECT_THAT(
        result.summary.remarks,
        ElementsAre(Key("fences that are imported (what others do with them is not seen)")));
  }
}

TEST(ConvertSharedSync, NamesAValueOfATimelineOfOthers) {
  SyntheticLog log = log_with_semaphore(true);
  import_it(log, false);
  log.append(SemaphoreReachedRecord{kSemaphore, 3});
  EXPECT_THAT(
      converted(log.bytes()).summary.not_understood,
      ElementsAre(Key("a value of a timeline that was imported (who signals it is not seen)")));
}

// Others may signal 1 before the application signals 2: a wait for 1 is not one for 2.
TEST(ConvertSharedSync, TakesNoLaterSignalOfItsOwnForOneOfOthers) {
  for (const bool is_imported : {false, true}) {
    for (const bool is_host : {false, true}) {
      SyntheticLog log = log_with_semaphore(true);
      if (is_imported) {
        import_it(log, false);
      } else {
        export_it(log, kOpaque);
      }
      submit(log, 0, 2);
      if (is_host) {
        log.append(SemaphoreReachedRecord{kSemaphore, 1});
        submit(log, 0, 0);
      } else {
        submit(log, 1, 0);
      }
      const ConvertedLog result = converted(log.bytes());
      EXPECT_EQ(result.error, "");
      EXPECT_THAT(findings_of(result.text), SizeIs(1)) << result.text;
      EXPECT_THAT(result.summary.not_understood, SizeIs(1));
    }
  }
}

constexpr uint64_t kOther = 70;  // Of the same kind, in each log below.
constexpr uint64_t kFile = 3;

ShareSyncRecord shared(uint64_t object, VkObjectType type, bool is_import, bool is_copy,
                       uint64_t file = kFile) {
  const bool is_fence = type == VK_OBJECT_TYPE_FENCE;
  const uint32_t copy = is_fence ? kSyncFileOfFence : kSyncFile;
  return {object, type, is_import ? 1u : 0u, is_copy ? copy : kOpaque, is_copy ? 1u : 0u, 0, file};
}

void submit_with(SyntheticLog& log, const std::vector<SemaphoreUseFields>& waits,
                 const std::vector<SemaphoreUseFields>& signals, uint64_t fence = 0) {
  log.append(SubmitRecord{kQueue, fence, {{waits, {kCommands}, signals}}});
}

// By another file it is one of others.
TEST(ConvertSharedSync, OrdersByASemaphoreThatIsImportedWhereItWasExported) {
  constexpr VkObjectType kType = VK_OBJECT_TYPE_SEMAPHORE;
  for (const bool is_timeline : {false, true}) {
    for (const bool is_copy : {false, true}) {
      if (is_timeline && is_copy) continue;
      for (const uint64_t file : {kFile, uint64_t{4}, uint64_t{0}}) {
        SyntheticLog log = log_with_semaphore(is_timeline);
        log.append(CreateSemaphoreRecord{kOther, is_timeline ? 1u : 0u, 0});
        // What it holds is signalled before it is shared, or later; a copy has what was there.
        if (is_copy) submit_with(log, {}, {{kSemaphore, 0, kAll}});
        log.append(shared(kSemaphore, kType, false, is_copy));
        log.append(shared(kOther, kType, true, is_copy, file));
        if (!is_copy) submit_with(log, {}, {{kSemaphore, 1, kAll}});
        submit_with(log, {{kOther, 1, kAll}}, {});
        const ConvertedLog result = converted(log.bytes());
        EXPECT_EQ(result.error, "");
        const bool is_known = file == kFile;
        EXPECT_THAT(findings_of(result.text), SizeIs(is_known ? 0 : 1)) << result.text;
        EXPECT_THAT(result.summary.not_understood, SizeIs(is_known ? 0 : 1));
      }
    }
  }
}

// The other one goes on where the first one is gone, and what was exported as long as its file.
TEST(ConvertSharedSync, KeepsWhatIsSharedAsLongAsOneOfThem) {
  for (const bool is_imported_later : {false, true}) {
    SyntheticLog log = log_with_semaphore(true);
    log.append(CreateSemaphoreRecord{kOther, 1, 0});
    log.append(shared(kSemaphore, VK_OBJECT_TYPE_SEMAPHORE, false, false));
    if (!is_imported_later) log.append(shared(kOther, VK_OBJECT_TYPE_SEMAPHORE, true, false));
    submit_with(log, {}, {{kSemaphore, 1, kAll}});
    log.append(DestroyRecord{VK_OBJECT_TYPE_SEMAPHORE, kSemaphore});
    if (is_imported_later) log.append(shared(kOther, VK_OBJECT_TYPE_SEMAPHORE, true, false));
    submit_with(log, {{kOther, 1, kAll}}, {{kOther, 2, kAll}});
    log.append(SemaphoreReachedRecord{kOther, 2});
    submit_with(log, {}, {});
    const ConvertedLog result = converted(log.bytes());
    EXPECT_EQ(result.error, "");
    EXPECT_THAT(findings_of(result.text), IsEmpty()) << result.text;
    EXPECT_THAT(result.summary.not_understood, IsEmpty());
  }
}

// Many files: those that were exported long ago are not looked for.
TEST(ConvertSharedSync, ForgetsWhatWasExportedLongAgo) {
  for (const uint64_t count : {10u, 2000u}) {
    SyntheticLog log = log_with_semaphore(false);
    log.append(CreateSemaphoreRecord{kOther, 0, 0});
    submit_with(log, {}, {{kSemaphore, 0, kAll}});
    for (uint64_t i = 0; i < count; ++i) {
      log.append(shared(kSemaphore, VK_OBJECT_TYPE_SEMAPHORE, false, i > 0, 1 + i));
    }
    log.append(shared(kOther, VK_OBJECT_TYPE_SEMAPHORE, true, false, 1));
    EXPECT_THAT(converted(log.bytes()).summary.not_understood, IsEmpty());
    submit_with(log, {{kOther, 0, kAll}}, {});
    // A copy has taken the signal; whose it was is known only while the file is.
    EXPECT_EQ(converted(log.bytes()).summary.not_understood.count(kWaitForOthers),
              count == 10 ? 0u : 1u);
  }
}

TEST(ConvertSharedSync, LearnsFromAFenceThatIsImportedWhereItWasExported) {
  for (const bool is_copy : {false, true}) {
    for (const bool is_reset : {false, true}) {
      SyntheticLog log = log_with_semaphore(false);
      if (is_copy) submit_with(log, {}, {}, kFence);
      log.append(shared(kFence, VK_OBJECT_TYPE_FENCE, false, is_copy));
      log.append(shared(kOther, VK_OBJECT_TYPE_FENCE, true, is_copy));
      if (!is_copy) submit_with(log, {}, {}, kFence);
      // As if it was: no fence is signalled any more then.
      if (is_reset) log.append(ResetFencesRecord{{kOther}});
      log.append(FenceReachedRecord{{kOther}});
      submit_with(log, {}, {});
      const ConvertedLog result = converted(log.bytes());
      EXPECT_EQ(result.error, "");
      EXPECT_THAT(findings_of(result.text), SizeIs(is_reset ? 1 : 0));
      EXPECT_THAT(result.summary.not_understood, IsEmpty());
    }
  }
}

// A copy of a fence is a file that a semaphore can take.
TEST(ConvertSharedSync, TakesACopyOfAFenceForASemaphore) {
  for (const bool is_copy : {false, true}) {
    SyntheticLog log = log_with_semaphore(false);
    submit_with(log, {}, {}, kFence);
    log.append(shared(kFence, VK_OBJECT_TYPE_FENCE, false, is_copy));
    log.append(shared(kSemaphore, VK_OBJECT_TYPE_SEMAPHORE, true, is_copy));
    submit_with(log, {{kSemaphore, 0, kAll}}, {});
    const ConvertedLog result = converted(log.bytes());
    EXPECT_THAT(findings_of(result.text), SizeIs(is_copy ? 0 : 1));
    EXPECT_THAT(result.summary.not_understood, SizeIs(is_copy ? 0 : 1));
  }
}

// It was of others, and is signalled by nobody now: the host may wait for it.
TEST(ConvertSharedSync, LearnsNothingOfAFenceThatIsImportedSignalled) {
  for (const bool was_exported : {false, true}) {
    SyntheticLog log = log_with_semaphore(false);
    ShareSyncRecord record = shared(kFence, VK_OBJECT_TYPE_FENCE, true, false, 0);
    log.append(record);
    record.is_signalled = 1;
    if (was_exported) {
      ShareSyncRecord of_own = shared(kOther, VK_OBJECT_TYPE_FENCE, false, true, 0);
      of_own.is_signalled = 1;
      log.append(of_own);
    }
    log.append(record);
    log.append(FenceReachedRecord{{kFence}});
    log.submit(kQueue, kCommands);
    // Signalled without a file may be what was exported so: what it came after is not known.
    EXPECT_THAT(converted(log.bytes()).summary.not_understood, SizeIs(was_exported ? 1 : 0));
  }
}

TEST(ConvertSharedSync, TakesWhatAHostileLogSays) {
  SyntheticLog log = log_with_semaphore(false);
  for (const uint64_t object : {kSemaphore, kFence, kQueue}) {
    for (uint32_t bits = 0; bits < 16; ++bits) {
      log.append(ShareSyncRecord{
          object, (bits & 1) != 0 ? VK_OBJECT_TYPE_FENCE : VK_OBJECT_TYPE_SEMAPHORE, bits >> 1 & 1,
          bits == 5 ? kSyncFile : 77u, bits >> 2 & 1, bits >> 3 & 1, bits & 3});
      log.append(ResetFencesRecord{{object, kFence}});
      submit(log, 1, 2, kFence);
    }
  }
  EXPECT_EQ(converted(log.bytes()).error, "");
}

}  // namespace
}  // namespace interlock::convert_shared_sync_test
