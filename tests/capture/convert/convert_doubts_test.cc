// What a log leaves open is named, and never taken for more order than there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>

#include "capture/convert/convert.h"
#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_doubts_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

constexpr uint64_t kQueue = 100;
constexpr uint64_t kCommands = 200;

// Buffers 1 to 3, sets 1 (1 to 2) and 2 (2 to 3), pipeline 1.
SyntheticLog log_with_objects() {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.add_chain();
  log.append(BeginCommandsRecord{kCommands, 0});
  return log;
}

DependencyFields from_write_to_read(DependencyObject object, uint64_t handle) {
  DependencyFields fields;
  fields.object = object;
  fields.handle = handle;
  fields.size_bytes = VK_WHOLE_SIZE;
  fields.source_stages = fields.destination_stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
  fields.source_accesses = VK_ACCESS_2_SHADER_WRITE_BIT;
  fields.destination_accesses = VK_ACCESS_2_SHADER_READ_BIT;
  return fields;
}

// --- Barriers ---

// An image of 100 layers and 2 mips; set 3 writes both mips of all layers, set 4 reads those of
// `read`. The barrier is about the first mips.
ConvertedLog with_barrier_on_first_mips(const SubresourceFields& read) {
  SyntheticLog log = log_with_objects();
  CreateImageRecord image;
  image.image = 9;
  image.type = VK_IMAGE_TYPE_2D;
  image.format = VK_FORMAT_R8G8B8A8_UNORM;
  image.width = image.height = 4;
  image.depth = image.sample_count = 1;
  image.mip_count = 2;
  image.layer_count = 100;
  log.append(image);
  log.append(AllocateMemoryRecord{9, 8000, 0});
  log.append(BindImageRecord{9, 9, 0, 0});
  const SubresourceFields all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 2, 0, 100};
  log.append(CreateImageViewRecord{7, 9, VK_IMAGE_VIEW_TYPE_2D_ARRAY, all});
  log.append(CreateImageViewRecord{8, 9, VK_IMAGE_VIEW_TYPE_2D_ARRAY, read});
  log.add_set(3, 1, 2);
  log.add_set(4, 1, 2);
  log.append(UpdateSetsRecord{{{3, 1, 0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, {{7, 0, 0}}},
                               {4, 0, 0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, {{8, 0, 0}}}},
                              {}});
  log.add_dispatch(kCommands, 1, 3);
  DependencyFields fields = from_write_to_read(DependencyObject::kImage, 9);
  fields.range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, VK_REMAINING_ARRAY_LAYERS};
  log.append(BarrierRecord{kCommands, {fields}});
  log.add_dispatch(kCommands, 1, 4);
  log.submit(kQueue, kCommands);
  return converted(log.bytes());
}

TEST(ConvertDoubts, CoversWithABarrierNoMipBetweenThoseThatItNames) {
  const ConvertedLog first = with_barrier_on_first_mips({VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 7, 1});
  EXPECT_EQ(first.error, "");
  EXPECT_THAT(first.text, HasSubstr("m4[0:7984 rows 100 pitch 80 width 64]\n"));
  EXPECT_THAT(first.summary.not_understood, IsEmpty());
  EXPECT_THAT(findings_of(first.text), IsEmpty());
  const ConvertedLog second = with_barrier_on_first_mips({VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 7, 1});
  EXPECT_THAT(findings_of(second.text), ElementsAre(StartsWith("possible RAW hazard: ")));
}

// 300 operands of one pair of scopes leave none for those of another, which must not cover all.
TEST(ConvertDoubts, CoversNothingWithOperandsThatABarrierHasNoRoomFor) {
  for (const uint64_t count : {uint64_t{10}, uint64_t{300}}) {
    SyntheticLog log = log_with_objects();
    BarrierRecord barrier{kCommands, {}};
    for (uint64_t buffer = 1000; buffer < 1000 + count; ++buffer) {
      log.add_buffer(buffer);
      barrier.dependencies.push_back(from_write_to_read(DependencyObject::kBuffer, buffer));
      barrier.dependencies.back().destination_stages = VK_PIPELINE_STAGE_2_HOST_BIT;
    }
    barrier.dependencies.push_back(from_write_to_read(DependencyObject::kBuffer, 2));
    log.add_dispatch(kCommands, 1, 1);
    log.append(barrier);
    log.add_dispatch(kCommands, 1, 2);
    log.submit(kQueue, kCommands);
    const ConvertedLog result = converted(log.bytes());
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(findings_of(result.text).size(), count > 256 ? 1u : 0u);
    EXPECT_EQ(result.summary.not_understood.count("a barrier with more operands than one may have"),
              count > 256 ? 1u : 0u);
  }
}

// --- What is not known ---

