// Logs are untrusted: whatever is in them, the conversion ends, and writes a program or says why
// not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "capture/log/exact_records.h"
#include "capture/log/graphics_records.h"
#include "capture/log/log_format.h"
#include "capture/log/run_records.h"
#include "tests/capture/convert/synthetic_log.h"
#include "tests/program_count.h"

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
  CreateRenderPassRecord pass;
  pass.render_pass = 1;
  pass.attachments = {{VK_ATTACHMENT_LOAD_OP_LOAD, 0, 0, 1}};
  pass.subpasses = {{{{AttachmentUse::kInput, 0, 2}}}, {{{AttachmentUse::kColor, 0, 2}}}};
  pass.dependencies = {{0, 1, 1, 2, 1, 2}, {1, VK_SUBPASS_EXTERNAL, 1, 2, 1, 2}};
  log.append(pass);
  CreateImageRecord image;
  image.image = 1;
  image.format = VK_FORMAT_R8G8B8A8_UNORM;
  image.width = image.height = image.depth = image.mip_count = image.layer_count = 1;
  log.append(image);
  log.append(BindImageRecord{1, 1, 0, 0});
  log.append(CreateImageViewRecord{1, 1, 1, {1, 0, 1, 0, 1}});
  log.append(CreateFramebufferRecord{1, {1}});
  log.append(BeginPassRecord{200, 1, 1, {}});
  log.append(BindIndexBufferRecord{200, 1, 4, 2});
  log.append(NextSubpassRecord{200});
  log.append(DrawRecord{200, 1, 1, 3, {{1, 8, 4}}});
  log.append(EndPassRecord{200});
  log.append(CreateSemaphoreRecord{50, 1, 0});
  log.append(SubmitRecord{100, 7, {{{{50, 1, 1}}, {200, 200}, {{50, 2, 1}}}}});
  log.append(FenceReachedRecord{{7}});
  log.append(SubmitRecord{100, 8, {{{{50, 2, 1}}, {200}, {{50, 3, 1}}}}});
  log.append(WaitIdleRecord{1, 100});
  log.append(BeginCommandsRecord{201, 0});
  log.append(SubmitRecord{100, 0, {{{}, {201}, {}}}});
  log.append(HostRangeRecord{HostRangeUse::kInvalidate, 2, 0, 64});
  return log.bytes();
}

TEST(ConvertHostile, EndsWithEveryByteOfALogChanged) {
  const std::string log = whole_log();
  size_t program_count = 0;
  const size_t step = is_slow_build() ? 7 : 1;
  for (size_t i = 0; i < log.size(); i += step) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string changed = log;
      changed[i] = static_cast<char>(changed[i] ^ change);
      const ConvertedLog result = converted(changed);
      // Errors are those of the log; what is written is always a program.
      EXPECT_THAT(result.error, Not(HasSubstr("test.ilk"))) << i;
      program_count += result.error.empty() ? 1 : 0;
      // In windows, too.
      if (result.error.empty() && change == 0x01) windows_of(changed);
    }
  }
  EXPECT_GT(program_count, log.size() / step);
}

