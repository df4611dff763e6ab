// Logs are untrusted: whatever is in them, the conversion ends, and writes a program or says why
// not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>

#include "capture/log/log_format.h"
#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_hostile_test {
namespace {

using testing::HasSubstr;

std::string whole_log() {
  SyntheticLog log;
  log.append(QueueRecord{1, 100, 0, 0});
  for (const uint64_t buffer : {1, 2, 3}) log.add_buffer(buffer);
  log.add_pipeline(1);
  log.add_set(1, 1, 2);
  log.append(BeginCommandsRecord{200, 0});
  log.add_dispatch(200, 1, 1);
  log.add_barrier(200, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_WRITE_BIT,
                  VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_READ_BIT);
  log.append(CreateSemaphoreRecord{50, 1, 0});
  log.append(SubmitRecord{100, 7, {{{{50, 1, 1}}, {200, 200}, {{50, 2, 1}}}}});
  log.append(FenceReachedRecord{{7}});
  return log.bytes();
}

TEST(ConvertHostile, EndsWithEveryByteOfALogChanged) {
  const std::string log = whole_log();
  size_t program_count = 0;
  for (size_t i = 0; i < log.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string changed = log;
      changed[i] = static_cast<char>(changed[i] ^ change);
      const ConvertedLog result = converted(changed);
      // Errors are those of the log; what is written is always a program.
      EXPECT_THAT(result.error, Not(HasSubstr("test.ilk"))) << i;
      program_count += result.error.empty() ? 1 : 0;
    }
  }
  EXPECT_GT(program_count, log.size());
}

TEST(ConvertHostile, RefusesAnUnknownKind) {
  std::string log = whole_log();
  log[kLogHeaderBytes + 4] = 99;
  EXPECT_THAT(converted(log).error, HasSubstr("byte 16: error: no record has the kind 99."));
}

// Each list executes the one before it twice.
TEST(ConvertHostile, ExecutesNoTreeOfSecondaryCommandBuffers) {
  SyntheticLog log;
  log.append(QueueRecord{1, 100, 0, 0});
  log.append(BeginCommandsRecord{1000, 0});
  log.append(NotUnderstoodCommandRecord{1000, "x"});
  for (uint64_t i = 1001; i < 1064; ++i) {
    log.append(BeginCommandsRecord{i, 0});
    log.append(ExecuteCommandsRecord{i, {i - 1, i - 1}});
  }
  log.submit(100, 1063);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.summary.not_understood.at("a secondary command buffer within another"), 4u);
}

// Each list executes the next one, which is begun before: whoever lets go of the first one must not
// let go of the rest within it. Two that execute each other let go of each other.
TEST(ConvertHostile, KeepsNoChainOfCommandBuffers) {
  SyntheticLog log;
  log.append(QueueRecord{1, 100, 0, 0});
  constexpr uint64_t kEnd = 201000;
  for (uint64_t i = 1000; i < kEnd; ++i) log.append(ExecuteCommandsRecord{i, {i + 1}});
  for (uint64_t i = 1000; i <= kEnd; ++i) log.append(ExecuteCommandsRecord{i + 1, {i}});
  log.submit(100, 1002);
  EXPECT_GE(
      converted(log.bytes()).summary.not_understood.at("a secondary command buffer within another"),
      1u);
}

// Formats that nobody has defined, and aspects that a format does not have.
TEST(ConvertHostile, TakesAnyFormatAndAspect) {
  for (const uint32_t format : {0u, 1u, 130u, 147u, 185u, 1000156003u, 1000340000u, 77777u, ~0u}) {
    SyntheticLog log;
    log.append(QueueRecord{1, 100, 0, 0});
    log.add_buffer(1);
    CreateImageRecord image;
    image.image = 2;
    image.format = format;
    image.width = image.height = image.depth = 5;
    image.mip_count = image.layer_count = 1;
    log.append(image);
    log.append(BindImageRecord{2, 1, 0, 1024, 0});
    TransferEndFields texels;
    texels.handle = 2;
    texels.is_image = 1;
    texels.range = {~0u, 0, 1, 0, 1};
    texels.width = texels.height = texels.depth = 3;
    TransferEndFields bytes;
    bytes.handle = 1;
    log.append(BeginCommandsRecord{200, 0});
    log.append(TransferRecord{200, TransferUse::kCopy, {{{bytes}, {texels}}, {{}, {texels}}}});
    log.submit(100, 200);
    EXPECT_EQ(converted(log.bytes()).error, "") << format;
  }
}

// Sizes and offsets at the ends of their ranges.
TEST(ConvertHostile, ClipsWhatReachesPastItsMemory) {
  SyntheticLog log;
  log.append(QueueRecord{1, 100, 0, 0});
  for (const uint64_t buffer : {1, 2}) {
    log.append(AllocateMemoryRecord{buffer, UINT64_MAX, 0});
    log.append(CreateBufferRecord{buffer, UINT64_MAX, 0, 0});
    log.append(BindBufferRecord{buffer, buffer, UINT64_MAX - 64});
  }
  log.add_pipeline(1);
  log.add_set(1, 1, 2);
  log.append(BeginCommandsRecord{200, 0});
  log.add_dispatch(200, 1, 1);
  log.submit(100, 200);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
}

}  // namespace
}  // namespace interlock::convert_hostile_test
