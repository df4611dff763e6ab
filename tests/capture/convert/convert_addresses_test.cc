// Dispatches that find their buffers by address: what of them is known, and what is bounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_addresses_test {
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
constexpr uint64_t kPipeline = 5;
constexpr uint64_t kFirstAddress = 0x10'0000;  // Of buffer n: n times as much.
constexpr uint64_t kCompute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
constexpr const char* kAnyAddress =
    "a dispatch or draw by addresses that are in no push constant (it may touch every buffer whose "
    "address was asked for)";

// Stores to the word that the address at 8 of the push constants names what the one at 0 does; and,
// where `is_table`, to the word whose address stands there.
std::vector<uint32_t> address_shader(bool is_table) {
  return shader_of(R"(
    OpCapability Shader
    OpCapability PhysicalStorageBufferAddresses
    OpExtension "SPV_KHR_physical_storage_buffer"
    OpMemoryModel PhysicalStorageBuffer64 GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    OpMemberDecorate %push 0 Offset 0
    OpMemberDecorate %push 1 Offset 8)",
                   std::string(R"(
    %one = OpConstant %uint 1
    %word = OpTypePointer PhysicalStorageBuffer %uint
    %entry = OpTypePointer PhysicalStorageBuffer %word
    %pointers = OpTypePointer PushConstant %word
    %push = OpTypeStruct %word %)") +
                       (is_table ? "entry" : "word") + R"(
    %ptr_push = OpTypePointer PushConstant %push
    %ptr_to = OpTypePointer PushConstant %)" +
                       (is_table ? "entry" : "word") + R"(
    %pushed = OpVariable %ptr_push PushConstant
    %main = OpFunction %void None %fn
    %start = OpLabel
    %at_from = OpAccessChain %pointers %pushed %zero
    %at_to = OpAccessChain %ptr_to %pushed %one
    %from = OpLoad %word %at_from
    %given = OpLoad %)" +
                       (is_table ? "entry" : "word") +
                       R"( %at_to
    %to = )" + (is_table ? "OpLoad %word %given Aligned 8" : "OpCopyObject %word %given") +
                       R"(
    %x = OpLoad %uint %from Aligned 4
    OpStore %to %x Aligned 4
    OpReturn
    OpFunctionEnd)");
}

// Buffers 1 to 3, of which the first two have addresses, and a pipeline of that shader.
SyntheticLog log_with_addresses(bool is_table = false) {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  for (const uint64_t buffer : {1, 2, 3}) log.add_buffer(buffer);
  for (const uint64_t buffer : {1, 2})
    log.append(BufferAddressRecord{buffer, buffer * kFirstAddress});
  log.append(CreatePipelineLayoutRecord{kPipeline, {}});
  log.append(
      CreateComputePipelineRecord{kPipeline, kPipeline, 0, address_shader(is_table), "main"});
  log.append(BeginCommandsRecord{kCommands, 0});
  return log;
}

void push(SyntheticLog& log, uint32_t offset_bytes, uint64_t address) {
  PushConstantsRecord record{kCommands, VK_SHADER_STAGE_COMPUTE_BIT, offset_bytes, {}};
  for (int i = 0; i < 8; ++i) record.bytes.push_back(static_cast<uint8_t>(address >> (8 * i)));
  log.append(record);
}

void dispatch(SyntheticLog& log, uint64_t from, uint64_t to) {
  log.append(BindPipelineRecord{kCommands, VK_PIPELINE_BIND_POINT_COMPUTE, kPipeline});
  push(log, 0, from);
  push(log, 8, to);
  log.append(DispatchRecord{kCommands, 1, 1, 1});
}

TEST(ConvertAddresses, BoundAnAccessFromThereToTheEndOfItsBuffer) {
  SyntheticLog log = log_with_addresses();
  dispatch(log, kFirstAddress + 256, 2 * kFirstAddress + 1020);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text,
              HasSubstr("reads m1[256:1024] writes m2[1020:1024] partial approximate"));
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_THAT(result.summary.remarks, IsEmpty());
}

