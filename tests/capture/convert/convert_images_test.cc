// Images: which bytes of their memory their subresources and the regions of copies are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>

#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_images_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;

constexpr uint64_t kImage = 9;
constexpr uint64_t kQueue = 100;
constexpr uint64_t kCommands = 200;

// Buffer 1, and an image of 4-byte texels, 16 x 8, with 3 mips and 2 layers, in memory m2 at 256. A
// layer has 512 + 128 + 32 bytes.
SyntheticLog log_with_image() {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.add_buffer(1);
  log.append(AllocateMemoryRecord{kImage, 8192, 0});
  CreateImageRecord image;
  image.image = kImage;
  image.type = VK_IMAGE_TYPE_2D;
  image.format = VK_FORMAT_R8G8B8A8_UNORM;
  image.width = 16;
  image.height = 8;
  image.depth = 1;
  image.mip_count = 3;
  image.layer_count = 2;
  image.sample_count = 1;
  log.append(image);
  log.append(BindImageRecord{kImage, kImage, 256, 0});
  log.append(BeginCommandsRecord{kCommands, 0});
  return log;
}

TransferEndFields texels(int32_t x, int32_t y, uint32_t width, uint32_t height, uint32_t mip,
                         uint32_t layer) {
  TransferEndFields end;
  end.handle = kImage;
  end.is_image = 1;
  end.range = {VK_IMAGE_ASPECT_COLOR_BIT, mip, 1, layer, 1};
  end.x = x;
  end.y = y;
  end.width = width;
  end.height = height;
  end.depth = 1;
  return end;
}

TransferEndFields buffer_texels(uint64_t offset_bytes, uint32_t row_length) {
  TransferEndFields end;
  end.handle = 1;
  end.offset_bytes = offset_bytes;
  end.row_length = row_length;
  return end;
}

ConvertedLog with_transfer(const TransferRegionFields& region) {
  SyntheticLog log = log_with_image();
  log.append(TransferRecord{kCommands, TransferUse::kCopy, {region}});
  log.submit(kQueue, kCommands);
  ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  return result;
}

TEST(ConvertImages, CopiesWholeSubresourcesAtOnce) {
  EXPECT_THAT(with_transfer({{buffer_texels(64, 0)}, {texels(0, 0, 16, 8, 0, 1)}}).text,
              HasSubstr("s1.b0.c0: dispatch copy reads m1[64:576] writes m2[928:1440]\n"));
  EXPECT_THAT(with_transfer({{texels(0, 0, 8, 4, 1, 0)}, {buffer_texels(0, 0)}}).text,
              HasSubstr("s1.b0.c0: dispatch copy reads m2[768:896] writes m1[0:128]\n"));
}

TEST(ConvertImages, CopiesPartsRowByRow) {
  // Two rows of three texels, from rows of 8 texels.
  EXPECT_THAT(with_transfer({{buffer_texels(0, 8)}, {texels(2, 1, 3, 2, 0, 0)}}).text,
              HasSubstr("s1.b0.c0.r0: dispatch copy reads m1[0:12] writes m2[328:340]\n"
                        "s1.b0.c0.r1: dispatch copy reads m1[32:44] writes m2[392:404]\n"));
}

TEST(ConvertImages, ClearsTheSubresourcesThatARangeNames) {
  TransferEndFields end;
  end.handle = kImage;
  end.is_image = 1;
  end.range = {VK_IMAGE_ASPECT_COLOR_BIT, 1, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS};
  EXPECT_THAT(with_transfer({{}, {end}}).text,
              HasSubstr("s1.b0.c0.r0: dispatch fill writes m2[768:928] value=0\n"
                        "s1.b0.c0.r1: dispatch fill writes m2[1440:1600] value=0\n"));
}

// Which texel goes where is not looked at: each end is bounded.
TEST(ConvertImages, BoundsWhatScales) {
  SyntheticLog log = log_with_image();
  log.append(TransferRecord{
      kCommands, TransferUse::kBlit, {{{texels(0, 0, 16, 8, 0, 0)}, {texels(0, 0, 8, 4, 1, 1)}}}});
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text,
              HasSubstr("s1.b0.c0: dispatch Blit in copy reads m2[256:768] writes m2[1440:1568] "
                        "partial approximate\n"));
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_EQ(result.summary.approximate_count, 1u);
}

// A box of more rows than are copied one by one.
TEST(ConvertImages, BoundsACopyOfManyRows) {
  SyntheticLog log = log_with_image();
  CreateImageRecord image;
  image.format = VK_FORMAT_R8_UNORM;
  image.width = 4;
  image.height = 20'000;
  image.depth = image.mip_count = image.layer_count = image.is_of_swapchain = 1;
  TransferRegionFields region{{texels(1, 0, 2, 20'000, 0, 0)}, {texels(0, 0, 2, 20'000, 0, 0)}};
  image.image = region.from.front().handle = 20;
  log.append(image);
  image.image = region.to.front().handle = 21;
  log.append(image);
  log.append(TransferRecord{kCommands, TransferUse::kCopy, {region}});
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).text,
              HasSubstr("dispatch Copy in copy reads m3[1:79999] writes m4[0:79998] partial"));
}

TEST(ConvertImages, LimitsABarrierToItsSubresources) {
  SyntheticLog log = log_with_image();
  DependencyFields fields;
  fields.object = DependencyObject::kImage;
  fields.handle = kImage;
  fields.source_stages = VK_PIPELINE_STAGE_2_COPY_BIT;
  fields.source_accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT;
  fields.destination_stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
  fields.destination_accesses = VK_ACCESS_2_SHADER_READ_BIT;
  fields.range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 1, 1};
  log.append(BarrierRecord{kCommands, {fields}});
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(result.text,
              HasSubstr("s1.b0.c0.n0: barrier copy.write -> compute.read m2[928:1440]\n"));
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
}

// Two images on the same bytes.
TEST(ConvertImages, ShareTheBytesOfTheMemoryThatTheyShare) {
  SyntheticLog log = log_with_image();
  CreateImageRecord other;
  other.image = 10;
  other.format = VK_FORMAT_R8_UNORM;
  other.width = 8;
  other.height = 8;
  other.depth = other.mip_count = other.layer_count = 1;
  log.append(other);
  log.append(BindImageRecord{10, kImage, 320, 0});
  TransferEndFields whole;
  whole.is_image = 1;
  whole.range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  whole.handle = kImage;
  TransferEndFields whole_other = whole;
  whole_other.handle = 10;
  log.append(TransferRecord{kCommands, TransferUse::kClear, {{{}, {whole}}}});
  log.append(TransferRecord{kCommands, TransferUse::kClear, {{{}, {whole_other}}}});
  log.submit(kQueue, kCommands);
  EXPECT_THAT(
      findings_of(converted(log.bytes()).text),
      ElementsAre(HasSubstr("s1.b0.c1 (dispatch 1) writes m2[320:384], which s1.b0.c0 (dispatch")));
}

// An image that is larger here than its memory has bytes of its own.
TEST(ConvertImages, HaveBytesOfTheirOwnWhereTheyDoNotFit) {
  SyntheticLog log = log_with_image();
  log.append(BindImageRecord{kImage, kImage, 8000, 0});
  log.append(TransferRecord{
      kCommands, TransferUse::kCopy, {{{buffer_texels(0, 0)}, {texels(0, 0, 16, 8, 0, 0)}}}});
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).text,
              HasSubstr("memory m3 1344\n"
                        "s1.b0.c0: dispatch copy reads m1[0:512] writes m3[0:512]\n"));
}

}  // namespace
}  // namespace interlock::convert_images_test