// As where the device is lost: what was submitted before is judged, and there is no verdict beside.
TEST(ConvertDoubts, NamesCallsThatFailed) {
  SyntheticLog log = log_with_objects();
  log.add_dispatch(kCommands, 1, 1);
  log.add_dispatch(kCommands, 1, 2);
  log.submit(kQueue, kCommands);
  log.submit(kQueue, kCommands);
  log.append(ResultRecord{"vkQueueSubmit", VK_ERROR_DEVICE_LOST, kQueue});
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(findings_of(result.text), testing::Contains(HasSubstr("RAW hazard: s1.b0.c1 ")));
  EXPECT_THAT(result.summary.not_understood,
              ElementsAre(Key("vkQueueSubmit that returned VK_ERROR_DEVICE_LOST")));
}

// So that "0 of 3 submissions" says that all of it was understood.
TEST(ConvertDoubts, CountsSubmissionsWithWhateverWasNotUnderstood) {
  const auto unknown_of = [](const auto& add) {
    SyntheticLog log = log_with_objects();
    add(log, 0);
    log.submit(kQueue, kCommands);
    add(log, 1);
    log.submit(kQueue, kCommands);
    log.submit(kQueue, kCommands);
    add(log, 2);
    return converted(log.bytes()).summary.unknown_submission_count;
  };
  EXPECT_EQ(unknown_of([](SyntheticLog&, int) {}), 0u);
  for (int place = 0; place < 3; ++place) {
    EXPECT_EQ(unknown_of([place](SyntheticLog& log, int now) {
                if (now == place) log.append(NotUnderstoodRecord{"vkSetEvent"});
              }),
              1u)
        << place;
  }
  // Both are of the last one.
  EXPECT_EQ(unknown_of([](SyntheticLog& log, int now) {
              if (now == 2) log.append(NotUnderstoodRecord{"vkSetEvent"});
              if (now == 2) log.append(NotUnderstoodRecord{"vkSetEvent"});
            }),
            1u);
  // Of a device, whatever it does.
  EXPECT_EQ(unknown_of([](SyntheticLog& log, int now) {
              if (now == 0) log.append(DeviceRecord{1, "device", "VK_EXT_unheard_of", 1u << 22});
            }),
            3u);
  constexpr uint64_t kUnknownStage = uint64_t{1} << 62;
  // Stages of a barrier that nobody knows.
  EXPECT_EQ(unknown_of([](SyntheticLog& log, int now) {
              if (now == 1)
                log.add_barrier(kCommands, kUnknownStage, 0, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                0);
            }),
            2u);
}

TEST(ConvertDoubts, NamesBuffersWithoutMemory) {
  SyntheticLog log = log_with_objects();
  log.append(CreateBufferRecord{4, 1024, 0, 0});
  log.append(CreateBufferRecord{5, 1024, 0, 0});
  log.append(BindBufferRecord{5, 77, 0});
  log.add_set(3, 1, 4);
  log.add_dispatch(kCommands, 1, 3);
  TransferEndFields end;
  end.handle = 5;
  end.size_bytes = VK_WHOLE_SIZE;
  log.append(TransferRecord{kCommands, TransferUse::kFill, {{{}, {end}}}});
  log.append(DispatchIndirectRecord{kCommands, 5, 0});
  log.submit(kQueue, kCommands);
  EXPECT_THAT(
      converted(log.bytes()).summary.not_understood,
      UnorderedElementsAre(Key("a descriptor of a buffer or an image that is not known"),
                           Key("a transfer of a buffer or an image that is not known"),
                           Key("a dispatch whose arguments are in a buffer that is not known")));
}

TEST(ConvertDoubts, NamesImagesWhoseMemoryIsNotKnownOrHasNoRoom) {
  SyntheticLog log = log_with_objects();
  CreateImageRecord image;
  image.format = VK_FORMAT_R8G8B8A8_UNORM;
  image.width = image.height = 16;
  image.depth = image.mip_count = image.layer_count = 1;
  for (image.image = 20; image.image < 23; ++image.image) log.append(image);
  log.append(BindImageRecord{20, 77, 0, 0});
  log.append(BindImageRecord{21, 1, 1, 0});
  log.append(BindImageRecord{22, 1, 0, VK_IMAGE_ASPECT_PLANE_1_BIT});
  EXPECT_THAT(converted(log.bytes()).summary.not_understood,
              UnorderedElementsAre(Key("an image that is bound to memory that is not known"),
                                   Key("an image for which its memory has no room here"),
                                   Key("a plane of an image with memory of its own")));
}

