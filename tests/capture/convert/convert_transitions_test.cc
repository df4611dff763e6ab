// Layout transitions and transfers of ownership: what a barrier itself does to its bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_transitions_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::StartsWith;

constexpr uint64_t kImage = 9;
constexpr uint64_t kQueue = 100;
constexpr uint64_t kOtherQueue = 101;
constexpr uint64_t kCommands = 200;
constexpr uint64_t kOtherCommands = 201;
constexpr uint64_t kCopy = VK_PIPELINE_STAGE_2_COPY_BIT;
constexpr uint64_t kCopyWrite = VK_ACCESS_2_TRANSFER_WRITE_BIT;
constexpr uint64_t kAllStagesOfAll = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;

// Queues of the families 0 and 1, and an image of 64 bytes in memory m1.
SyntheticLog log_with_image() {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.append(QueueRecord{1, kOtherQueue, 1, 0});
  log.append(AllocateMemoryRecord{kImage, 64, 0});
  CreateImageRecord image;
  image.image = kImage;
  image.type = VK_IMAGE_TYPE_2D;
  image.format = VK_FORMAT_R8G8B8A8_UNORM;
  image.width = image.height = 4;
  image.depth = image.mip_count = image.layer_count = image.sample_count = 1;
  log.append(image);
  log.append(BindImageRecord{kImage, kImage, 0, 0});
  log.append(BeginCommandsRecord{kCommands, 0});
  log.append(BeginCommandsRecord{kOtherCommands, 0});
  return log;
}

void add_clear(SyntheticLog& log, uint64_t commands) {
  TransferEndFields end;
  end.handle = kImage;
  end.is_image = 1;
  end.range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  log.append(TransferRecord{commands, TransferUse::kClear, {{{}, {end}}}});
}

// From copies to copies.
DependencyFields change(VkImageLayout before, VkImageLayout after) {
  DependencyFields fields;
  fields.object = DependencyObject::kImage;
  fields.handle = kImage;
  fields.source_stages = fields.destination_stages = kCopy;
  fields.source_accesses = fields.destination_accesses = kCopyWrite;
  fields.old_layout = static_cast<uint32_t>(before);
  fields.new_layout = static_cast<uint32_t>(after);
  fields.source_family = fields.destination_family = VK_QUEUE_FAMILY_IGNORED;
  fields.range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  return fields;
}

DependencyFields change_to_source() {
  return change(VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
}

// A clear, the barrier, and a clear again.
ConvertedLog with_barrier(const DependencyFields& fields) {
  SyntheticLog log = log_with_image();
  add_clear(log, kCommands);
  log.append(BarrierRecord{kCommands, {fields}});
  add_clear(log, kCommands);
  log.submit(kQueue, kCommands);
  ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  return result;
}

TEST(ConvertTransitions, AreOrderedByTheScopesOfTheirBarriers) {
  const ConvertedLog result = with_barrier(change_to_source());
  EXPECT_THAT(result.text,
              HasSubstr("s1.b0.c1.n0: barrier copy.write -> copy.write transitions m1[0:64]\n"));
  EXPECT_THAT(findings_of(result.text), IsEmpty());
}

TEST(ConvertTransitions, RaceWithWhatTheirScopesLeaveOut) {
  DependencyFields late = change_to_source();
  late.source_stages = VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT;
  late.source_accesses = 0;
  EXPECT_THAT(with_barrier(late).text, HasSubstr("barrier none -> copy.write transitions"));
  EXPECT_THAT(findings_of(with_barrier(late).text),
              testing::Contains(StartsWith("WAW hazard: s1.b0.c1.n0 ")));
  DependencyFields early = change_to_source();
  early.destination_stages = VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT;
  early.destination_accesses = 0;
  EXPECT_THAT(findings_of(with_barrier(early).text),
              testing::Contains(StartsWith("WAW hazard: s1.b0.c2 ")));
}

TEST(ConvertTransitions, DiscardWhatIsUndefined) {
  EXPECT_THAT(with_barrier(change(VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL)).text,
              HasSubstr("s1.b0.c1.n0: barrier copy.write -> copy.write discards m1[0:64]\n"));
}

TEST(ConvertTransitions, AreNoneWhereTheLayoutStays) {
  const std::string text =
      with_barrier(change(VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL)).text;
  EXPECT_THAT(text, HasSubstr("s1.b0.c1.n0: barrier copy.write -> copy.write m1[0:64]\n"));
}

// --- Ownership ---

// Each queue has its half; the semaphore orders them, or nothing does.
ConvertedLog with_transfer(bool waits) {
  SyntheticLog log = log_with_image();
  log.append(CreateSemaphoreRecord{50, 0, 0});
  DependencyFields fields = change(VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL);
  fields.source_family = 0;
  fields.destination_family = 1;
  DependencyFields release = fields;
  release.destination_stages = release.destination_accesses = 0;
  DependencyFields acquire = fields;
  acquire.source_stages = acquire.source_accesses = 0;
  add_clear(log, kCommands);
  log.append(BarrierRecord{kCommands, {release}});
  log.append(BarrierRecord{kOtherCommands, {acquire}});
  add_clear(log, kOtherCommands);
  log.append(SubmitRecord{kQueue, 0, {{{}, {kCommands}, {{50, 0, kAllStagesOfAll}}}}});
  std::vector<SemaphoreUseFields> uses;
  if (waits) uses.push_back({50, 0, kAllStagesOfAll});
  log.append(SubmitRecord{kOtherQueue, 0, {{uses, {kOtherCommands}, {}}}});
  ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  return result;
}

TEST(ConvertTransitions, OfOwnershipAreOrderedByASemaphoreForAllStages) {
  const ConvertedLog result = with_transfer(true);
  EXPECT_THAT(result.text, HasSubstr("barrier copy.write -> all transitions m1[0:64]\n"));
  EXPECT_THAT(result.text, HasSubstr("barrier all -> copy.write transitions m1[0:64] on q1\n"));
  EXPECT_THAT(findings_of(result.text), IsEmpty());
  EXPECT_THAT(findings_of(with_transfer(false).text), Not(IsEmpty()));
}

TEST(ConvertTransitions, AreNamedAtAnEvent) {
  SyntheticLog log = log_with_image();
  log.append(SetEventRecord{kCommands, 7, 1, {change_to_source()}});
  log.append(WaitEventsRecord{kCommands, {7}, {change_to_source()}});
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.summary.not_understood,
              ElementsAre(Key("a layout transition, or a transfer of ownership, at an event")));
}

}  // namespace
}  // namespace interlock::convert_transitions_test