TEST(ConvertAddresses, FindWhatABarrierRepairs) {
  for (const bool is_ordered : {false, true}) {
    SyntheticLog log = log_with_addresses();
    log.append(BufferAddressRecord{3, 3 * kFirstAddress});
    dispatch(log, kFirstAddress, 2 * kFirstAddress);
    if (is_ordered) {
      log.add_barrier(kCommands, kCompute, VK_ACCESS_2_SHADER_WRITE_BIT, kCompute,
                      VK_ACCESS_2_SHADER_READ_BIT);
    }
    dispatch(log, 2 * kFirstAddress, 3 * kFirstAddress);
    log.submit(kQueue, kCommands);
    const std::vector<std::string> findings = findings_of(converted(log.bytes()).text);
    EXPECT_EQ(findings.size(), is_ordered ? 0u : 1u);
  }
}

TEST(ConvertAddresses, MeanEveryBufferThatHasOneWhereTheyAreNotKnown) {
  SyntheticLog log = log_with_addresses(true);
  dispatch(log, kFirstAddress, 2 * kFirstAddress);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  // Never the third one, whose address nobody has.
  EXPECT_THAT(result.text, HasSubstr("updates m1[0:1024] m2[0:1024] partial approximate"));
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_THAT(result.summary.remarks, ElementsAre(Pair(kAnyAddress, 1)));
}

TEST(ConvertAddresses, AreNotKnownWhereNothingOrAnotherNumberWasPushed) {
  for (const bool is_pushed : {false, true}) {
    SyntheticLog log = log_with_addresses();
    log.append(BindPipelineRecord{kCommands, VK_PIPELINE_BIND_POINT_COMPUTE, kPipeline});
    push(log, 0, kFirstAddress);
    // Behind the end of buffer 2.
    if (is_pushed) push(log, 8, 2 * kFirstAddress + 1024);
    log.append(DispatchRecord{kCommands, 1, 1, 1});
    log.submit(kQueue, kCommands);
    const ConvertedLog result = converted(log.bytes());
    EXPECT_THAT(result.text, HasSubstr("writes m2[0:1024] updates m1[0:1024]"));
    EXPECT_THAT(result.summary.remarks, ElementsAre(Pair(kAnyAddress, 1)));
  }
  // Nothing is touched through a null pointer.
  SyntheticLog log = log_with_addresses();
  dispatch(log, kFirstAddress, 0);
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).text, Not(HasSubstr("writes")));
}

// The handle and the address of a buffer that was destroyed are those of another one.
TEST(ConvertAddresses, AreOfTheBufferThatIsThereWhenItIsSubmitted) {
  SyntheticLog log = log_with_addresses();
  log.append(DestroyRecord{VK_OBJECT_TYPE_BUFFER, 2});
  log.append(DestroyRecord{VK_OBJECT_TYPE_DEVICE_MEMORY, 2});
  log.add_buffer(2);
  log.append(BufferAddressRecord{2, 2 * kFirstAddress});
  dispatch(log, kFirstAddress, 2 * kFirstAddress);
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).text, HasSubstr("reads m1[0:1024] writes m4[0:1024]"));
}

TEST(ConvertAddresses, AreNamedWhereNobodyAskedForOne) {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.append(CreatePipelineLayoutRecord{kPipeline, {}});
  log.append(CreateComputePipelineRecord{kPipeline, kPipeline, 0, address_shader(false), "main"});
  log.append(BeginCommandsRecord{kCommands, 0});
  dispatch(log, kFirstAddress, 2 * kFirstAddress);
  log.append(BufferAddressRecord{77, 77 * kFirstAddress});
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).summary.not_understood,
              testing::UnorderedElementsAre(Key("an address of a buffer that was never asked for"),
                                            Key("an address of a buffer that is not known")));
}

// A log may push anything anywhere, and give any buffer any address.
TEST(ConvertAddresses, TakeWhatAHostileLogSays) {
  SyntheticLog log = log_with_addresses();
  log.append(BufferAddressRecord{1, UINT64_MAX - 1});
  log.append(BufferAddressRecord{3, UINT64_MAX});
  log.append(PushConstantsRecord{kCommands, UINT32_MAX, UINT32_MAX, {1, 2, 3}});
  log.append(PushConstantsRecord{kCommands, UINT32_MAX, 4095, {1, 2, 3}});
  dispatch(log, UINT64_MAX, 2 * kFirstAddress);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text, HasSubstr("reads m1[1:1024] m3[0:1024] writes m2[0:1024]"));
}

}  // namespace
}  // namespace interlock::convert_addresses_test