TEST(ConvertHostile, RefusesAnUnknownKind) {
  std::string log = whole_log();
  log[kLogHeaderBytes + 4] = 127;
  EXPECT_THAT(converted(log).error, HasSubstr("byte 16: error: no record has the kind 127."));
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
  constexpr uint64_t kEnd = is_slow_build() ? 21000 : 201000;
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
    log.append(BindImageRecord{2, 1, 0, 0});
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

// Sets with room for a million descriptors, of which the last one is written.
TEST(ConvertHostile, KeepsOfASetWhatWasWritten) {
  SyntheticLog log;
  log.append(QueueRecord{1, 100, 0, 0});
  for (const uint64_t buffer : {1, 2}) log.add_buffer(buffer);
  log.add_pipeline(1);
  log.append(
      CreateSetLayoutRecord{5, 0, {{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, (1u << 20) - 1, 0}}});
  for (uint64_t set = 1000; set < 3000; ++set) {
    log.append(AllocateSetsRecord{1, {set}, {5}, {}});
    log.append(UpdateSetsRecord{
        {{set, 0, (1u << 20) - 2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, {{1, 0, 64}}}}, {}});
  }
  log.append(BeginCommandsRecord{200, 0});
  log.add_dispatch(200, 1, 2999);
  log.submit(100, 200);
  EXPECT_THAT(converted(log.bytes()).text, HasSubstr("reads m1[0:64] approximate"));
}

// Many sets are bound, and again before each dispatch.
TEST(ConvertHostile, KeepsWhatIsBoundOnce) {
  SyntheticLog log;
  log.append(QueueRecord{1, 100, 0, 0});
  for (const uint64_t buffer : {1, 2}) log.add_buffer(buffer);
  log.add_pipeline(1);
  log.add_set(1, 1, 2);
  log.append(BeginCommandsRecord{200, 0});
  log.append(BindSetsRecord{
      200, VK_PIPELINE_BIND_POINT_COMPUTE, 1, 0, std::vector<uint64_t>(20'000, 1), {}});
  for (int i = 0; i < 20'000; ++i) {
    log.append(BindSetsRecord{200, VK_PIPELINE_BIND_POINT_COMPUTE, 1, 7, {1}, {}});
    log.append(PushSetRecord{200, VK_PIPELINE_BIND_POINT_COMPUTE, 1, 8, {}});
    log.append(DispatchRecord{200, 1, 1, 1});
  }
  log.submit(100, 200);
  EXPECT_EQ(converted(log.bytes()).summary.dispatch_count, 20'000u);
}

// A few bytes that ask for much work: a list that writes nothing, submitted again and again, and
// regions of many rows.
TEST(ConvertHostile, EndsWhereTheProgramWouldBeTooLong) {
  Limits limits;
  limits.statement_count = 1000;
  SyntheticLog steps;
  steps.append(QueueRecord{1, 100, 0, 0});
  steps.append(BeginCommandsRecord{200, 0});
  for (int i = 0; i < 20'000; ++i) steps.append(NotUnderstoodCommandRecord{200, "x"});
  steps.append(SubmitRecord{100, 0, {{{}, std::vector<uint64_t>(100'000, 200), {}}}});
  EXPECT_EQ(converted(steps.bytes(), limits).summary.cut, "the program is as long as one may be.");

  SyntheticLog rows;
  rows.append(QueueRecord{1, 100, 0, 0});
  CreateImageRecord image;
  image.image = 2;
  image.format = VK_FORMAT_R8_UNORM;
  image.width = 2;
  image.height = 10'000;
  image.depth = image.mip_count = image.layer_count = image.is_of_swapchain = 1;
  rows.append(image);
  TransferEndFields texels;
  texels.handle = 2;
  texels.is_image = 1;
  texels.range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  texels.width = texels.depth = 1;
  texels.height = 10'000;
  rows.append(BeginCommandsRecord{200, 0});
  rows.append(TransferRecord{200, TransferUse::kClear,
                             std::vector<TransferRegionFields>(20'000, {{}, {texels}})});
  rows.submit(100, 200);
  const ConvertedLog result = converted(rows.bytes(), limits);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.summary.cut, "the program is as long as one may be.");
}

// What a dispatch touched is read for each of its executions: also of elements that it does not
// bind.
TEST(ConvertHostile, CountsTheBytesOfWhatWasMeasured) {
  Limits limits;
  limits.statement_count = 1000;
  for (const bool is_long : {false, true}) {
    SyntheticLog log;
    log.append(ExactModeRecord{1, 7});
    log.append(QueueRecord{1, 100, 0, 0});
    for (const uint64_t buffer : {1, 2}) log.add_buffer(buffer);
    log.add_pipeline(1);
    log.add_set(1, 1, 2);
    log.append(BeginCommandsRecord{200, 0});
    log.append(ExactSlotRecord{200, 1});
    log.add_dispatch(200, 1, 1);
    for (int i = 0; i < 100; ++i) {
      log.append(ExactSubmissionRecord{100, 1});
      log.submit(100, 200);
    }
    ExactAccessesRecord record{1, 1, 0, {{}}};
    record.elements[0].set = 5;
    record.elements[0].loads.resize(is_long ? 4000 : 4);
    log.append(record);
    const ConvertedLog result = converted(log.bytes(), limits);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.summary.cut, is_long ? "the program is as long as one may be." : "");
  }
}

// A message about a submission is looked for among its command buffers.
TEST(ConvertHostile, CountsWhereMessagesAreLookedFor) {
  Limits limits;
  limits.statement_count = 1000;
  for (const int message_count : {0, 100}) {
    SyntheticLog log;
    RunOptionsRecord options;
    options.is_validated = 1;
    log.append(options);
    log.append(QueueRecord{1, 100, 0, 0});
    log.append(BeginCommandsRecord{200, 0});
    log.append(SubmitRecord{100, 0, {{{}, std::vector<uint64_t>(1000, 200), {}}}});
    for (int i = 0; i < message_count; ++i) {
      log.append(ValidationMessageRecord{100, "SYNC-HAZARD-READ-AFTER-WRITE", "what it says"});
    }
    const ConvertedLog result = converted(log.bytes(), limits);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.summary.cut, message_count > 0 ? "the program is as long as one may be." : "");
  }
}

// Text counts as well as statements.
TEST(ConvertHostile, EndsWhereTheTextWouldBeTooLong) {
  SyntheticLog log;
  log.append(QueueRecord{1, 100, 0, 0});
  for (const uint64_t buffer : {1, 2}) log.add_buffer(buffer);
  log.add_pipeline(1);
  log.add_set(1, 1, 2);
  log.append(BeginCommandsRecord{200, 0});
  for (int i = 0; i < 200; ++i) log.add_dispatch(200, 1, 1);
  log.submit(100, 200);
  EXPECT_EQ(converted(log.bytes()).summary.cut, "");
  Limits limits;
  limits.input_bytes = 5000;
  const ConvertedLog result = converted(log.bytes(), limits);
  EXPECT_EQ(result.summary.cut, "the program is as long as one may be.");
  EXPECT_LT(result.text.size(), 6000u);
}

// Barriers of as many rows as a program may have, and more.
TEST(ConvertHostile, WritesNoMoreRowsThanAProgramMayHave) {
  SyntheticLog log;
  log.append(QueueRecord{1, 100, 0, 0});
  CreateImageRecord image;
  image.image = 2;
  image.format = VK_FORMAT_R8_UNORM;
  image.width = image.height = 2;
  image.depth = image.is_of_swapchain = 1;
  image.mip_count = 2;
  image.layer_count = 1u << 16;
  log.append(image);
  log.append(BeginCommandsRecord{200, 0});
  DependencyFields fields;
  fields.object = DependencyObject::kImage;
  fields.handle = 2;
  fields.source_stages = fields.destination_stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
  fields.range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1u << 16};
  for (int i = 0; i < 20; ++i) log.append(BarrierRecord{200, {fields}});
  log.submit(100, 200);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.summary.not_understood.at("a barrier with more operands than one may have"), 4u);
}

}  // namespace
}  // namespace interlock::convert_hostile_test