TEST(ConvertDoubts, NamesImagesOfFormatsThatAreNotKnown) {
  for (const uint32_t format : {uint32_t{VK_FORMAT_R8_UNORM}, uint32_t{VK_FORMAT_D24_UNORM_S8_UINT},
                                uint32_t{VK_FORMAT_BC1_RGB_UNORM_BLOCK},
                                uint32_t{VK_FORMAT_G8_B8R8_2PLANE_420_UNORM}, 0u, 1'000'470'000u}) {
    SyntheticLog log;
    CreateImageRecord image;
    image.image = 1;
    image.format = format;
    log.append(image);
    EXPECT_EQ(converted(log.bytes()).summary.not_understood.size(),
              format == 0 || format == 1'000'470'000u ? 1u : 0u)
        << format;
  }
}

// The pipeline layout with which a set was bound tells how many dynamic offsets it takes.
TEST(ConvertDoubts, NamesADynamicOffsetThatIsNotKnown) {
  SyntheticLog log = log_with_objects();
  log.append(CreateSetLayoutRecord{5, 0, {{1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, 1, 0}}});
  log.append(AllocateSetsRecord{1, {5}, {5}, {}});
  log.append(
      UpdateSetsRecord{{{5, 1, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, {{2, 0, 16}}}}, {}});
  log.append(BindPipelineRecord{kCommands, VK_PIPELINE_BIND_POINT_COMPUTE, 1});
  log.append(BindSetsRecord{kCommands, VK_PIPELINE_BIND_POINT_COMPUTE, 77, 0, {5}, {256}});
  log.append(DispatchRecord{kCommands, 1, 1, 1});
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).summary.not_understood,
              ElementsAre(Key("a dynamic offset that is not known")));
}

TEST(ConvertDoubts, NamesASecondaryCommandBufferThatIsNotKnown) {
  SyntheticLog log = log_with_objects();
  log.append(ExecuteCommandsRecord{kCommands, {999}});
  log.submit(kQueue, kCommands);
  const CaptureSummary summary = converted(log.bytes()).summary;
  EXPECT_THAT(
      summary.not_understood,
      ElementsAre(Key("a secondary command buffer that was recorded before the log began")));
  EXPECT_EQ(summary.unknown_submission_count, 1u);
}

TEST(ConvertDoubts, NamesDescriptorsThatItCannotFollow) {
  SyntheticLog log = log_with_objects();
  log.append(UpdateSetsRecord{
      {{1, 0, 0, VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR, {{UINT64_MAX, 0, 0}}},
       {1, 7, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, {{1, 0, 4}}}},
      {{1, 0, 0, 55, 0, 0, 1}}});
  log.add_dispatch(kCommands, 1, 1);
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).summary.not_understood,
              UnorderedElementsAre(Key("a descriptor of another type than buffers and images"),
                                   Key("a descriptor that the layout of its set has not"),
                                   Key("a copy between descriptor sets that are not known")));
}

TEST(ConvertDoubts, NamesExtensionsAndVersionsThatTheLayerDoesNotFollow) {
  SyntheticLog log;
  log.append(DeviceRecord{1, "device",
                          "VK_KHR_swapchain VK_KHR_acceleration_structure VK_EXT_host_image_copy",
                          VK_MAKE_API_VERSION(0, 1, 4, 0)});
  EXPECT_THAT(converted(log.bytes()).summary.not_understood,
              UnorderedElementsAre(Key("the extension VK_KHR_acceleration_structure"),
                                   Key("the extension VK_EXT_host_image_copy"), Key("Vulkan 1.4")));
  SyntheticLog known;
  known.append(DeviceRecord{1, "device", "VK_EXT_host_query_reset VK_KHR_push_descriptor",
                            VK_API_VERSION_1_3});
  EXPECT_THAT(converted(known.bytes()).summary.not_understood, IsEmpty());
}

TEST(ConvertDoubts, PrintsNoNameAsItIs) {
  SyntheticLog log = log_with_objects();
  log.append(ProcessRecord{1, "a\x1b[2Jb\n", std::string(100'000, 'x')});
  log.append(NotUnderstoodCommandRecord{kCommands, "c\x1b[2Jd" + std::string(100'000, 'y')});
  for (int i = 0; i < 3000; ++i) log.append(NotUnderstoodRecord{std::to_string(i)});
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_LE(result.summary.not_understood.size(), 1001u);
  const std::string text = text_of(result.summary);
  EXPECT_THAT(text, StartsWith("captured: a?[2Jb? (xxx"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_LT(text.size(), 100'000u);
}

// --- The host ---

TEST(ConvertDoubts, TakesAFlushForABoundOfWhatTheHostWrote) {
  SyntheticLog log = log_with_objects();
  log.add_dispatch(kCommands, 1, 1);
  TransferEndFields end;
  end.handle = 3;
  end.size_bytes = VK_WHOLE_SIZE;
  log.append(TransferRecord{kCommands, TransferUse::kFill, {{{}, {end}}}});
  log.submit(kQueue, kCommands);
  log.append(HostRangeRecord{HostRangeUse::kFlush, 1, 0, VK_WHOLE_SIZE});
  log.append(HostRangeRecord{HostRangeUse::kFlush, 3, 0, 16});
  log.append(HostRangeRecord{HostRangeUse::kInvalidate, 2, 0, 16});
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(result.text, HasSubstr("h1: host writes m1[0:1024] approximate\n"));
  EXPECT_THAT(result.text, HasSubstr("h3: host reads m2[0:16] approximate\n"));
  EXPECT_THAT(findings_of(result.text),
              UnorderedElementsAre(StartsWith("possible WAR hazard: h1 "),
                                   StartsWith("possible WAW hazard: h2 "),
                                   StartsWith("possible RAW hazard: h3 ")));
}

}  // namespace
}  // namespace interlock::convert_doubts_test
